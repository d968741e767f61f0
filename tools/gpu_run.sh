#!/usr/bin/env bash
# Carries what is built here to a machine with a GPU and without a network, and runs GPU tests and
# benchmarks there.
#
#   tools/gpu_run.sh pack DIR [DATA]      programs, their libraries, the Python package, scripts (and the data set
#                                         DATA, a folder with images/ and labels/) into DIR
#   tools/gpu_run.sh tests DIR            there: every GPU test program; ends with one line a program
#   tools/gpu_run.sh sanitize DIR         there: the same under compute-sanitizer, one tool after the other
#   tools/gpu_run.sh bench DIR OUT        there: the benchmarks of docs/gpu.md, JSON into OUT
#   tools/gpu_run.sh host HOST DIR WHAT   pack, copy by ssh, run WHAT (tests, sanitize, bench) there
#
# That machine needs the driver, bash and, for the benchmarks, Python 3 with torch and Pillow. C and C++ runtimes
# are its own and must not be older than here; nvJPEG is found as docs/gpu.md says.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
BUILD=${YOLOAD_BUILD:-build/release}

pack() {
  local to=$1 data=${2:-} root
  root=$(cd "$(dirname "$0")/.." && pwd)
  rm -rf "$to" && mkdir -p "$to/bin" "$to/lib" "$to/bench"
  local program
  for program in "$root/$BUILD"/*_gpu_test "$root/$BUILD/yoload" "$root/$BUILD"/*cuda_bench \
    "$root/$BUILD"/engine_decode_bench; do
    [ -x "$program" ] && cp "$program" "$to/bin/" && strip "$to/bin/$(basename "$program")"
  done
  cp -L "$root/$BUILD/libyoload.so" "$to/lib/libyoload.so.1" && strip "$to/lib/libyoload.so.1"
  # Every shared library but those that belong to the system's C and C++ runtime.
  ldd "$to"/bin/* "$to"/lib/libyoload.so.1 | awk '$2 == "=>" {print $3}' | sort -u |
    grep -v -E '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux.*)\.so' |
    while read -r library; do cp -L "$library" "$to/lib/"; done
  cp -r "$root/python/yoload" "$to/yoload"
  mkdir -p "$to/tests" && cp "$root"/python/tests/*.py "$to/tests/"
  cp "$root"/bench/gpu/*.py "$to/bench/"
  cp "$root/tools/gpu_run.sh" "$to/"
  find "$to" -name __pycache__ -prune -exec rm -rf {} +
  [ -z "$data" ] || cp -r "$data" "$to/data"
  du -sh "$to" >&2
}

# A folder's programs find their libraries beside them.
enter() {
  cd "$1"
  export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" YOLOAD_LIBRARY="$PWD/lib/libyoload.so.1"
  export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" YOLOAD_GPU=1
  [ ! -d data ] || export YOLOAD_DATA="$PWD/data"
}

tests() {
  enter "$1"
  local failed=0 program
  local -a lines=()
  for program in bin/*_gpu_test; do
    if "$program" --gtest_brief=1; then
      lines+=("passed $(basename "$program")")
    else
      lines+=("FAILED $(basename "$program")") failed=1
    fi
  done
  printf '%s\n' "${lines[@]}"
  return $failed
}

sanitize() {
  enter "$1"
  local failed=0 program tool
  local -a lines=()
  for tool in memcheck racecheck synccheck initcheck; do
    for program in bin/*_gpu_test; do
      # nvJPEG's own kernels read what they never wrote; initcheck is for ours.
      [ $tool = initcheck ] && [ "$(basename "$program")" != augment_gpu_test ] && continue
      if YOLOAD_QUICK=1 compute-sanitizer --tool $tool --error-exitcode 9 "$program" --gtest_brief=1 \
        >"/tmp/$tool.log" 2>&1; then
        lines+=("clean  $tool $(basename "$program")")
      else
        tail -40 "/tmp/$tool.log"
        lines+=("FOUND  $tool $(basename "$program")") failed=1
      fi
    done
  done
  printf '%s\n' "${lines[@]}"
  return $failed
}

bench() {
  local out
  out=$(mkdir -p "$2" && cd "$2" && pwd)
  enter "$1"
  bin/run_cuda_bench | tee "$out/gpu_kernels.json"
  bin/engine_decode_bench data/images 64 256 | tee "$out/gpu_decode.json"
  python3 bench/make_sets.py data /tmp/yoload_sets
  python3 bench/loader_rate.py /tmp/yoload_sets --yoload bin/yoload --out "$out/gpu_loader.json"
}

case ${1:-} in
  pack) pack "$2" "${3:-}" ;;
  tests) tests "$2" ;;
  sanitize) sanitize "$2" ;;
  bench) bench "$2" "$3" ;;
  host)
    pack "$3"
    ssh "$2" mkdir -p yoload_gpu && scp -qr "$3"/. "$2:yoload_gpu/"
    # shellcheck disable=SC2029
    ssh "$2" "yoload_gpu/gpu_run.sh $4 yoload_gpu yoload_gpu/out"
    ;;
  *) sed -n '2,15p' "$0" && exit 2 ;;
esac
