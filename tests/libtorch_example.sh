#!/usr/bin/env bash
# Builds examples/libtorch against the torch of the Python that YOLOAD_PYTHON names, and trains with
# it on a small data set. Skipped where there is no such torch.
# usage: libtorch_example.sh PATH/TO/yoload BUILD_DIR
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
yoload=$1
build=$2
source=$(cd "$(dirname "$0")/.." && pwd)

skip() { echo "skipped: $1"; exit 77; }

[ -n "${YOLOAD_PYTHON:-}" ] || skip "YOLOAD_PYTHON names no Python that has torch"
# Asking where the package lies, not importing it: that alone would take seconds.
torch=$("$YOLOAD_PYTHON" -c '
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec else "")')
[ -n "$torch" ] || skip "$YOLOAD_PYTHON has no torch"
[ -f "$torch/include/torch/csrc/api/include/torch/torch.h" ] || skip "$torch has no C++ headers"

# A build folder of its own, kept between runs: the caller's stays as it is, and may have sanitizers.
cmake -G Ninja -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DYOLOAD_TESTS=OFF \
  -DYOLOAD_TORCH_DIR="$torch" >/dev/null
cmake --build "$build" --target example_train_detector

here=$(mktemp -d "${TMPDIR:-/tmp}/yoload-libtorch.XXXXXX")
trap 'rm -rf "$here"' EXIT
export XDG_CACHE_HOME=$here/cache
# On a machine that also runs other tests, two OpenMP threads that wait for each other take ten times
# as long as one.
export OMP_NUM_THREADS=1
data=$("$yoload" demo --only-data "$here/boards" --count 12 --width 320 --height 256)
"$build/examples/libtorch/example_train_detector" "$data" 30 256 4
