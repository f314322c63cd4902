#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks that omxd understands the options with which its systemd unit starts it. A unit with a wrong one fails at
# each start, and no other test runs the unit.
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
