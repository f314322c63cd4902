#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage_test.sh: every script with omx_usage prints its first comment for --help and ends well. Those that refuse unknown options
# name the option, and end with status 2.
set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
failures=0 scripts=0

complain() {
  echo "$*" >&2
  failures=$((failures + 1))
}

for script in $(grep -lrI 'omx_usage' check demo packaging tests tools --exclude=usage.sh --exclude=usage_test.sh); do
  scripts=$((scripts + 1))
  help=$("./$script" --help 2>&1) || complain "$script --help: status $?"
  grep -qF "$(sed -n '3s/^# //p' "$script")" <<<"$help" || complain "$script --help prints: $help"
  [ "$script" != tests/reproducible ] && [ "$script" != packaging/rpm ] || continue  # they pass options on
  text=$("./$script" --no-such-option 2>&1)
  status=$?
  [ $status = 2 ] || complain "$script --no-such-option: status $status"
  grep -q -- '^[a-z0-9_.]*: --no-such-option is not known' <<<"$text" || complain "$script --no-such-option prints: $text"
done
[ $scripts -ge 10 ] || complain "only $scripts scripts use omx_usage"
[ $failures = 0 ] && echo "$scripts scripts"
