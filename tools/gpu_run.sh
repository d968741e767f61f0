#!/usr/bin/env bash
# Carries what is built here to a machine with a GPU and without a network, and runs GPU tests and
# benchmarks there.
#
#   tools/gpu_run.sh pack DIR [DATA]      programs, their libraries, the Python package, scripts (and the data set
#                                         DATA, a folder with images/ and labels/) into DIR
#   tools/gpu_run.sh tests DIR            there: every GPU test program
#   tools/gpu_run.sh sanitize DIR         there: the same under compute-sanitizer, one tool after the other
#   tools/gpu_run.sh bench DIR OUT        there: decoding, kernels and loader against peers, JSON into OUT
#   tools/gpu_run.sh host HOST DIR WHAT   pack, copy by ssh, run WHAT (tests, sanitize, bench) there
#
# Every program has a time limit; one that fails or hangs leaves the others alone and makes the script fail at its
# end, which is one line a program.
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

# The last line of every program, and whether one of them failed.
lines=() failed=0

# limited SECONDS NAME COMMAND...: notes how it ended. A failure or a hang does not stop what comes after.
limited() {
  local seconds=$1 name=$2 code=0
  shift 2
  timeout --kill-after=10 "$seconds" "$@" || code=$?
  case $code in
    0) lines+=("passed $name") ;;
    124 | 137) lines+=("HUNG   $name, $seconds s") failed=1 ;;
    *) lines+=("FAILED $name, code $code") failed=1 ;;
  esac
}

summary() {
  printf '%s\n' "${lines[@]}"
  return $failed
}

tests() {
  enter "$1"
  local program
  for program in bin/*_gpu_test; do
    limited 300 "$(basename "$program")" "$program" --gtest_brief=1
  done
  summary
}

sanitize() {
  enter "$1"
  local program tool log
  for tool in memcheck racecheck synccheck initcheck; do
    for program in bin/*_gpu_test; do
      # nvJPEG's own kernels read what they never wrote; initcheck is for ours.
      [ $tool = initcheck ] && [ "$(basename "$program")" != augment_gpu_test ] && continue
      log=$(mktemp)
      YOLOAD_QUICK=1 limited 900 "$tool $(basename "$program")" \
        compute-sanitizer --tool $tool --error-exitcode 9 "$program" --gtest_brief=1 >"$log" 2>&1
      case ${lines[-1]} in passed*) ;; *) tail -40 "$log" ;; esac
      rm -f "$log"
    done
  done
  summary
}

bench() {
  local out sets
  out=$(mkdir -p "$2" && cd "$2" && pwd)
  enter "$1"
  sets=$(mktemp -d)
  limited 120 run_cuda_bench bin/run_cuda_bench >"$out/gpu_kernels.json"
  limited 300 engine_decode_bench bin/engine_decode_bench data/images --batch 64,256 --skip helpers \
    >"$out/gpu_decode.json"
  cat "$out"/gpu_kernels.json "$out"/gpu_decode.json
  limited 300 make_sets.py python3 bench/make_sets.py data "$sets"
  limited 1800 loader_rate.py python3 bench/loader_rate.py "$sets" --yoload bin/yoload --out "$out/gpu_loader.json"
  rm -rf "$sets"
  summary
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
  *) sed -n '2,18p' "$0" && exit 2 ;;
esac
