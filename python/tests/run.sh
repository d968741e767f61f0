#!/usr/bin/env bash
# One file of Python tests under the interpreter that YOLOAD_PYTHON names (./dev test sets it).
# usage: run.sh LIBRARY FILE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${YOLOAD_PYTHON:-python3}
if [ -z "${YOLOAD_PYTHON:-}" ] && ! "$python" -c 'import numpy, pytest' 2>/dev/null; then
  echo "skipped: python3 has no numpy and pytest; ./dev test makes an environment that has"
  exit 77
fi
export YOLOAD_LIBRARY=$1 PYTHONPATH="$here/.." PYTHONDONTWRITEBYTECODE=1
# Training in tests: settings of their own, no downloads, and one thread: two on a busy machine are slower.
settings=$(mktemp -d)
trap 'rm -rf "$settings"' EXIT
export YOLO_CONFIG_DIR=$settings YOLO_OFFLINE=1 YOLO_AUTOINSTALL=false OMP_NUM_THREADS=1
cd "$here"
status=0
"$python" -m pytest -c "$here/../../pyproject.toml" --rootdir "$here" -ra "$here/$2" || status=$?
[ "$status" != 5 ] || status=77  # nothing to run here: pytest said why
exit "$status"
