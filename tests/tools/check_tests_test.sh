#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# check_tests_test.sh CTEST: tests how ./check runs tests (tools/setup/tests.sh), with a real ctest and tests
# that fail on demand.
set -uo pipefail
# shellcheck source=tools/setup/tests.sh
. "$(dirname "$(realpath "$0")")/../../tools/setup/tests.sh"
PATH=$(dirname "$1"):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# A test that fails a given number of times with a message, and then passes.
cat >"$work/fails" <<'END'
#!/bin/sh
n=$(cat "$1.count" 2>/dev/null || echo 0)
echo $((n + 1)) >"$1.count"
[ "$n" -ge "$2" ] && exit 0
echo "$3"
exit 1
END
chmod +x "$work/fails"

# tells STATUS UNSTEADY RUNS "NAME TIMES SAYING"...: checks the step's status, the unsteady tests, and how
# often each test ran.
tells() {
  local status=$1 wanted=$2 runs=$3 got=0 name times saying ran=
  shift 3
  rm -f "$work"/*.count
  : >"$work/CTestTestfile.cmake"
  for test in "$@"; do
    read -r name times saying <<<"$test"
    echo "add_test($name \"$work/fails\" \"$work/$name\" \"$times\" \"$saying\")" >>"$work/CTestTestfile.cmake"
  done
  unsteady=()
  omx_tests "$work" -j 2 -LE long >"$work/said" 2>&1 || got=$?
  for test in "$@"; do ran+="$(cat "$work/${test%% *}.count" 2>/dev/null || echo 0) "; done
  if [ "$got" = "$status" ] && [ "${unsteady[*]}" = "$wanted" ] && [ "${ran% }" = "$runs" ]; then return; fi
  failures=$((failures + 1))
  printf 'FAILED: wanted status %s, unsteady "%s", runs %s; got %s, "%s", %s:\n' "$status" "$wanted" "$runs" "$got" "${unsteady[*]}" "$ran"
  cat "$work/said"
}

tells 0 "" "1 1" "good 0" "better 0"
tells 0 "once other" "1 2 2" "good 0" "other 1" "once 1"
tells 1 "" "1 2 2" "good 0" "once 1" "twice 2"
# A step without tests is no success, whatever failed in the run before.
tells 1 ""  ""
for report in "==7==ERROR: AddressSanitizer: heap-use-after-free" "WARNING: ThreadSanitizer: data race" "a.cc:7:1: runtime error: overflow"; do
  tells 1 "" "1 1" "good 0" "raced 1 $report"
done
[ "$failures" = 0 ]
