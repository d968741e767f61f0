#!/usr/bin/env bash
# Draws a small set with the program and runs the C test over it. usage: capi_test.sh YOLOAD CAPI_TEST
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
"$1" demo --only-data "$here/boards" --count 40 --width 200 --height 160 >/dev/null 2>&1
exec_status=0
"$2" "$here/boards/data.yaml" "$here/cache" || exec_status=$?
exit "$exec_status"
