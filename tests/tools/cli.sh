# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the omx command, with `part` and `omx` set. Has expectations, hosts, and a server of
# `omx perf`.
# shellcheck shell=bash disable=SC2154
failures=0
checks=0
# shellcheck disable=SC2086  # names, split on purpose
unset ${!OMX_*} ${!MX_*}

# expect STATUS REGEX COMMAND...: runs the command. A line of stdout or stderr must match the expression.
expect() {
  local status=$1 regex=$2 output got
  shift 2
  output=$("$@" 2>&1 </dev/null)
  got=$?
  checks=$((checks + 1))
  if [ "$got" -eq "$status" ] && grep -Eq -- "$regex" <<<"$output"; then return; fi
  failures=$((failures + 1))
  printf 'FAILED: %s\n  wanted status %s and /%s/, got status %s and:\n%s\n' "$*" "$status" "$regex" "$got" "$output"
}

finish() {
  echo "$checks checks, $failures failed"
  [ "$failures" -eq 0 ]
}

on() {  # HOST COMMAND...
  local host=$1
  shift
  "$LAB" exec "$host" -- "$@"
}

# server_start OPTION...: starts a server on h2 and waits until it is ready.
server_start() {
  server_output=$(mktemp)
  # on() is not used here, because the server itself must be the process that is killed.
  "$LAB" exec h2 -- "$omx" perf "$@" >"$server_output" 2>&1 &
  server=$!
  for _ in $(seq 600); do
    if grep -q waiting "$server_output"; then return; fi
    sleep 0.1
  done
  echo "FAILED: the server did not start: $(cat "$server_output")"
  exit 1
}

server_stop() {
  kill "$server" 2>/dev/null
  wait "$server" 2>/dev/null
  rm -f "$server_output"
}

# Ends the server while a client runs, and checks what the client prints. A busy machine may start the client
# late.
server_lost() {  # REGEX SIGNAL SERVER-OPTIONS COMMAND...
  local regex=$1 signal=$2 options=$3 delay output
  shift 3
  for delay in 0.7 3 10; do
    # shellcheck disable=SC2086  # options, split on purpose
    server_start $options
    (sleep "$delay"; kill -"$signal" "$server") &
    output=$("$@" 2>&1 </dev/null)
    wait $!
    server_stop
    if ! grep -Eq 'nothing is open|no host answered' <<<"$output"; then break; fi
  done
  expect 0 "$regex" echo "$output"
}

# in_lab SCRIPT TEST...: starts the script again inside a lab of two hosts, where the tests run.
in_lab() {
  local self=$1 test
  shift
  if [ "$part" != inside ]; then
    exec "$(dirname "$self")/../../lab/lab" run --hosts 2 --mtu 9000 -- "$self" inside "$omx"
  fi
  scratch=$(mktemp)
  trap 'rm -f "$scratch"' EXIT
  for test in "$@"; do "$test"; done
  finish
}
