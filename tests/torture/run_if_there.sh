#!/usr/bin/env bash
# Runs a torture program over its set, or says which folder is missing and skips.
# usage: run_if_there.sh PROGRAM SET
set -u
root=${YOLOAD_SHARED_DATA:-$(cd "$(dirname "$0")/../../.." && pwd)/shared/data}
if [ ! -f "$root/$2/MANIFEST.tsv" ]; then
  echo "skipped: there is no $root/$2"
  exit 77
fi
exec "$1" "$root/$2"
