# SPDX-License-Identifier: BSD-3-Clause
# Sourced by ./check: runs tests so that their outcome does not depend on the load of the machine.
# shellcheck shell=bash

# Names of the tests that passed only in the second run.
unsteady=()

# omx_tests BUILD CTEST-OPTION...: runs the chosen tests of that build. Failed tests run once more, alone and
# one at a time. Tests that pass then are added to `unsteady`; if any fails again, the step fails. A sanitizer
# report counts as a failure at once, because it is a finding however rare it is.
omx_tests() {
  local build=$1 log=$1/Testing/Temporary failed
  shift
  # A list from an earlier run would be taken for one of this run by --rerun-failed.
  rm -f "$log"/LastTestsFailed*.log
  if ctest --test-dir "$build" --output-on-failure --no-tests=error "$@"; then return; fi
  [ -s "$log/LastTestsFailed.log" ] || return 1  # ctest itself failed
  failed=$(sed 's/^[0-9]*://' "$log/LastTestsFailed.log" | sort | tr '\n' ' ')
  if grep -Eq 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: ' "$log/LastTest.log"; then
    echo "A sanitizer reported an error: not run again"
    return 1
  fi
  printf '\n-- once more, alone: %s\n' "$failed"
  ctest --test-dir "$build" --output-on-failure --rerun-failed -j 1 || return 1
  # shellcheck disable=SC2206  # names, split on purpose
  unsteady+=($failed)
}
