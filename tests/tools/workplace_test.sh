#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the temporary folders of tests/clean_demo and tests/bare_build (tools/setup/workplace.sh): their
# contents and their removal.
set -uo pipefail
setup=$(realpath "$(dirname "$(realpath "$0")")/../../tools/setup")
# shellcheck source=tools/setup/workplace.sh
. "$setup/workplace.sh"
test=$(mktemp -d)
trap 'rm -rf "$test"' EXIT
failures=0

wrong() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# ends SIGNAL ACTION: ends a script by the signal while a program runs in its workplace. The program does
# ACTION on SIGTERM. Both the folder and the program must go.
ends() {
  rm -f "$test/place" "$test/pid"
  # shellcheck disable=SC2016  # for the inner shell
  TMPDIR=$test bash -euc '
    . "$1/workplace.sh"
    omx_workplace test
    echo "$work" >"$2/place"
    omx_workplace_run sh -c "echo \$\$ >$2/pid; trap $3 TERM; while :; do sleep 1; done"' sh "$setup" "$test" "$2" &
  local script=$! place
  for _ in $(seq 600); do
    if [ -s "$test/pid" ]; then break; fi
    sleep 0.1
  done
  place=$(cat "$test/place")
  [ -d "$place" ] || wrong "$1: there is no folder"
  kill "-$1" $script
  wait $script 2>/dev/null
  for _ in $(seq 600); do
    if [ ! -e "$place" ] && ! kill -0 "$(cat "$test/pid")" 2>/dev/null; then return; fi
    sleep 0.1
  done
  wrong "$1: something is left"
  kill -KILL "$(cat "$test/pid")" 2>/dev/null
}

ends KILL :
ends KILL exit
ends TERM :
ends TERM exit

status=0
(TMPDIR=$test && omx_workplace test && omx_workplace_run sh -c 'exit 3') || status=$?
[ $status = 3 ] || wrong "the status of what runs is lost: $status"

# A fresh clone has files that are changed or added, and none that git does not know or that are deleted.
holds() {  # WHAT SOURCE FILES
  rm -rf "$test/copy"
  omx_sources "$2" "$test/copy"
  local found
  found=$(cd "$test/copy" && find . -type f | sort | tr '\n' ' ')
  [ "$found" = "$3" ] || wrong "$1: $found"
}
mkdir -p "$test/source/build"
cd "$test/source" || exit 1
touch build/made kept gone "with space"
holds "without git" . "./gone ./kept ./with space "
if command -v git >/dev/null; then
  git init -q && git add kept gone "with space" && rm gone
  touch unknown
  echo changed >kept
  holds "with git" "$test/source" "./kept ./with space "
  grep -q changed "$test/copy/kept" || wrong "a change is not there"
fi

[ $failures = 0 ] && echo "all checks passed"
