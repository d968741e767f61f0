#!/usr/bin/env bash
# Drives the yoload program: help, exit codes, JSON, untouched data, digests that depend on nothing but
# the data and the seed. Usage: cli_program_test.sh PATH/TO/yoload
# SPDX-License-Identifier: Apache-2.0
set -u
yoload=$1
here=$(mktemp -d "${TMPDIR:-/tmp}/yoload-cli.XXXXXX")
trap 'rm -rf "$here"' EXIT
export XDG_CACHE_HOME=$here/cache
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
# expect CODE COMMAND...: the exit code, with the output kept in $here/out and $here/err.
expect() {
  local wanted=$1
  shift
  "$@" >"$here/out" 2>"$here/err"
  local got=$?
  if [ "$got" != "$wanted" ]; then
    fail "exit $got instead of $wanted: $*"
    tail -5 "$here/err"
  fi
}
expect_text() { grep -q -- "$2" "$here/$1" || fail "no '$2' in std$1 of the last command: $(head -3 "$here/$1")"; }
expect_json() { python3 -m json.tool <"$here/out" >/dev/null || fail "no valid JSON: $*"; }
hash_tree() { (cd "$1" && find . -type f -printf '%p %s %T@\n' -exec sha256sum {} + | sort | sha256sum); }

echo "help and version"
expect 0 "$yoload" --help
for command in demo check preview bench digest explain replay; do
  expect_text out "$command"
done
expect 0 "$yoload" --version
expect_text out "commit"
expect_text out "simd"
for command in demo check preview bench digest explain replay; do
  expect 0 "$yoload" "$command" --help
  expect_text out "--json"
done

echo "what cannot run says why and exits with 2"
expect 2 "$yoload"
expect 2 "$yoload" no-such-command
for command in check preview bench digest explain replay; do
  expect 2 "$yoload" "$command"
  expect 2 "$yoload" "$command" "$here/missing.yaml"
  expect_text err "missing.yaml"
done
expect 2 "$yoload" bench "$here/missing.yaml" --memory-budget 12XB
expect_text err "12XB"
expect 2 "$yoload" bench "$here/missing.yaml" --imgsz 5
expect 2 "$yoload" bench "$here/missing.yaml" --cache everything

echo "the drawn data set"
expect 0 "$yoload" demo --only-data "$here/boards" --count 40 --width 320 --height 240
data=$here/boards/data.yaml
mkdir "$here/user" && echo precious >"$here/user/thesis.txt"
expect 2 "$yoload" demo --only-data "$here/user" --count 1
expect_text err "$here/user"
small=("$data" --imgsz 128 --batch 8 --threads 2)
before=$(hash_tree "$here/boards")

echo "every command runs, speaks JSON and leaves the data set alone"
expect 0 "$yoload" check "$data"
expect 0 "$yoload" check "$data" --json
expect_json check
expect 0 "$yoload" preview "${small[@]}" -o "$here/grid.png" --count 5
[ "$(head -c 4 "$here/grid.png" | tail -c 3)" = PNG ] || fail "grid.png is no PNG"
expect 0 "$yoload" preview "${small[@]}" -o "$here/grid.png" --count 5 --json
expect_json preview
expect 2 "$yoload" preview "${small[@]}" -o "$here/no/such/folder/grid.png"
expect_text err "no/such/folder"
expect 0 "$yoload" bench "${small[@]}" --epochs 1 --warmup 1
expect 0 "$yoload" bench "${small[@]}" --epochs 1 --step-ms 2 --json
expect_json bench
for key in images_per_s decodes_per_image cpu_s_per_image peak_rss_bytes index_bytes threads stages verdict machine commit; do
  expect_text out "\"$key\""
done
expect 0 "$yoload" digest "${small[@]}" --epochs 2 --each-batch
digest_of_batch=$(awk '$2 == 1 && $4 == 3 { print $5 }' "$here/out")
[ -n "$digest_of_batch" ] || fail "digest --each-batch names no batch 3 of epoch 1"
expect 0 "$yoload" replay "${small[@]}" --epoch 1 --index 3 -o "$here/batch.png"
expect_text out "digest $digest_of_batch"
expect 0 "$yoload" replay "${small[@]}" --epoch 1 --index 3 -o "$here/batch.png" --json
expect_json replay
expect 2 "$yoload" replay "${small[@]}" --index 1000 -o "$here/batch.png"
expect_text err "0 to"
expect 0 "$yoload" explain "${small[@]}" --epoch 3 --index 7 -o "$here/sample.png"
expect 0 "$yoload" explain "${small[@]}" --epoch 3 --index 7 -o "$here/sample.png" --json
expect_json explain
expect 2 "$yoload" explain "${small[@]}" --index 1000 -o "$here/sample.png"
expect 0 "$yoload" explain "${small[@]}" --draws 500
[ "$(grep -c '^{"draws":{"epoch":' "$here/out")" = 500 ] || fail "explain --draws does not print a line a sample"
expect 0 "$yoload" digest "${small[@]}" --json
expect_json digest
expect 0 "$yoload" demo "$data" --out "$here/demo" --imgsz 128 --epochs 1 --step-ms 1
expect_text out "written"
expect 0 "$yoload" demo "$data" --out "$here/demo" --imgsz 128 --epochs 1 --step-ms 1 --json
expect_json demo
[ "$(hash_tree "$here/boards")" = "$before" ] || fail "a command changed the data set"

echo "problems found is exit code 1"
cp -r "$here/boards" "$here/broken"
echo "99 0.5 0.5 0.1 0.1" >>"$here/broken/labels/train/board_00003.txt"
expect 1 "$yoload" check "$here/broken/data.yaml" --fix-list "$here/fix.tsv"
grep -q board_00003 "$here/fix.tsv" || fail "the fix list does not name the file"
expect 1 "$yoload" check "$here/broken/data.yaml" --json
expect_json check

echo "the digest depends on data and seed only"
expect 0 "$yoload" digest "${small[@]}" --epochs 2
digest=$(cat "$here/out")
[[ $digest =~ ^[0-9a-f]{16}$ ]] || fail "'$digest' is no digest"
same() {
  expect 0 "$yoload" digest "$data" --imgsz 128 --batch 8 --epochs 2 "$@"
  [ "$(cat "$here/out")" = "$digest" ] || fail "digest $(cat "$here/out") instead of $digest with: $*"
}
for threads in 1 2 3 7; do same --threads "$threads"; done
for simd in avx3 avx2 sse4 scalar ref; do
  # A target that this machine lacks is refused, never silently replaced.
  if "$yoload" digest "${small[@]}" --epochs 1 --simd "$simd" >"$here/out" 2>&1; then
    same --simd "$simd"
  else
    echo "  $simd: not on this machine"
  fi
done
same --memory-budget 256MB
same --memory-budget 4GB
for cache in none bytes pixels; do same --cache "$cache"; done
same --prefetch 1
same --prefetch 9
expect 0 "$yoload" digest "${small[@]}" --epochs 2 --seed 1
[ "$(cat "$here/out")" != "$digest" ] || fail "another seed gives the same digest"

if [ "$failures" != 0 ]; then
  echo "$failures failures"
  exit 1
fi
echo "all passed"
