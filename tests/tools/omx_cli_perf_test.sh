#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# omx_cli_perf_test.sh lab OMX: tests `omx perf` between two hosts and inside one, and the counters that it
# leaves.
set -uo pipefail
part=$1
omx=$(realpath "$2")
self=$(realpath "$0")
# shellcheck source=tests/tools/cli.sh
. "$(dirname "$self")/cli.sh"

test_perf() {
  server_start --timeout 5
  local mac=02:4f:4d:58:00:02
  expect 0 '^02:4f:4d:58:00:02 h2:0 \(told by the network\)' on h1 "$omx" peers --discover
  expect 0 '^ +1000003 +20 ' on h1 "$omx" perf h2 --verify -n 20 --sizes 0:64K,1000003
  # Uses an IP address that is not in the kernel's table of neighbours yet, and a name that only the resolver
  # knows.
  on h1 ip neigh flush all
  expect 0 '^ +8 +10 ' on h1 "$omx" perf 10.77.0.2 --sizes 8 -n 10
  expect 1 'no host answered for "10.77.0.9" on eth0 within 100 ms' \
    on h1 env OMX_DISCOVERY_MS=100 "$omx" perf 10.77.0.9
  expect 1 '"10.99.0.9" is in no network of this host.*OMX_LINK=udp' on h1 "$omx" perf 10.99.0.9
  expect 0 '^ +8 +10 ' on h1 env OMX_DISCOVERY_MS=0 "$omx" perf h2 --sizes 8 -n 10
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
  expect 0 ' 0 Peer Given Up$' on h2 "$omx" counters -v -b 0 -e 0
  expect 0 '"Recv Medium Frag": [0-9]+' on h2 "$omx" counters --json

  # A hello without bytes is refused as it is, and not read as that of the client before.
  expect 0 '^heard$' on h1 "$(dirname "$omx")/../tests/tools/omx_perf_stranger" h2
  expect 0 '^ +8 +10 ' on h1 "$omx" perf h2 --sizes 8 -n 10
  expect 0 'its omx perf speaks dialogue 0 only' cat "$server_output"

  # A client that ends in the middle must not keep the server from serving the next one.
  on h1 timeout 0.5 "$omx" perf h2 --sizes 64K -n 100000000 >/dev/null 2>&1
  expect 0 '^ +8 +10 ' on h1 "$omx" perf h2 --sizes 8 -n 10 --timeout 30
  server_stop

  # A server that ends must not block its client. With it the last process that could answer for its host is
  # gone.
  server_lost 'omx perf: E[0-9]+: (a message with|the peer was silent)' TERM "" \
    on h1 "$omx" perf h2 --sizes 64K -n 100000000 --timeout 3

  server_start
  # The time of a size is limited, and omx perf says so when it was too short.
  expect 0 'fewer than --iterations messages, .*: 8 bytes: [0-9]+ of 100000000$' on h1 "$omx" perf h2 --sizes 8 -n 100000000 --max-time 0.2
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

# A setting that differs between hosts costs speed and is reported.
test_modes() {
  local peer=(env OMX_WIRE_MODE=mxoe "$omx" perf h2 --sizes 8 -n 10)
  server_start
  expect 0 'warning: E[0-9]+: eth0: host h2 .*endpoint 0 has OMX_WIRE_MODE=omx, and this process mxoe:.*give both the same' on h1 "${peer[@]}"
  server_stop
  OMX_WIRE_MODE=mxoe server_start
  expect 0 'warning: E[0-9]+: eth0: host h2 .*endpoint 0 has OMX_WIRE_MODE=mxoe, and this process omx:' on h1 "$omx" perf h2 --sizes 8 -n 10
  expect 1 '^0$' on h1 sh -c '"$@" 2>&1 | grep -c "give both"' - "${peer[@]}"
  server_stop
}

# What is measured beside the default figures, and where it goes.
test_results() {
  local folder
  folder=$(mktemp -d)
  server_start
  local perf=(on h1 "$omx" perf h2 --sizes 8,4K)
  expect 0 '^ +bytes +messages +min us +p25 us +p99.9 us +max us ' "${perf[@]}" -n 50 --percentiles 25,99.9
  expect 0 '^test,size,.*,million_per_s,p99_us$' "${perf[@]}" -n 50 --percentiles 99 --csv
  expect 0 '"percentiles_us": {"25": [0-9.]+, "99.9": [0-9.]+}' "${perf[@]}" -n 50 --percentiles 25,99.9 --json
  expect 0 '^ +[0-9.]+ to +[0-9.]+ us +[0-9]+ +[0-9.]+ %' "${perf[@]}" -n 50 --histogram
  expect 0 '"histogram": \[{"from_us": ' "${perf[@]}" -n 50 --histogram --json
  expect 0 '^  0.00 to 0.[0-9]+ s: 8 bytes, [0-9]+ messages, .* M msg/s, .* MB/s, p50 .* us, p99 .* us$' \
    "${perf[@]}" -n 1 --min-time 0.3 --interval 0.1
  expect 0 '"intervals": \[{"from_s": 0.0000, .*"to_s".*{"from_s": 0.[1-9]' "${perf[@]}" -n 1 --min-time 0.3 --interval 0.1 --json
  expect 0 '^  0.00 to [0-9.]+ s: 8 bytes, [0-9]+ messages, .* M msg/s, [0-9.]+ MB/s$' on h1 "$omx" perf h2 -t rate -n 100 --interval 1
  # Cycles are told only where the kernel counts them.
  expect 0 'cpu here +there cyc/B here +there$' "${perf[@]}" -n 50 --usage
  expect 0 '"there": {"bytes": [1-9][0-9]*, "scope": "process", "user_us": .*("cycles": [1-9]|"cycles_missing": ".)' "${perf[@]}" -n 50 --json
  expect 0 '^cycles there: not available: .+|^ +4096 .* [0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$' "${perf[@]}" -n 50 --usage

  expect 0 '^ +3 +4096 +50 ' "${perf[@]}" -n 50 --repeat 3 --output "$folder/first.json"
  expect 0 '^test,.*,repeat$' "${perf[@]}" -n 50 --repeat 3 --csv -o "$folder/second.json"
  expect 0 '^ +4096 .*(better|worse|within noise)$' "$omx" perf --compare "$folder/first.json" "$folder/second.json"
  expect 0 'Chance alone .* 3 and 3 repeats' "$omx" perf --compare "$folder/first.json" "$folder/second.json"
  expect 0 '^ +8 .* \+0.0 % +within noise$' "$omx" perf --compare "$folder/first.json" "$folder/first.json"
  expect 0 'saved' on h1 sh -c '"$@" >"$0" && echo saved' "$folder/once.json" "$omx" perf h2 --sizes 8 -n 5 --wait --json
  expect 0 'measured differently: .*not blocking.*; then .* blocking' "$omx" perf --compare "$folder/first.json" "$folder/once.json"
  expect 0 'noise unknown: fewer than 3 repeats' "$omx" perf --compare "$folder/once.json" "$folder/once.json"
  expect 1 'cannot write .*/none/x: No such file' "${perf[@]}" -n 50 --output "$folder/none/x"
  if command -v gnuplot >/dev/null; then
    expect 0 '^ +4096 ' "${perf[@]}" -n 50 --plot "$folder/plot.svg"
    expect 0 'half round trip' cat "$folder/plot.svg"
    expect 0 '</svg>' cat "$folder/plot.svg"
    expect 0 '^ +4096 ' on h1 "$omx" perf h2 -t stream --sizes 4K -n 64 --plot "$folder/plot.svg"
    expect 0 '</svg>' cat "$folder/plot.svg"
  else
    echo "gnuplot is missing, so no plot is drawn: apt-get install gnuplot-nox"
  fi
  expect 1 '--plot needs gnuplot, which is missing' on h1 env PATH=/nonexistent "$omx" perf h2 --plot "$folder/plot.svg"
  server_stop
  rm -rf "$folder"
}

# Threads, and groups of several members.
test_patterns() {
  server_start --threads 2
  expect 0 '^ +65536 +40 ' on h1 "$omx" perf h2 --verify --threads 2 -n 20 --sizes 8,64K
  expect 0 '^ +65536 +128 ' on h1 "$omx" perf h2 -t stream --verify --threads 2 -n 64 --sizes 64K --wait
  expect 1 'does the server have --threads 3, too' on h1 "$omx" perf h2 --threads 3 --sizes 8 -n 10
  # Two send to one, by each class of messages. The threads of the other host are two members.
  expect 0 '^incast, stream: 3 members' on h1 "$omx" perf h2 --pattern incast --threads 2 --sizes 8 -n 10
  expect 0 '^ +300000 +40 ' on h1 "$omx" perf h2 --pattern incast --threads 2 --verify --sizes 0,8,100,20000,300000 -n 20
  expect 0 '^ +300000 +40 ' on h1 "$omx" perf h2 --pattern incast --threads 2 --verify --wait --sync --sizes 8,300000 -n 20
  expect 0 '"pattern": "incast".*"slowest_mb_per_s"' on h1 "$omx" perf h2 --pattern incast -t rate --threads 2 -n 100 --json
  # Four members have twelve pairs.
  expect 0 '^ +300000 +240 ' on h1 "$omx" perf h2 --pattern all-pairs --threads 2 --verify --sizes 0,8,100,20000,300000 -n 20
  expect 0 '^ +300000 +240 ' on h1 "$omx" perf h2 --pattern all-pairs --threads 2 --verify --wait --sizes 8,300000 -n 20 -w 3
  expect 1 'endpoint 0 of h2 is named twice' on h1 "$omx" perf h2 h2 --pattern incast --sizes 8 -n 10
  server_stop
  # Processes of two hosts.
  server_start
  local second
  "$LAB" exec h1 -- "$omx" perf --once -e 7 >"$scratch" 2>&1 &
  second=$!
  until grep -q waiting "$scratch" || ! kill -0 $second; do sleep 0.1; done
  expect 1 'nothing is open on endpoint 7 of h2' on h1 "$omx" perf h2 --pattern incast --peer-endpoint 7 --sizes 8 -n 10
  server_stop
  server_start -e 7
  expect 0 '^ +20000 +60 ' on h1 "$omx" perf h1 h2 --pattern all-pairs --peer-endpoint 7 --verify --sizes 8,20000 -n 10
  wait $second
  expect 0 'served client' cat "$scratch"
  # A member that ends must not block the others.
  server_stop
  server_lost 'omx perf: E[0-9]+: (a message with|nothing was sent or received|the peer)' TERM "-e 7" \
    on h1 "$omx" perf h2 --pattern incast --peer-endpoint 7 --sizes 64K -n 100000000 --timeout 3
}

# Inside a host, the peer of a killed process must notice that long before its time-out.
killed_noticed() {
  local host=h2 perf wait
  for wait in "" --wait; do
    perf=("$omx" perf 02:4f:4d:58:00:02 --sizes 8,64K -n 100000000 --timeout 60 $wait)
    server_lost 'omx perf: E[0-9]+: (a message with .* failed|the peer .* has gone)' KILL "--timeout 60" \
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

# A server that has lost its client opens its endpoint again, and connects are refused meanwhile. A client that
# comes then must wait for the server, as one does that comes before its server.
early_client() {
  local script='
    "$0" perf 02:4f:4d:58:00:02 -e 5 --sizes 8 -n 10 &
    client=$!
    until grep -q "omx/.*/5$" /proc/net/unix || ! kill -0 $client; do :; done
    "$0" perf >/dev/null 2>&1 &
    wait $client
    status=$?
    kill $!
    exit $status'
  expect 0 '^ +8 +10 ' timeout 60 "$LAB" exec h2 -- bash -c "$script" "$omx"
}

# Tests two processes of one host.
test_local() {
  local perf=("$omx" perf 02:4f:4d:58:00:02 --verify -n 20 --sizes)
  # A client that got the server's endpoint must not talk to itself.
  expect 1 'nothing is open on endpoint 0 of 02:4f:4d:58:00:02' on h2 timeout 10 "${perf[@]}" 8
  expect 1 "endpoint 0 is this command's own.*--endpoint" on h2 timeout 10 "${perf[@]}" 8 -e 0
  server_start
  expect 0 '^ +3000000 +20 ' on h2 "${perf[@]}" 8,30000,70000,3000000
  # The server publishes its counters before it sleeps.
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
  expect 0 'one copy is cheaper for messages of more than [0-9]+ bytes \(32 KiB: ' on h2 env OMX_VERBOSE=2 "${perf[@]}" 8
  # In another PID namespace a process cannot read the other one's memory.
  if on h2 unshare --pid --fork true 2>/dev/null; then
    expect 0 'warning: E[0-9]+: large messages .* take two copies.*--pid=host' on h2 unshare --pid --fork "${perf[@]}" 8,3000000
    expect 0 '^ +3000000 +20 ' on h2 unshare --pid --fork "${perf[@]}" 8,3000000
  else
    echo "no PID namespaces here: the test of refused memory is left out"
  fi
  server_stop
  early_client
  killed_noticed
}

# Damaged data must be reported. With checksums they must not arrive.
test_damage() {
  local medium=39
  if ! "$LAB" fault h1 --corrupt 20 --seed 5 --type $medium >"$scratch" 2>&1; then
    echo "no faults are possible here, so the tests of damaged data are left out: $(tail -n 1 "$scratch")"
    return
  fi
  local perf=("$omx" perf h2 --verify --warmup 0 -n 30 --sizes 8000 --timeout 20)
  server_start
  expect 1 'omx perf: E[0-9]+: message [0-9]+ of 8000 bytes arrived damaged at (h2|this host): byte [0-9]+' on h1 "${perf[@]}"
  server_stop
  export OMX_CHECKSUM=1
  server_start
  expect 0 '^ +8000 +30 ' on h1 "${perf[@]}"
  expect 0 'Drop Bad Checksum' on h2 "$omx" counters
  server_stop
  unset OMX_CHECKSUM
  "$LAB" fault h1 --clear
}

in_lab "$self" test_perf test_results test_patterns test_local test_modes test_damage
