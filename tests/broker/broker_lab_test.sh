#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The broker between two hosts of the lab: names, jobs of root beside, containers, trusted boards, Open MPI.
# Usage: broker_lab_test.sh LAB OMX OMXD PROVIDER_FOLDER; exits 77 where no lab or broker is possible.
set -u
if [ "${INSIDE:-}" != 1 ]; then
  lab=$1
  shift
  INSIDE=1 exec "$lab" run --hosts 2 -- bash "$0" "$@"
fi
omx=$1
export OMXD=$2
provider=$3
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
user=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all)
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# Starts a server on h2 and waits until it listens: server LOG COMMAND...
server() {
  local log=$1
  shift
  rm -f "$log"  # the former server's says the same
  $LAB exec h2 -- "$@" "$omx" perf --once >"$log" 2>&1 &
  served=$!
  for _ in $(seq 500); do
    grep -qs 'waiting for clients' "$log" && return 0
    sleep 0.02
  done
  fail "no server: $(cat "$log")"
}

# Runs a client on h1 as the user: client NAME OF SERVER
client() {
  timeout 60 $LAB exec h1 -- "${user[@]}" "$omx" perf "$1" -s 0,100,5K,200K --verify -n 50 >"$work/client" 2>&1 && return
  fail "client to $1: $(cat "$work/client")"
  kill "$served"  # it would wait for ever
}

OMX_BROKER=$($LAB broker) || { status=$?; exit $status; }
export OMX_BROKER

echo "omx info says what was tried and got"
$LAB exec h1 -- "${user[@]}" "$omx" info | grep -q 'grants raw frames, confined to the endpoints of this user' ||
  fail "omx info: $($LAB exec h1 -- "${user[@]}" "$omx" info | head -6)"
$LAB exec h1 -- "${user[@]}" env OMX_BROKER=/nowhere "$omx" info | grep -q 'no broker at /nowhere: No such file' ||
  fail "omx info without a broker"
$LAB exec h1 -- "${user[@]}" env OMX_BROKER=off "$omx" info | grep -q 'broker (OMX_BROKER=off): not asked' ||
  fail "omx info with OMX_BROKER=off"

echo "omxd --grants"
server "$work/server" "${user[@]}"
$LAB exec h2 -- "$OMXD" --config /dev/shm/broker/policy --socket /dev/shm/broker/socket --grants >"$work/grants" 2>&1
grep -Eq '^(nobody \()?65534\)? +[0-9]+ eth0 +0 ' "$work/grants" || fail "omxd --grants: $(cat "$work/grants")"
$LAB exec h2 -- "$OMXD" --config /dev/shm/broker/policy --socket /dev/shm/broker/socket --grants 2>"$work/lost" >/dev/full &&
  fail "omxd --grants ends well without having written anything"
grep -qx 'omxd: error: E902: cannot write: No space left on device' "$work/lost" || fail "omxd --grants: $(cat "$work/lost")"
echo "root sees the user's endpoint, as it stands beside its own boards"
pid=$($LAB exec h2 -- pgrep -x omx)
sees() {
  local what=$1
  shift
  $LAB exec h2 -- env OMX_BROKER="$OMX_BROKER" "$omx" "$@" >"$work/seen" 2>&1
  grep -Eq -- "$what" "$work/seen" || fail "omx $* does not show '$what': $(cat "$work/seen")"
}
$LAB exec h2 -- "$omx" perf --endpoint 0 >"$work/root" 2>&1 &  # has the same id
for _ in $(seq 500); do
  grep -q 'waiting for clients' "$work/root" && break
  sleep 0.02
