#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks that omxd understands the options with which its systemd unit starts it. A unit with a wrong one fails at
# each start, and no other test runs the unit. What omxd does not understand is named, and ends it with status 2.
# Usage: unit_test.sh BUILD_DIR
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work cmake --install "$1" --component broker >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
unit=$(find "$work" -name omxd.service)
omxd=$(find "$work" -name omxd -type f)
line=$(sed -n 's/^ExecStart=//p' "$unit")
[ "$work${line%% *}" = "$omxd" ] || { echo "the unit starts ${line%% *}, but omxd is in ${omxd#"$work"}"; exit 1; }
options=${line#"${line%% *}"}
echo "users = root" >"$work/policy"
# shellcheck disable=SC2086  # options, split on purpose
"$omxd" $options --config "$work/policy" --check || { echo "omxd refuses the options of its unit: $line"; exit 1; }
status=0
"$omxd" --no-such-option 2>"$work/refused" || status=$?
[ $status = 2 ] && grep -Eqx 'omxd: error: E901: .*--no-such-option; omxd --help shows what is accepted' "$work/refused" ||
  { echo "omxd --no-such-option ends with status $status: $(cat "$work/refused")"; exit 1; }
