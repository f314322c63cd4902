#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# omx_cli_test.sh plain|lab OMX: what the omx command prints and returns.
set -uo pipefail
part=$1
omx=$(realpath "$2")
self=$(realpath "$0")
folder=$(dirname "$self")
failures=0
checks=0
# shellcheck disable=SC2086  # names, split on purpose
unset ${!OMX_*} ${!MX_*}

# expect STATUS REGEX COMMAND...: runs it; both streams together must hold a line that the expression matches.
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

test_plain() {
  expect 0 '^omx \(Open-MX\) [0-9]+\.[0-9]+' "$omx" --version
  expect 0 'Usage: omx' "$omx" help
  expect 0 'Usage: omx' "$omx" --help
  local command
  for command in info perf counters top dump peers check tune prepare-binding steer capture help; do
    expect 0 "Usage: omx $command" "$omx" help "$command"
    expect 0 'Usage: ' "$omx" "$command" --help
    expect 0 "^  $command " "$omx" help
  done
  expect 2 'omx help shows' "$omx"
  expect 2 'no command "frobnicate"' "$omx" frobnicate
  expect 2 'no command "frobnicate"' "$omx" help frobnicate
  expect 2 '--frobnicate' "$omx" info --frobnicate
  expect 2 'frobnicate' "$omx" info frobnicate
  expect 2 '--board' "$omx" info --board x
  expect 2 '--board' "$omx" info --board -1
  expect 2 '--endpoint' "$omx" counters -e 256
  expect 2 '--watch' "$omx" counters --watch 0
  expect 2 '--delay' "$omx" top -d 0
  expect 2 'pid' "$omx" dump
  expect 2 'pid: Value 0 not in range 1 to 4194304; ' "$omx" dump 0
  expect 2 '--count: Value 0 not in range 1 to 1000000000; ' "$omx" top -n 0
  for command in capture counters info top; do
    expect 2 '--board: Value -1 not in range 0 to 255; ' "$omx" "$command" --board=-1
  done
  expect 2 '--sizes requires peer' "$omx" perf --sizes 8
  expect 2 'peer excludes --once|--once excludes peer' "$omx" perf host --once
  expect 2 'frobnicate' "$omx" perf host --test frobnicate
  expect 2 '--json' "$omx" perf host --json --csv
  local sizes
  for sizes in x "8,," "," 8:4 1Q 4G -1 1:2:3 9999999999999999999999; do
    expect 2 'list of sizes|required' "$omx" perf host "--sizes=$sizes"
  done

  expect 2 '--undo' "$omx" tune --undo --dry-run
  expect 2 '--undo' "$omx" tune --undo lo
  expect 1 'omx check: the command line names nonesuch.*there are:.*lo' "$omx" check nonesuch
  expect 1 'omx tune: the command line names nonesuch' "$omx" tune --dry-run nonesuch

  expect 2 'requires interface' "$omx" steer --cpus 0
  expect 2 '--show|--off' "$omx" steer lo --show --off
  expect 2 '--off' "$omx" steer lo --off --map 0:0
  expect 2 '--json requires --show' "$omx" steer --json
  expect 2 '--mode' "$omx" steer lo --mode fast
  expect 2 'omx: interface: it must not be empty' "$omx" steer "" --off
  expect 2 'omx: interface: it must not be empty' "$omx" steer ""
  expect 2 'omx: --cpus: it must not be empty' "$omx" steer lo --cpus ""
  expect 2 'omx: --map: it must not be empty' "$omx" steer lo --map ""
  expect 1 'omx steer: (--map "x" is not ENDPOINT:PROCESSOR|this build has no XDP program)' "$omx" steer lo --map x

  expect 2 '--snap-length' "$omx" capture -s 59
  expect 2 '--count' "$omx" capture -c 0
  expect 2 'excludes' "$omx" capture -b 0 -i lo
  expect 2 '--write: it must not be empty' "$omx" capture -w ""

  expect 2 'file: it must not be empty; - is' "$omx" prepare-binding ""

  # Settings are looked at before anything else, so these need no network.
  expect 1 'omx info: .*OMX_SPIN_US="soon".*whole number' env OMX_SPIN_US=soon "$omx" info
  expect 1 'omx info: OMX_INTERFACES names nonesuch.*there are:.*lo' env OMX_INTERFACES=nonesuch "$omx" info
  expect 1 'omx perf: OMX_INTERFACES names nonesuch' env OMX_INTERFACES=nonesuch "$omx" perf
  expect 1 'omx counters: OMX_INTERFACES names nonesuch' env OMX_INTERFACES=nonesuch "$omx" counters
  expect 1 'omx info: OMX_PROCESS_BINDING="all".*give off, auto, all:N' env OMX_PROCESS_BINDING=all "$omx" info
  expect 0 '^OMX_PROCESS_BINDING=off$' "$omx" info --settings
  expect 0 '^OMX_PROCESS_BINDING=2-4,9$' env OMX_PROCESS_BINDING=2,3,4,9 "$omx" info --settings
  expect 1 'omx prepare-binding: OMX_INTERFACES names nonesuch' env OMX_INTERFACES=nonesuch "$omx" prepare-binding -
  expect 0 '^OMX_SPIN_US=7$' env OMX_SPIN_US=7 "$omx" info --settings
  expect 0 '"variable": "OMX_SPIN_US", "value": "7"' env OMX_SPIN_US=7 "$omx" info --settings --json

  expect 0 'warning: OMX_SPINUS is not a setting; omx info --settings' env OMX_SPINUS=7 "$omx" info --settings
  expect 0 'warning: MX_ZOMBIE="few".*whole number' env MX_ZOMBIE=few "$omx" info --settings
  expect 0 '^OMX_DISABLE_SHARED=0$' env MX_DISABLE_SHMEM= "$omx" info --settings

  expect 0 'from: environment; accepted: a whole number' env OMX_SPIN_US=7 "$omx" info --settings
  expect 0 'in the file: spin_us$' "$omx" info --settings
  expect 0 'accepted: omx \(full frames\) or mxoe' "$omx" info --settings
  expect 0 '"origin": "MX_ZOMBIE in the environment"' env MX_ZOMBIE=5 "$omx" info --settings --json
  expect 1 'OMX_COPY_ENGINE="gpu".*auto .*thread or dsa' env OMX_COPY_ENGINE=gpu "$omx" info
  expect 0 '^OMX_COPY_MIN_PIECE=auto$' "$omx" info --settings
  expect 1 'OMX_PROGRESS_CPUS="9999".* of which this host has 0 to [0-9]+' env OMX_PROGRESS_CPUS=9999 "$omx" info
  expect 0 '^Messages Sent \(messages\)$' "$omx" counters --explain
  expect 0 'OMX_RING_FRAMES' "$omx" counters --explain

  local work
  work=$(mktemp -d)
  mkfifo "$work/pipe"
  expect 1 'omx info: .*/pipe: it is not a regular file' timeout 5 env OMX_CONFIG="$work/pipe" "$omx" info
  echo 'spin_us = 5' >"$work/good"
  echo 'spin_us 5' >"$work/malformed"
  printf '# comment\nspin_us = -1\n' >"$work/bad_value"
  echo 'frobnicate = 1' >"$work/unknown"
  expect 0 '^OMX_SPIN_US=5$' env OMX_CONFIG="$work/good" "$omx" info --settings
  expect 0 "from: $work/good:1;" env OMX_CONFIG="$work/good" "$omx" info --settings
  expect 1 "omx info: .*$work/malformed:1" env OMX_CONFIG="$work/malformed" "$omx" info
  expect 1 "omx info: .*$work/bad_value:2" env OMX_CONFIG="$work/bad_value" "$omx" info
  expect 1 "omx info: .*$work/unknown:1.*frobnicate" env OMX_CONFIG="$work/unknown" "$omx" info
  expect 1 "omx info: .*$work/missing" env OMX_CONFIG="$work/missing" "$omx" info
  rm -rf "$work"
}