done
sees "addr aa:4f:4d:58:00:02, by the broker, confined\) endpoint 0 open by pid $pid \(omx\)" counters -v
sees "addr 02:4f:4d:58:00:02\) endpoint 0 open by pid [0-9]+ \(omx\)" counters -v
sees "addr aa:4f:4d:58:00:02, by the broker, confined\) endpoint 0 open by pid $pid " dump "$pid"
sees "^ +0 +0 +$pid omx " top -n 1
sees '^openmx_open_endpoints\{host="h2"\} 2$' counters --openmetrics
sees '^openmx_known_peers\{host="h2",link="eth0@broker",endpoint="0",process="omx"\} ' counters --openmetrics
sees '^openmx_known_peers\{host="h2",link="eth0",endpoint="0",process="omx"\} ' counters --openmetrics
$LAB exec h2 -- env OMX_BROKER=off "$omx" counters | grep -q 'by the broker' || fail "with OMX_BROKER=off root does not see it"
sees "endpoint 0 open by pid $pid \(omx\), by the broker" info
sees '"by_broker": true' counters --json
$LAB exec h2 -- pkill -f 'perf --endpoint 0'
client h2
wait

for name in h2 h2:0 10.77.0.2 aa:4f:4d:58:00:02; do
  echo "a user finds the other host by $name"
  server "$work/server" "${user[@]}"
  client "$name"
  wait
done

echo "root's endpoint has the same name, and the user means the broker's board"
$LAB exec h2 -- env OMX_BROKER=off "$omx" perf >"$work/root" 2>&1 &
root=$!
for _ in $(seq 500); do
  grep -q 'waiting for clients' "$work/root" && break
  sleep 0.02
done
server "$work/server" "${user[@]}"
client h2
wait $served
grep -q 'served client aa:4f:4d:58:00:01' "$work/server" || fail "the user's server served nobody"
kill $root
wait

echo "a user talks with root's raw frames on the other host"
server "$work/server" env OMX_BROKER=off
client 02:4f:4d:58:00:02
wait

echo "two containers of a host have only the broker's socket"
for endpoint in 0 1; do
  $LAB exec h2 -- unshare -n "${user[@]}" "$omx" perf --once -e $endpoint >"$work/container$endpoint" 2>&1 &
done
for endpoint in 0 1; do
  for _ in $(seq 500); do
    grep -q 'waiting for clients' "$work/container$endpoint" && break
    sleep 0.02
  done
  $LAB exec h1 -- timeout 60 unshare -n "${user[@]}" "$omx" perf aa:4f:4d:58:00:02 --peer-endpoint $endpoint -s 100,5K,200K --verify -n 50 >"$work/client" 2>&1 ||
    fail "container $endpoint: $(cat "$work/client" "$work/container$endpoint")"
done
wait

echo "trusted boards"
# Both hosts have one PID namespace.
$LAB exec h1 -- pkill -x omxd
for host in h1 h2; do
  $LAB exec $host -- sh -c 'for i in $(seq 500); do [ -S /dev/shm/broker/socket ] || exit 0; sleep 0.02; done; exit 1' ||
    fail "the broker of $host does not end"
done
printf 'users = nobody\nboard eth0 mode = trusted\nboard eth0 users = nobody\n' >"$work/policy"
$LAB broker --policy "$work/policy" >/dev/null || fail "no trusted broker"
$LAB exec h1 -- "${user[@]}" "$omx" info | grep -q 'grants raw frames, by sockets on the interface itself' ||
  fail "trusted: $($LAB exec h1 -- "${user[@]}" "$omx" info | head -6)"
server "$work/server" "${user[@]}"
client h2
wait $served
grep -q 'served client 02:4f:4d:58:00:01' "$work/server" || fail "trusted: $(cat "$work/server")"
wait

if command -v mpirun.openmpi >/dev/null && command -v NPopenmpi >/dev/null && [ -e "$provider/libomx-fi.so" ]; then
  echo "Open MPI, as a user"
  OMX_VERBOSE=1 timeout 100 $LAB mpirun --user 65534 --broker --provider-path "$provider" -n 2 -- NPopenmpi -l 8 -u 70000 -n 20 -p 0 -o /dev/null >"$work/mpi" 2>&1 ||
    fail "mpirun: $(tail -5 "$work/mpi")"
  [ "$(grep -c 'messages by raw frames' "$work/mpi")" = 2 ] || fail "mpirun did not go by raw frames: $(grep OMX "$work/mpi")"
fi

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
