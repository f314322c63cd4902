#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usual_start.sh PROGRAM PROVIDER-FOLDER: programs of libfabric meet between two hosts. They get two addresses and
# a port, and no option of ours. They are usual_start.c, and fi_pingpong if it is installed.
set -uo pipefail
self=$(realpath "$0")
if [ "$1" != inside ]; then
  exec "$(dirname "$self")/../../lab/lab" run --hosts 2 --mtu 9000 --family both -- \
    "$self" inside "$(realpath "$1")" "$(realpath "$2")"
fi
program=$2
export FI_PROVIDER_PATH=$3
failures=0
checks=0
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

# Tells whether the server waits. It says so, or listens at the port of fi_pingpong's own connection, 47592.
ready() {
  if [ "$1" = "$program" ]; then
    grep -q ready "$output/server"
  else
    "$LAB" exec h2 -- grep -qE ':B9E8 [0-9A-F:]+ 0A ' /proc/net/tcp /proc/net/tcp6
  fi
}

# pair LINK SERVER-ARGUMENTS CLIENT-ARGUMENTS COMMAND...: both must end well.
pair() {
  local link=$1 server=$2 client=$3 status_server status_client
  shift 3
  export OMX_LINK=$link
  : >"$output/server"  # what the last one said
  # shellcheck disable=SC2086  # arguments, split on purpose
  "$LAB" exec h2 -- timeout 60 "$@" $server >"$output/server" 2>&1 &
  local job=$!
  for _ in $(seq 300); do
    if ready "$1" || ! kill -0 "$job" 2>/dev/null; then break; fi
    sleep 0.05
  done
  # shellcheck disable=SC2086
  "$LAB" exec h1 -- timeout 60 "$@" $client >"$output/client" 2>&1
  status_client=$?
  [ "$status_client" -eq 0 ] || kill "$job" 2>/dev/null
  wait "$job"
  status_server=$?
  checks=$((checks + 1))
  if [ "$status_server" -eq 0 ] && [ "$status_client" -eq 0 ]; then return; fi
  failures=$((failures + 1))
  echo "FAILED: $link: $* [$server] [$client]: server $status_server, client $status_client"
  cat "$output/server" "$output/client"
}

usual() {  # LINK SERVER-ARGUMENTS CLIENT-ARGUMENTS
  pair "$@" "$program"
}

# A name that Open-MX hosts answer for leads to no IP address by itself.
for host in h1 h2; do "$LAB" exec "$host" -- ip neigh flush all; done
usual ethernet "-F sockaddr_in" "-F sockaddr_in h2"
for link in ethernet udp4; do
  usual $link "-s 10.77.0.2" "-s 10.77.0.1 10.77.0.2"
  usual $link "-e tagged -S 100000" "-e tagged -S 100000 h2"
  usual $link "-e rma -F sockaddr_in -s 10.77.0.2 -b 5000" "-e rma -F sockaddr_in -s 10.77.0.1 -o 5000 10.77.0.2"
done
for link in ethernet udp6; do
  usual $link "-F sockaddr_in6 -s fd4f:4d58::2" "-F sockaddr_in6 -s fd4f:4d58::1 fd4f:4d58::2"
done

if command -v fi_pingpong >/dev/null; then
  for link in ethernet udp4; do
    pair $link "-p omx -e rdm" "-p omx -e rdm 10.77.0.2" fi_pingpong -I 10
  done
else
  echo "fi_pingpong is not installed (libfabric-bin), it is left out"
fi
echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
