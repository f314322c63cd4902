#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# omx_bugreport_test.sh OMX: tests what omx bugreport collects on two hosts while a program runs, and what it leaves out.
set -uo pipefail
omx=$(realpath "$1")
self=$(realpath "$0")
folder=$(dirname "$self")
# shellcheck disable=SC2086  # names, split on purpose
unset ${!OMX_*} ${!MX_*}
[ -n "${LAB:-}" ] || exec "$folder/../../lab/lab" run --hosts 2 --mtu 9000 -- "$self" "$omx"

part=lab
# shellcheck source=tests/tools/cli.sh
. "$folder/cli.sh"
work=$(mktemp -d)
trap 'server_stop; rm -rf "$work"' EXIT
server_start

# has REGEX, lacks REGEX: whether a line of the report that was made last matches.
has() {
  checks=$((checks + 1))
  if grep -Eq -- "$1" "$report"; then return; fi
  failures=$((failures + 1))
  printf 'FAILED: no line of %s matches /%s/ in:\n%s\n' "$report" "$1" "$(cat "$report")"
}
lacks() {
  checks=$((checks + 1))
  if ! grep -Eq -- "$1" "$report"; then return; fi
  failures=$((failures + 1))
  printf 'FAILED: %s tells /%s/: %s\n' "$report" "$1" "$(grep -E -- "$1" "$report" | head -3)"
}

log=$work/log-%h-%p
echo 'a secret word' >"$work/key"
on h1 env OMX_LOG_FILE="$log" OMX_VERBOSE=2 "$omx" perf h2 --sizes 8 -n 10 >/dev/null 2>&1 || { echo "FAILED: no messages"; exit 1; }
report=$work/h2
expect 0 'has the report; read it before you send it' on h2 env SECRET_TOKEN=hunter2 OMX_SPIN_US=7 FI_OMX_IFACE=eth0 "$omx" bugreport --key "$work/key" "$report"
has '^Report of omx bugreport$'
has '^It does not hold: .*match information'
for title in build system interfaces environment 'settings that differ from their default' 'omx info' 'omx info --json' 'omx check' 'omx counters' \
  'omx dump [0-9]+' 'fi_info --version' "kernel's log" 'log file'; do
  has "^==== $title ====\$"
done
has '^Open-MX [0-9]+\.[0-9]+\.[0-9]+$'
has '^built as [A-Za-z]+ by [A-Za-z]+ '
has '^eth0: up, MTU 9000, '
has '^OMX_SPIN_US=7 \(from: environment\)$'
has '^FI_OMX_IFACE=eth0$'
has '^  +receive +posted, match 0x\(left out\) mask 0x\(left out\), '
has '"interface": "eth0"'
lacks 'hunter2|SECRET_TOKEN'
lacks '02:4f:4d:58|10\.77\.0\.'
# A name of a file that holds the name of a host, too.
lacks '(^|[^[:alnum:]])h[12]($|[^[:alnum:]])'
lacks '0x[0-9a-f]{16}'
lacks 'terminate called|core dumped'
expect 0 '^600$' stat -c %a "$report"
expect 1 "^omx bugreport: E902: cannot write $report: File exists; name a new file" on h2 "$omx" bugreport "$report"

# With the same key both hosts call the NIC of h2 the same.
mac=$(grep -Eo '"mac": "mac-[0-9a-f]{5}"' "$report" | head -1)
report=$work/h1
printf '\n  a secret word' >"$work/key"
on h1 env OMX_LOG_FILE="$log" OMX_PEERS='02:4f:4d:58:00:02 h2:0' "$omx" bugreport --key "$work/key" "$report" >/dev/null
has "$mac"
has 'mac-[0-9a-f]{5} host-[0-9a-f]{5}:0'
has 'frames to .* agreed'
lacks '02:4f:4d:58'

# The report shows the log file of the program, and its own commands make none, even where they print facts.
report=$work/verbose
on h1 env OMX_LOG_FILE="$log" OMX_VERBOSE=2 "$omx" bugreport >"$report" 2>/dev/null
has '^OMX_LOG_FILE=.*/log-%h-%p$'
has '^OMX_LOG_FILE=.* \(from: environment\)$'
has 'frames to .* agreed'
expect 0 '^1$' bash -c "find '$work' -name 'log-*' | wc -l"

# Without one the names differ each time.
report=$work/random
on h2 "$omx" bugreport >"$report"
has 'mac-[0-9a-f]{5}'
lacks "$mac"

# A table that is malformed tells no names, although no process could read it.
report=$work/malformed
on h2 env OMX_PEERS='node17:0' "$omx" bugreport >"$report"
has 'host-[0-9a-f]{5}:0'
lacks 'node17'

expect 1 '^omx bugreport: E902: cannot write: No space left on device' on h2 bash -c "'$omx' bugreport >/dev/full"
expect 2 'excludes' "$omx" bugreport --names --key "$work/key"
expect 2 'it must not be empty' "$omx" bugreport --key ''
expect 1 "^omx bugreport: E902: cannot read $work/none: No such file" "$omx" bugreport --key "$work/none"
echo >"$work/empty"
expect 1 "^omx bugreport: E902: $work/empty is empty; write a secret word into it" "$omx" bugreport --key "$work/empty"

report=$work/names
on h2 "$omx" bugreport --names >"$report"
has '02:4f:4d:58:00:02'
has 'are in it \(--names\)'
lacks '0x[0-9a-f]{16}'
finish
