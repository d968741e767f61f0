#!/usr/bin/env bash
# Writes docs/cli.md from the program's own help texts.
# Usage: tools/gen_cli_docs.sh [--check] [PATH/TO/yoload]    --check: only say whether it is current
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
check=0
if [ "${1:-}" = --check ]; then
  check=1
  shift
fi
yoload=${1:-build/release/yoload}
page=docs/cli.md

write_page() {
  echo "# The command line"
  echo
  echo "Written by tools/gen_cli_docs.sh from the program's help: change it there."
  echo
  echo "Results go to stdout, progress to stderr. Exit codes: 0 fine, 1 problems found in the data, 2 could not run."
  for command in "" demo check preview bench digest explain replay; do
    echo
    echo "## yoload${command:+ $command}"
    echo
    echo '```text'
    # shellcheck disable=SC2086  # no command, no argument
    "$yoload" $command --help | sed -e 's/[[:space:]]*$//' | cat -s
    echo '```'
  done
}

if [ "$check" = 1 ]; then
  if ! diff -u "$page" <(write_page); then
    echo "$page is not current: run tools/gen_cli_docs.sh" >&2
    exit 1
  fi
else
  mkdir -p docs
  write_page >"$page.new"
  mv "$page.new" "$page"
fi
