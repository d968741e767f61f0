#!/usr/bin/env bash
# Runs a GPU test program. Without a GPU it is skipped (exit 77), unless YOLOAD_GPU=1 claims that there is
# one: then its absence is a failure.
set -euo pipefail
if [[ ${YOLOAD_GPU:-0} != 1 && ! -e /dev/nvidia0 && ! -e /dev/dxg ]]; then
  echo "skipped: no GPU here (YOLOAD_GPU=1 makes this a failure)"
  exit 77
fi
exec "$@"