on() {  # HOST COMMAND...
  local host=$1
  shift
  "$LAB" exec "$host" -- "$@"
}

# Starts a server on h2, and waits until it says that it is ready. Arguments: its options.
server_start() {
  server_output=$(mktemp)
  # Not by on(): the server's own process must be the one that is killed.
  "$LAB" exec h2 -- "$omx" perf "$@" >"$server_output" 2>&1 &
  server=$!
  for _ in $(seq 100); do
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

# The server goes while a client is at work; what the client says. A busy machine may take long to start it.
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

test_info_provider() {
  local folder bad
  folder=$(dirname "$(dirname "$omx")")/lib/libfabric
  bad=$(mktemp -d)
  echo 'not a library' >"$bad/libomx-fi.so"
  expect 0 "$bad/libomx-fi.so.*(invalid ELF|file too short)" on h1 env FI_PROVIDER_PATH="$bad" "$omx" info
  rm -r "$bad"
  if [ ! -e "$folder/libomx-fi.so" ]; then
    expect 0 'none: Open-MX was built without libfabric' on h1 env FI_PROVIDER_PATH= "$omx" info
    return
  fi
  expect 0 "^  $folder/libomx-fi.so\$" on h1 env FI_PROVIDER_PATH="/none:$folder" "$omx" info
  expect 0 "which programs find with FI_PROVIDER_PATH=$folder\$" on h1 env FI_PROVIDER_PATH=/none "$omx" info
  expect 0 '"found_by_libfabric": false' on h1 env FI_PROVIDER_PATH=/none "$omx" info --json
}

test_info() {
  expect 0 'h1:0 \(board #0 name eth0 addr 02:4f:4d:58:00:01\)' on h1 "$omx" info
  expect 0 'packet sockets \(CAP_NET_RAW\): allowed' on h1 "$omx" info -b 0
  expect 0 'lo: loopback' on h1 "$omx" info
  expect 0 '"mac": "02:4f:4d:58:00:01", "mtu": 9000' on h1 "$omx" info --json
  expect 0 'frames up to 9014 bytes' on h1 "$omx" info
  expect 0 'blocks of 8 frames of 4096 bytes' on h1 env OMX_WIRE_MODE=mxoe "$omx" info
  expect 0 'with checksum' on h1 env OMX_CHECKSUM=1 "$omx" info
  expect 0 'at once, .*OMX_RNDV_THRESHOLD=1000' on h1 env OMX_RNDV_THRESHOLD=1000 "$omx" info
  expect 1 'there is no board 1' on h1 "$omx" info -b 1
  expect 0 '^Found 1 board supporting 256 endpoints:$' on h1 "$omx" info
  expect 0 'larger: (one copy|two copies), as processes may' on h1 "$omx" info
  expect 0 'larger: two copies, as OMX_LOCAL_DIRECT=0' on h1 env OMX_LOCAL_DIRECT=0 "$omx" info
  expect 0 'up to 70000 bytes: at once .*OMX_LOCAL_RNDV_THRESHOLD=70000' on h1 env OMX_LOCAL_RNDV_THRESHOLD=70000 "$omx" info
  expect 0 'by the cable, as between hosts' on h1 env OMX_LOCAL=0 "$omx" info
  expect 0 'OMX_PROGRESS=auto' on h1 "$omx" info
  expect 0 '"progress": \{"mode": "off"' on h1 env OMX_PROGRESS=off "$omx" info --json
  expect 0 '^  cpu: memcpy' on h1 "$omx" info
  expect 0 '^  thread: not available: .*one processor only' on h1 taskset -c 0 "$omx" info
  expect 0 '^  dsa: (Intel DSA, /dev/dsa/|not available: .)' on h1 "$omx" info
  expect 0 '"copy_engines": \[\{"name": "cpu", "available": true' on h1 "$omx" info --json
  test_info_provider
  if command -v python3 >/dev/null; then
    on h1 "$omx" info --json >"$scratch"
    expect 0 '"boards"' python3 -m json.tool "$scratch"
  fi

  on h1 ip link set dev eth0 mtu 1000
  expect 0 'warning: eth0 has an MTU of 1000.*ip link set dev eth0 mtu 1500' on h1 "$omx" info
  on h1 ip link set dev eth0 down
  expect 1 'warning: no usable Ethernet interface.*eth0: down' on h1 "$omx" info
  expect 1 'omx perf: no usable Ethernet interface' on h1 "$omx" perf
  expect 0 'warning: eth0 is down: ip link set dev eth0 up' on h1 env OMX_INTERFACES=eth0 "$omx" info
  on h1 ip link set dev eth0 mtu 9000 up
}

test_privileges() {
  # Root without the one capability; works in an ordinary user's lab too.
  local by_udp=(setpriv --bounding-set=-net_raw --inh-caps=-net_raw)
  local without=(env OMX_LINK=ethernet "${by_udp[@]}")
  if ! on h1 "${without[@]}" true 2>/dev/null; then
    echo "no setpriv here: the tests without privileges are left out"
    return
  fi
  expect 0 'messages go by UDP over IPv4 \(OMX_LINK=auto\)' on h1 "${by_udp[@]}" "$omx" info
  expect 0 '"link": "udp"' on h1 "${by_udp[@]}" "$omx" info --json
  expect 0 'addr 0a:55:0a:4d:00:01, by UDP' on h1 env OMX_LINK=udp "$omx" info
  expect 1 'nothing is open on endpoint 0 of 0a:55:0a:4d:00:02' on h1 "${by_udp[@]}" "$omx" perf h2 --timeout 1
  expect 1 'no answer from 0a:55:0a:4d:00:63 within 1 s.*UDP ports 27200 to 27711' on h1 "${by_udp[@]}" "$omx" perf 10.77.0.99 --timeout 1
  expect 1 '"nonesuch" has no IPv4 address that the resolver knows' on h1 "${by_udp[@]}" "$omx" perf nonesuch
  expect 1 'by UDP' on h1 "${by_udp[@]}" "$omx" peers --discover
  expect 1 'OMX_LINK.*auto, ethernet .*udp' on h1 env OMX_LINK=tcp "$omx" info
  expect 0 'not allowed' on h1 "${without[@]}" "$omx" info
  expect 0 'warning: .*setcap cap_net_raw' on h1 "${without[@]}" "$omx" info
  expect 0 '"packet_sockets_allowed": false' on h1 "${without[@]}" "$omx" info --json
  expect 1 'omx perf: .*setcap cap_net_raw' on h1 "${without[@]}" "$omx" perf
  expect 1 'omx perf: .*setcap cap_net_raw' on h1 "${without[@]}" "$omx" perf h2
  expect 1 'omx peers: .*CAP_NET_RAW' on h1 "${without[@]}" "$omx" peers --discover
  expect 0 'no endpoint is open' on h1 "${without[@]}" "$omx" counters
}

# A program that may do more than its caller must not read files that the caller names.
test_setuid() {
  local work become=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  work=$(mktemp -d)
  chmod 755 "$work"
  install -m 4755 "$(command -v id)" "$work/id"
  if [ "$("${become[@]}" "$work/id" -u 2>/dev/null)" != 0 ]; then
    echo "no program can be setuid here: the tests of such are left out"
  else
    install -m 4755 "$omx" "$work/omx"
    echo 'a secret' >"$work/file"
    chmod 600 "$work/file"
    local start=("${become[@]}" env "OMX_CONFIG=$work/file" "OMX_PEERS_FILE=$work/file" "$work/omx" info --settings)
    expect 0 'warning: OMX_CONFIG has no effect in a program with privileges' "${start[@]}"
    expect 0 'warning: OMX_PEERS_FILE has no effect in a program with privileges' "${start[@]}"
    expect 0 '^OMX_PEERS_FILE=$' "${start[@]}"
    start=("${become[@]}" env "OMX_PROCESS_BINDING=file:$work/file" "$work/omx" info --settings)
    expect 0 'warning: OMX_PROCESS_BINDING has no effect in a program with privileges' "${start[@]}"
    expect 0 '^OMX_PROCESS_BINDING=off$' "${start[@]}"
    # libhwloc would load what the caller's environment names.
    expect 0 'warning: which processors share caches is not known: programs with privileges' \
      "${become[@]}" "$work/omx" prepare-binding -
  fi
  rm -rf "$work"
}

test_nobody_there() {
  expect 1 'omx perf: "nonesuch" is not in the table of peers.*OMX_DISCOVERY_MS.*MAC address' on h1 env OMX_DISCOVERY_MS=200 "$omx" perf nonesuch
  expect 1 'omx perf: no answer from 02:4f:4d:58:00:02 within 1 s' on h1 "$omx" perf 02:4f:4d:58:00:02 --timeout 1
  expect 1 'omx perf: there is no board 1' on h1 "$omx" perf -b 1 h2
  expect 0 'no endpoint is open' on h1 "$omx" counters
  expect 0 '"endpoints": \[\]' on h1 "$omx" counters --json
  expect 1 'endpoint 5 is not open' on h1 "$omx" counters -e 5
  expect 1 'OMX_PEERS:1: "zz" is not a MAC' on h1 env OMX_PEERS='zz h2' "$omx" peers
  expect 0 '^02:00:00:00:00:09 nine \(configured\)' on h1 env OMX_PEERS='02:00:00:00:00:09 nine' "$omx" peers
  expect 0 'omx peers --discover asks the network' on h1 "$omx" peers
  expect 0 'no other host answered within 50 ms' on h1 env OMX_DISCOVERY_MS=50 "$omx" peers --discover
}

test_perf() {
  server_start --timeout 5
  local mac=02:4f:4d:58:00:02
  expect 0 '^02:4f:4d:58:00:02 h2:0 \(told by the network\)' on h1 "$omx" peers --discover
  expect 0 '^ +1000003 +20 ' on h1 "$omx" perf h2 --verify -n 20 --sizes 0:64K,1000003
  expect 0 '^ +40000 +20 ' on h1 "$omx" perf h2:0 --verify -n 20 --sizes 31:33,127:130,40000 --wait
  expect 0 '^ +300000 +20 ' on h1 "$omx" perf $mac --verify -n 20 --sizes 1,5000,300000 --sync
  expect 0 '^stream,100000,64,' on h1 "$omx" perf h2 -t stream --verify -n 64 --sizes 8,5000,100000 --csv
  expect 0 '^ +200000 +50 ' on h1 "$omx" perf h2 -t bistream --verify -n 50 -w 7 --sizes 8,5000,200000
  expect 0 '"million_per_s"' on h1 "$omx" perf h2 -t rate -n 1000 --json
  expect 0 '^ +8 +[0-9]+' on h1 "$omx" perf h2 --sizes 8 -n 10 --warmup 0 --min-time 0.1 --cpu 0
  expect 0 '^ +20000 +10 ' on h1 env OMX_CHECKSUM=1 "$omx" perf h2 --verify -n 10 --sizes 20000
  expect 1 'give its endpoint with --peer-endpoint' on h1 "$omx" perf h2 --peer-endpoint 7
  expect 1 'endpoint 0 is held by process.*--endpoint N.*--peer-endpoint N' on h2 "$omx" perf
  expect 0 'endpoint 0 open by pid [0-9]+ \(omx\)' on h2 "$omx" info
  expect 0 ' [0-9]+ Recv Rndv$' on h2 "$omx" counters
  expect 0 ' 0 Partner Given Up$' on h2 "$omx" counters -v -b 0 -e 0
  expect 0 '"Recv Medium Frag": [0-9]+' on h2 "$omx" counters --json

  # A client that goes away in the middle must not keep the server from the next one.
  on h1 timeout 0.5 "$omx" perf h2 --sizes 64K -n 100000000 >/dev/null 2>&1
  expect 0 '^ +8 +10 ' on h1 "$omx" perf h2 --sizes 8 -n 10 --timeout 30
  server_stop

  # A server that goes away must not keep the client. With it went the last that could answer for its host.
  server_lost 'omx perf: (a message with|the peer was silent)' TERM "" \
    on h1 "$omx" perf h2 --sizes 64K -n 100000000 --timeout 3

  server_start
  # The time of a size has a limit, and it is said when that was too short.
  expect 0 '^  8 bytes: [0-9]+ of 100000000$' on h1 "$omx" perf h2 --sizes 8 -n 100000000 --max-time 0.2
  expect 0 '"cut_short": true' on h1 "$omx" perf h2 --sizes 8 -n 100000000 --max-time 0.2 --json
  expect 0 '"cut_short": false' on h1 "$omx" perf h2 --sizes 8 -n 100 --json
  server_stop

  server_start --once -e 9
  expect 0 '^ +8 +10 ' on h1 "$omx" perf h2 --sizes 8 -n 10 --peer-endpoint 9
  wait "$server"
  checks=$((checks + 1))
  if ! grep -q 'served client 02:4f:4d:58:00:01' "$server_output"; then
    failures=$((failures + 1))
    echo "FAILED: perf --once said: $(cat "$server_output")"
  fi
  server_stop
}

# Inside a host the other end of whoever goes away hears of it long before its patience ends.
killed_noticed() {
  local host=h2 perf wait
  for wait in "" --wait; do
    perf=("$omx" perf 02:4f:4d:58:00:02 --sizes 8,64K -n 100000000 --timeout 60 $wait)
    server_lost 'omx perf: (a message with .* failed|the peer .* has gone)' KILL "--timeout 60" \
      timeout 40 "$LAB" exec "$host" -- "${perf[@]}"

    server_start --timeout 60
    "$LAB" exec "$host" -- "${perf[@]}" >/dev/null 2>&1 &
    local client=$!
    sleep 0.7
    kill -9 $client
    wait $client 2>/dev/null
    expect 0 '^ +8 +10 ' timeout 20 "$LAB" exec "$host" -- "$omx" perf 02:4f:4d:58:00:02 --sizes 8 -n 10 --timeout 20
    server_stop
  done
}

# Two processes of one host.
test_local() {
  local perf=("$omx" perf 02:4f:4d:58:00:02 --verify -n 20 --sizes)
  # A client that got the server's endpoint itself does not talk to itself.
  expect 1 'nothing is open on endpoint 0 of 02:4f:4d:58:00:02' on h2 timeout 10 "${perf[@]}" 8
  expect 1 "endpoint 0 is this command's own.*--endpoint" on h2 timeout 10 "${perf[@]}" 8 -e 0
  server_start
  expect 0 '^ +3000000 +20 ' on h2 "${perf[@]}" 8,30000,70000,3000000
  # Counted where the server shows it before it sleeps.
  for _ in $(seq 50); do
    if on h2 "$omx" counters | grep -q 'Local One-Copy Reads'; then break; fi
    sleep 0.1
  done
  expect 0 ' [0-9]+ Local Frames Received$' on h2 "$omx" counters
  expect 0 ' [0-9]+ Local Frames Sent$' on h2 "$omx" counters
  expect 0 ' [0-9]{8} Local One-Copy Bytes$' on h2 "$omx" counters
  expect 0 ' 0 Local Frames Dropped, Nobody There$' on h2 "$omx" counters -v
  expect 0 '"Local One-Copy Reads": [0-9]+' on h2 "$omx" counters --json
  expect 0 '^ +3000000 +20 ' on h2 env OMX_LOCAL_DIRECT=0 "${perf[@]}" 3000000
  expect 0 '^ +200000 +20 ' on h2 env OMX_LOCAL_RNDV_THRESHOLD=1M "${perf[@]}" 200000
  expect 0 'one copy is cheaper for messages of more than [0-9]+ bytes \(32 KiB: ' on h2 env OMX_VERBOSE=1 "${perf[@]}" 8
  # Where a process has no number for the other one, it cannot read its memory.
  if on h2 unshare --pid --fork true 2>/dev/null; then
    expect 0 'warning: large messages .* take two copies.*--pid=host' on h2 unshare --pid --fork "${perf[@]}" 8,3000000
    expect 0 '^ +3000000 +20 ' on h2 unshare --pid --fork "${perf[@]}" 8,3000000
  else
    echo "no PID namespaces here: the test of refused memory is left out"
  fi
  server_stop
  killed_noticed
}

# Settings of h1's end of the cable, and never those of this machine: an interface is named each time.
test_tune() {
  local state delay
  local tune=("$omx" tune --state-dir)
  state=$(mktemp -d)
  on h1 sh -c 'echo 1 >/sys/class/net/eth0/queues/rx-0/rps_cpus; echo 2000000 >/sys/class/net/eth0/gro_flush_timeout'
  on h1 sh -c 'echo 9 >/sys/class/net/eth0/napi_defer_hard_irqs'
  tune_values >"$state/before"
  expect 0 '^eth0 \(veth' on h1 "$omx" check eth0
  expect 0 'could be better  RPS: rx-0 0*1$' on h1 "$omx" check eth0
  expect 0 '# echo 0 > /sys/class/net/eth0/gro_flush_timeout' on h1 "$omx" check eth0
  expect 0 '"subject": "interrupt deferral", "value": "napi_defer_hard_irqs 9,.*"tunable": true' \
    on h1 "$omx" check eth0 --json
  expect 0 '^this host:' on h1 "$omx" check
  expect 0 '^eth0 napi_defer_hard_irqs: 9 -> 0$' on h1 "$omx" tune --dry-run eth0
  expect 0 '^$' diff "$state/before" <(tune_values)
  if command -v setpriv >/dev/null; then
    expect 1 'omx tune: .* root only: sudo omx tune' on h1 setpriv --reuid=65534 --clear-groups "${tune[@]}" "$state" eth0
  fi
  expect 1 'cannot make /proc/nowhere.*--state-dir' on h1 "${tune[@]}" /proc/nowhere eth0
  expect 0 '^eth0 gro_flush_timeout: 2000000 -> 0$' on h1 "${tune[@]}" "$state" eth0
  expect 0 'gro_flush_timeout 0 ns' on h1 "$omx" check eth0
  expect 0 '^nothing to change$' on h1 "${tune[@]}" "$state" eth0
  expect 0 '^nothing to undo' on h2 "${tune[@]}" "$state" --undo
  expect 0 '^3 given back' on h1 "${tune[@]}" "$state" --undo
  expect 0 '^$' diff "$state/before" <(tune_values)
  expect 0 '^nothing to undo' on h1 "${tune[@]}" "$state" --undo
  # Killed at any moment, of the change and of the undo.
  for delay in 0.002 0.004 0.006 0.008 0.01 0.02; do
    on h1 timeout -s KILL "$delay" "${tune[@]}" "$state" eth0 >/dev/null 2>&1
    on h1 timeout -s KILL "$delay" "${tune[@]}" "$state" --undo >/dev/null 2>&1
    expect 0 '^(nothing to undo|[0-9]+ given back)' on h1 "${tune[@]}" "$state" --undo
    expect 0 '^$' diff "$state/before" <(tune_values)
  done
  rm -r "$state"
}

# RPS says where the frames of h2's end of the cable are handled. What a perf server is bound to is seen from outside.
test_binding() {
  local work bound special
  work=$(mktemp -d)
  chmod 755 "$work"
  ln -s "$omx" "$work/omx_prepare_binding"
  expect 0 'warning: eth0: it raises no interrupts' on h2 "$omx" prepare-binding -
  expect 0 '^# eth0 .*is not known$' on h2 "$omx" prepare-binding -
  expect 0 'which processor handles what arrives is not known' on h2 "$omx" info
  expect 0 'stay where they are \(OMX_PROCESS_BINDING=off' on h2 "$omx" info
  if [ "$(nproc)" -lt 2 ] || ! on h2 sh -c 'echo 2 >/sys/class/net/eth0/queues/rx-0/rps_cpus' 2>/dev/null; then
    echo "no RPS or no second processor here: the tests of binding are left out"
    rm -r "$work"
    return
  fi
  expect 0 'handled by processor 1 \(RPS of eth0 rx-0; 1 receive queue\)' on h2 "$omx" info
  expect 0 '^board 02:4f:4d:58:00:02 ep 0 irq - mask 2$' on h2 "$omx" prepare-binding -
  expect 0 "^Generated bindings in $work/file\$" on h2 "$work/omx_prepare_binding" "$work/file"
  expect 0 '^eth0 queue 0: RPS of eth0 rx-0, processor 1$' on h2 "$omx" prepare-binding -v "$work/file"
  expect 0 '^-rw-r--r-- ' ls -l "$work/file"
  ln -s "$work/victim" "$work/link"
  expect 0 'Generated' on h2 "$omx" prepare-binding "$work/link"
  expect 0 '^-rw-r--r-- ' ls -l "$work/link"
  expect 1 'cannot write /proc/nowhere.*or - for' on h2 "$omx" prepare-binding /proc/nowhere
  # What is no file stays what it is, and what a killed run left goes.
  mkfifo "$work/pipe"
  ln -sf pipe "$work/link"
  for special in pipe link ""; do
    expect 1 "^omx prepare-binding: $work/$special is not a regular file; give - for the standard output\$" \
      on h2 "$omx" prepare-binding "$work/$special"
  done
  expect 0 '^prw' ls -l "$work/pipe"
  echo old >"$work/file.new"
  expect 0 'Generated' on h2 "$omx" prepare-binding "$work/file"
  expect 2 'No such file' ls "$work/file.new"

  for bound in auto all:1 0,1 "file:$work/file"; do
    export OMX_PROCESS_BINDING=$bound
    # Of the list, endpoint 1 is there.
    if [ "$bound" = 0,1 ]; then server_start -e 1; else server_start; fi
    expect 0 'endpoint [01] open by pid [0-9]+ \(omx\), bound to processor 1$' on h2 "$omx" info
    expect 0 '^pid.*: 1$' taskset -cp "$server"
    server_stop
  done
  # What cannot be done is said once, and changes nothing.
  for bound in all:1000 file:/nowhere off; do
    export OMX_PROCESS_BINDING=$bound
    server_start
    expect 0 'endpoint 0 open by pid [0-9]+ \(omx\)$' on h2 "$omx" info
    if [ "$bound" != off ]; then
      expect 0 "warning: eth0 endpoint 0: this thread stays where it is, as OMX_PROCESS_BINDING=$bound" cat "$server_output"
    fi
    server_stop
  done
  # Who was bound stays, and others go beside it.
  export OMX_PROCESS_BINDING=auto
  server_start --cpu 0
  expect 0 'endpoint 0 open by pid [0-9]+ \(omx\), bound to processor 0$' on h2 "$omx" info
  server_stop
  unset OMX_PROCESS_BINDING
  rm -r "$work"
}

tune_values() {
  on h1 sh -c 'cd /sys/class/net/eth0 && cat queues/rx-0/rps_cpus gro_flush_timeout napi_defer_hard_irqs threaded'
}

# Damaged data must be told, and must not get through when frames have checksums.
test_damage() {
  local medium=39
  if ! "$LAB" fault h1 --corrupt 20 --seed 5 --type $medium >"$scratch" 2>&1; then
    echo "no faults here, the tests of damaged data are left out: $(tail -n 1 "$scratch")"
    return
  fi
  local perf=("$omx" perf h2 --verify --warmup 0 -n 30 --sizes 8000 --timeout 20)
  server_start
  expect 1 'omx perf: message [0-9]+ of 8000 bytes arrived damaged at (h2|this host): byte [0-9]+' on h1 "${perf[@]}"
  server_stop
  export OMX_CHECKSUM=1
  server_start
  expect 0 '^ +8000 +30 ' on h1 "${perf[@]}"
  expect 0 'Drop Bad Checksum' on h2 "$omx" counters
  server_stop
  unset OMX_CHECKSUM
  "$LAB" fault h1 --clear
}

case $part in
  plain) test_plain ;;
  lab) exec "$folder/../../lab/lab" run --hosts 2 --mtu 9000 -- "$self" inside "$omx" ;;
  inside)
    scratch=$(mktemp)
    trap 'rm -f "$scratch"' EXIT
    test_info
    test_privileges
    test_setuid
    test_nobody_there
    test_perf
    test_local
    test_tune
    test_binding
    test_damage
    ;;
esac
finish
