# SPDX-License-Identifier: BSD-3-Clause
# For ./check: tests whose outcome does not hang on what else the machine did meanwhile.
# shellcheck shell=bash

# The tests that passed only when run again.
unsteady=()

# omx_tests BUILD CTEST-OPTION...: runs the chosen tests of that build. Those that failed run once more, one at a time and with
# nothing beside them; who passes then is in `unsteady`, and who does not fails the step. What a sanitizer reported is a
# finding however rarely it comes: it is not asked a second time.
omx_tests() {
  local build=$1 log=$1/Testing/Temporary failed
  shift
  # Of an earlier run, which --rerun-failed would take for this one's.
  rm -f "$log"/LastTestsFailed*.log
  if ctest --test-dir "$build" --output-on-failure --no-tests=error "$@"; then return; fi
  [ -s "$log/LastTestsFailed.log" ] || return 1  # it was not the tests
  failed=$(sed 's/^[0-9]*://' "$log/LastTestsFailed.log" | sort | tr '\n' ' ')
  if grep -Eq 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: ' "$log/LastTest.log"; then
    echo "A sanitizer reported: not run again"
    return 1
  fi
  printf '\n-- once more, alone: %s\n' "$failed"
  ctest --test-dir "$build" --output-on-failure --rerun-failed -j 1 || return 1
  # shellcheck disable=SC2206  # names, split on purpose
  unsteady+=($failed)
}
