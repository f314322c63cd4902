#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two processes of one host, without a lab: every byte of messages of all classes is checked, through shared memory and by UDP
# with checksums. In a cross build the emulator runs both.
#   two_processes_test.sh [EMULATOR...] OMX
set -u

if [ "${OMX_TEST_ISOLATED:-}" != 1 ]; then
  unshare -rn true 2>/dev/null || { echo "skipped: no network namespace can be made here"; exit 77; }
  exec unshare -rn env OMX_TEST_ISOLATED=1 "$0" "$@"
fi
# Not every kernel has dummy interfaces.
if ! { ip link set lo up && { ip link add t0 type dummy || ip link add t0 type veth peer name t1; } &&
  ip addr add 10.87.0.1/24 dev t0 && ip link set t0 up; } 2>/dev/null; then
  echo "skipped: no interface can be made here (ip link)"
  exit 77
fi
ip link set t1 up 2>/dev/null

export OMX_LINK=udp OMX_INTERFACES=t0 OMX_LOCAL
log=$(mktemp)
server=
trap '[ -z "$server" ] || kill $server 2>/dev/null; rm -f "$log"' EXIT

fail() {
  cat "$log"
  echo "FAIL: $1"
  exit 1
}

# pass OMX...: a server and a client that checks every byte. Prints the server's local frames.
pass() {
  : >"$log"  # what the last server said
  "$@" perf >"$log" 2>&1 &
  server=$!
  until grep -q "waiting for clients" "$log"; do
    kill -0 $server 2>/dev/null || fail "the server ended"
    sleep 0.1
  done
  "$@" perf localhost --sizes 0,1,32,33,100,128,129,4K,5000,32K,64K,1M --verify --iterations 10 --timeout 120 ||
    fail "the client"
  local_frames=$("$@" counters | sed -n 's/.*: *\([0-9]*\) Local Frames Received$/\1/p')
  kill $server
  wait $server
  server=
}

OMX_LOCAL=1
pass "$@"
[ "${local_frames:-0}" -gt 100 ] || fail "messages did not go through shared memory (${local_frames:-0} frames)"
OMX_LOCAL=0
export OMX_CHECKSUM=1
pass "$@"
[ -z "$local_frames" ] || fail "messages did not go by UDP"
