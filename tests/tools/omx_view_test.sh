#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# omx_view_test.sh OMX: tests that omx top and omx dump show processes that run, wait, are stopped, or have
# ended.
set -uo pipefail
omx=$(realpath "$1")
self=$(realpath "$0")
folder=$(dirname "$self")
# shellcheck disable=SC2086  # names, split on purpose
unset ${!OMX_*} ${!MX_*}
[ -n "${LAB:-}" ] || exec "$folder/../../lab/lab" run --hosts 2 --mtu 9000 -- "$self" "$omx"

failures=0
checks=0
# says WHAT REGEX TEXT
says() {
  checks=$((checks + 1))
  if grep -Eq -- "$2" <<<"$3"; then return; fi
  failures=$((failures + 1))
  printf 'FAILED: %s: no line matches /%s/ in:\n%s\n' "$1" "$2" "$3"
}
# Repeats the command until it succeeds, for ten seconds.
until_true() {
  for _ in $(seq 100); do
    "$@" && return 0
    sleep 0.1
  done
  return 1
}

server() { $LAB exec h2 -- "$omx" "$@" 2>&1; }
server_of_nobody() { $LAB exec h2 -- setpriv --reuid=65534 --clear-groups "$omx" "$@" 2>&1; }
client() { $LAB exec h1 -- "$omx" "$@" 2>&1; }

says 'nobody there' 'no endpoint is open' "$(server top -n 1 -d 0.1)"
says 'nobody there' 'process 999999 has no endpoint open' "$(server dump 999999)"

$LAB exec h2 -- "$omx" perf >/dev/null 2>&1 &
served() { server info --json | grep -q '"pid"'; }
until_true served || { echo 'FAILED: the server does not come'; exit 1; }
pid_on() { $LAB exec "$1" -- "$omx" info --json | grep -Eo '"pid": ?[0-9]+' | grep -Eo '[0-9]+' | head -1; }
server_pid=$(pid_on h2)

# The server waits asleep. It publishes that within a second or two. On a busy host its progress thread may
# publish the receive before the server waits for it.
waits() { server dump "$server_pid" | grep -q '[1-9] threads in waiting calls'; }
until_true waits || { echo "FAILED: the server's wait is not seen"; failures=1; }
text=$(server dump "$server_pid")
says 'waiting' "endpoint 0 open by pid $server_pid \(omx\)" "$text"
says 'waiting' 'made progress; 1 threads in waiting calls' "$text"
says 'waiting' 'receive  posted, match 0x[0-9a-f]{16} mask 0x[0-9a-f]{16}, [0-9]+ bytes' "$text"
json=$(server dump "$server_pid" --json)
checks=$((checks + 1))
python3 -c 'import json, sys
e = json.loads(sys.argv[1])["endpoints"]
assert len(e) == 1 and e[0]["posted"] == 1 and e[0]["known"], e' "$json" ||
  { echo "FAILED: JSON: $json"; failures=$((failures + 1)); }
# Tests as another user, if that user can run the command.
if server_of_nobody --version >/dev/null; then
  text=$(server_of_nobody top -n 1 -d 0.1)
  says 'another user' 'not shown: board 0: endpoint 0 belongs to process [0-9]+ \(omx\) of user 0' "$text"
  checks=$((checks + 1))
  if grep -q 'no endpoint is open' <<<"$text"; then
    echo "FAILED: an endpoint of another user is not seen as open: $text"
    failures=$((failures + 1))
  fi
else
  echo 'no other user here may run omx: the test as another user is left out'
fi
says 'other endpoint' 'no endpoint 5 open' "$(server dump "$server_pid" -e 5)"

mac=$($LAB exec h2 -- cat /sys/class/net/eth0/address)
client perf "$mac" --sizes 100000 --min-time 60 --max-time 90 >/dev/null &
busy() { server top -n 1 -d 0.5 | grep -Eq '^ +0 +0 +[0-9]+ omx +[0-9.]+[kM]? +[1-9]'; }
until_true busy || { echo 'FAILED: no traffic is seen'; failures=$((failures + 1)); }
mac1=$($LAB exec h1 -- cat /sys/class/net/eth0/address)
# Facts about peers are renewed each second, later on a busy machine.
peer_seen() { text=$(server top -n 2 -d 1.1) && grep -Eq "^ +0 +0 $mac1 endpoint 0 +[0-9.]+[kM]? +[1-9]" <<<"$text"; }
checks=$((checks + 1))
until_true peer_seen || { echo "FAILED: the peer's messages are not seen: $text"; failures=$((failures + 1)); }
says 'last events' "large message received, $mac1 endpoint 0, match 0x[0-9a-f]{16}, 100000 bytes" \
  "$(server dump "$server_pid")"

# A stopped process need not answer. A killed one is gone.
client_pid=$(pid_on h1)
kill -STOP "$client_pid"
text=$(client dump "$client_pid")
says 'stopped' "Last events: [0-9]+ of [0-9]+" "$text"
says 'stopped' "  $mac endpoint 0 \(extended, frames of 9014 bytes" "$text"
kill -KILL "$client_pid"
gone() { [[ $(client dump "$client_pid") == *'has no endpoint open'* ]]; }
until_true gone || { echo 'FAILED: the dead process is still seen'; failures=$((failures + 1)); }

# Tests the screen of omx top, until q is pressed.
checks=$((checks + 1))
screen=$(mktemp)
trap 'rm -f "$screen"' EXIT
drawn() { grep -q 'q ends' "$screen"; }
(until_true drawn; printf q) | timeout 30 script -qfec "$LAB exec h2 -- $omx top -d 0.2" "$screen" >/dev/null
ended=$?
if [ "$ended" -ne 0 ] || ! grep -q 'BOARD' "$screen"; then
  echo "FAILED: status $ended, the screen is: $(cat "$screen")"
  failures=$((failures + 1))
fi

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
