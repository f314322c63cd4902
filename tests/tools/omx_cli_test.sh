#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# omx_cli_test.sh plain|lab OMX: tests what the omx command prints and returns: `omx info`, privileges, names.
set -uo pipefail
part=$1
omx=$(realpath "$2")
self=$(realpath "$0")
# shellcheck source=tests/tools/cli.sh
. "$(dirname "$self")/cli.sh"

test_plain() {
  expect 0 '^omx \(Open-MX\) [0-9]+\.[0-9]+' "$omx" --version
  expect 0 'Usage: omx' "$omx" help
  expect 0 'Usage: omx' "$omx" --help
  local command
  for command in info perf counters top dump peers check tune prepare-binding steer capture run help; do
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
  expect 2 'pid: Value 0 not in range (1 to 4194304|\[1 - 4194304\]); ' "$omx" dump 0
  expect 2 '--count: Value 0 not in range (1 to 1000000000|\[1 - 1000000000\]); ' "$omx" top -n 0
  for command in capture counters info top; do
    expect 2 '--board: Value -1 not in range (0 to 255|\[0 - 255\]); ' "$omx" "$command" --board=-1
  done
  expect 2 '--sizes requires peer' "$omx" perf --sizes 8
  expect 2 'peer excludes --once|--once excludes peer' "$omx" perf host --once
  expect 2 'frobnicate' "$omx" perf host --test frobnicate
  expect 2 '--json' "$omx" perf host --json --csv
  local option percentiles
  for option in '--percentiles 50' --histogram '--interval 1' --usage '--repeat 2' '--output x' '--plot x' '--pattern incast'; do
    # shellcheck disable=SC2086  # an option and its value
    expect 2 'requires peer' "$omx" perf $option
  done
  for percentiles in 0 101 50, x; do
    expect 2 'not a list of percentages' "$omx" perf host "--percentiles=$percentiles"
  done
  expect 2 '--percentiles and --histogram are of round trips, which --test stream does not have' "$omx" perf host -t stream --histogram
  expect 2 '--pattern incast measures --test stream or rate, not pingpong' "$omx" perf host --pattern incast -t pingpong
  expect 2 'the pattern pairs has one peer, not 2' "$omx" perf host other
  expect 2 'ring' "$omx" perf host --pattern ring
  expect 2 '2 threads need endpoints beyond 255' "$omx" perf host --threads 2 --peer-endpoint 255
  expect 2 '--compare' "$omx" perf --compare one
  expect 2 '--compare' "$omx" perf host --compare one two
  expect 1 'cannot read /nonexistent: No such file' "$omx" perf --compare /nonexistent /nonexistent
  expect 1 '/dev/null is no JSON document' "$omx" perf --compare /dev/null /dev/null
  expect 1 'cannot read /proc: Is a directory' "$omx" perf --compare /proc /proc
  local sizes
  for sizes in x "8,," "," 8:4 1Q 4G -1 1:2:3 9999999999999999999999; do
    expect 2 'list of sizes|required' "$omx" perf host "--sizes=$sizes"
  done

  expect 2 '--undo' "$omx" tune --undo --dry-run
  expect 2 '--undo' "$omx" tune --undo lo
  expect 1 'omx check: E[0-9]+: the command line names nonesuch.*there are:.*lo' "$omx" check nonesuch
  expect 1 'omx tune: E[0-9]+: the command line names nonesuch' "$omx" tune --dry-run nonesuch

  expect 2 'no command "pref" .did you mean "perf"' "$omx" pref
  expect 2 'no command "pref" .did you mean "perf"' "$omx" help pref
  expect 2 'requires interface' "$omx" steer --cpus 0
  expect 2 '--show|--off' "$omx" steer lo --show --off
  expect 2 '--off' "$omx" steer lo --off --map 0:0
  expect 2 '--json requires --show' "$omx" steer --json
  expect 2 '--mode' "$omx" steer lo --mode fast
  expect 2 '--watch requires --show' "$omx" steer lo --watch 1
  expect 2 '--watch requires interface' "$omx" steer --show --watch 1
  expect 2 '--watch' "$omx" steer lo --show --watch 0
  expect 2 '--flows requires interface' "$omx" steer --flows
  expect 2 '--endpoints requires --flows' "$omx" steer lo --endpoints 2
  expect 2 '--endpoints' "$omx" steer lo --flows --endpoints 257
  expect 2 'excludes' "$omx" steer lo --flows --mode native
  expect 1 'omx steer: E[0-9]+: lo takes no flow rules' "$omx" steer lo --flows
  expect 1 'omx steer: E[0-9]+: there is no interface "nonesuch"; there are:.*lo' "$omx" steer nonesuch --flows
  expect 2 '^omx: E901: pid is required; omx help dump shows what is accepted$' "$omx" dump
  expect 2 '^omx: E901: .*; omx help perf shows what is accepted$' "$omx" perf --no-such-option
  expect 2 '^omx: E901: .*; omx help shows what is accepted$' "$omx" --no-such-option
  expect 2 '^omx: E901: there is no command "dmup".*; omx help shows what is accepted$' "$omx" dmup
  expect 2 'omx: E901: interface: it must not be empty' "$omx" steer "" --off
  expect 2 'omx: E901: interface: it must not be empty' "$omx" steer ""
  expect 2 'omx: E901: --cpus: it must not be empty' "$omx" steer lo --cpus ""
  expect 2 'omx: E901: --map: it must not be empty' "$omx" steer lo --map ""
  expect 1 'omx steer: E[0-9]+: (--map "x" is not ENDPOINT:PROCESSOR|this build has no XDP program)' "$omx" steer lo --map x

  expect 2 '--snap-length' "$omx" capture -s 59
  expect 2 '--count' "$omx" capture -c 0
  expect 2 'excludes' "$omx" capture -b 0 -i lo
  expect 2 '--write: it must not be empty' "$omx" capture -w ""

  expect 2 'omx run: E[0-9]+: name a program' "$omx" run
  expect 1 'omx run: E[0-9]+: cannot start /nonexistent: No such file' "$omx" run -- /nonexistent
  expect 2 'file: it must not be empty; - is' "$omx" prepare-binding ""

  # Settings are checked before anything else, so these tests need no network.
  expect 1 'omx info: .*OMX_SPIN_US="soon".*whole number' env OMX_SPIN_US=soon "$omx" info
  expect 1 'omx info: E[0-9]+: OMX_INTERFACES names nonesuch.*there are:.*lo' env OMX_INTERFACES=nonesuch "$omx" info
  expect 1 'omx perf: E[0-9]+: OMX_INTERFACES names nonesuch' env OMX_INTERFACES=nonesuch "$omx" perf
  expect 1 'omx counters: E[0-9]+: OMX_INTERFACES names nonesuch' env OMX_INTERFACES=nonesuch "$omx" counters
  expect 1 'omx info: E[0-9]+: OMX_PROCESS_BINDING="all".*give off, auto, all:N' env OMX_PROCESS_BINDING=all "$omx" info
  expect 0 '^OMX_PROCESS_BINDING=off$' "$omx" info --settings
  expect 0 '^OMX_PROCESS_BINDING=2-4,9$' env OMX_PROCESS_BINDING=2,3,4,9 "$omx" info --settings
  expect 1 'omx prepare-binding: E[0-9]+: OMX_INTERFACES names nonesuch' env OMX_INTERFACES=nonesuch "$omx" prepare-binding -
  expect 0 '^OMX_SPIN_US=7$' env OMX_SPIN_US=7 "$omx" info --settings
  expect 0 '"variable": "OMX_SPIN_US", "value": "7"' env OMX_SPIN_US=7 "$omx" info --settings --json

  expect 0 'warning: E[0-9]+: OMX_SPINUS is not a setting; did you mean OMX_SPIN_US' env OMX_SPINUS=7 "$omx" info --settings
  expect 0 'warning: E[0-9]+: MX_ZOMBIE="few".*whole number' env MX_ZOMBIE=few "$omx" info --settings
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

  # Messages by number, by words and by a whole line.
  expect 0 '^E401: a peer is silent$' "$omx" explain E401
  expect 0 '^E401: a peer is silent$' "$omx" explain 401
  expect 0 '^  remedy: ' "$omx" explain e401
  expect 0 '^  E310  no answer from a peer$' "$omx" explain "no answer"
  expect 0 '^E137: ' "$omx" explain LOG file cannot be written
  expect 0 '^E402: a peer is back$' "$omx" explain "OMX: warning: E402: eth0: host h2, endpoint 0 is back after 12 s"
  expect 0 '^E402: a peer is back$' "$omx" explain "OMX: warning: eth0: host h2, endpoint 0 is back after 12 s"
  expect 0 '^  E930  ' "$omx" explain
  expect 0 '"id": "E401"' "$omx" explain --json 401
  expect 1 'omx explain: E901: there is no message E999; omx explain lists all' "$omx" explain E999
  expect 1 'omx explain: E901: there is no message E999; omx explain lists all' "$omx" explain E999:
  expect 1 'omx explain: E901: no message has the words "grue"' "$omx" explain grue
  expect 1 'omx explain: E901: no message has the words' "$omx" explain "OMX: warning: e1: grue"
  expect 2 '^omx explain: E901: --markdown writes all messages' "$omx" explain --markdown E401

  # Output that is lost is no success, however small it is.
  local command
  for command in explain 'explain E401' --version --help 'help info' 'info --settings' 'info --settings --json' 'counters --explain'; do
    expect 1 '^omx( [a-z]+)?: E902: cannot write: (No space left on device|a part of the output is lost)$' bash -c "'$omx' $command >/dev/full"
  done

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

# Who copies a message of each size at the receiver.
test_protocols() {
  local placed='copied by the kernel, into its place: ' copied='copied by the processor: '
  expect 0 "^ +16384 B  medium, at once: 2 frames; ${copied}up to OMX_RNDV_THRESHOLD=32768\$" on h1 "$omx" info --protocols
  expect 0 "^ +32768 B  medium, at once: one GSO frame by UDP, or frames in one GSO batch; $copied" on h1 "$omx" info --protocols
  # This one is longer than a batch: its last frame says where the others belong.
  local long='^ +65536 B  medium, at once: 8 frames in 1 GSO batch by UDP and one alone; '
  expect 0 "${long}copied by the kernel, or processor: .*; the kernel places what is read after the last frame has come\$" on h1 "$omx" info --protocols
  expect 0 '"bytes": 65536, .*"copied_by": "kernel, or processor"' on h1 "$omx" info --protocols --json
  expect 0 "^ +131072 B  rendezvous, pulled in GSO batches of up to 7 frames by UDP; $placed" on h1 "$omx" info --protocols
  expect 0 "$long$copied" on h1 env OMX_CHECKSUM=1 "$omx" info --protocols
  expect 0 "^ +131072 B  rendezvous, .*; $copied.*; frames are verified before they are copied" on h1 env OMX_CHECKSUM=1 "$omx" info --protocols
  expect 0 '^ +65536 B  rendezvous, pulled in blocks .*copied by the kernel, or processor from the ring: ' on h1 env OMX_UDP_BULK=0 "$omx" info --protocols
  expect 0 "^ +65536 B  rendezvous, pulled in GSO batches .*; $placed" on h1 env OMX_LINK=udp "$omx" info --protocols
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
  expect 0 'larger: (one copy|two copies), because processes may' on h1 "$omx" info
  expect 0 'larger: two copies, because OMX_LOCAL_DIRECT=0' on h1 env OMX_LOCAL_DIRECT=0 "$omx" info
  expect 0 'up to 70000 bytes: at once .*OMX_LOCAL_RNDV_THRESHOLD=70000' on h1 env OMX_LOCAL_RNDV_THRESHOLD=70000 "$omx" info
  expect 0 'by the cable, as between hosts' on h1 env OMX_LOCAL=0 "$omx" info
  expect 0 'OMX_PROGRESS=auto' on h1 "$omx" info
  expect 0 '"progress": \{"mode": "off"' on h1 env OMX_PROGRESS=off "$omx" info --json
  expect 0 '^  cpu: memcpy' on h1 "$omx" info
  expect 0 '^  thread: not available: .*one processor only' on h1 taskset -c 0 "$omx" info
  expect 0 '^  dsa: (Intel DSA, /dev/dsa/|not available: .)' on h1 "$omx" info
  expect 0 '"copy_engines": \[\{"name": "cpu", "available": true' on h1 "$omx" info --json
  test_protocols
  test_info_provider
  if command -v python3 >/dev/null; then
    on h1 "$omx" info --json >"$scratch"
    expect 0 '"boards"' python3 -m json.tool "$scratch"
  fi

  on h1 ip link set dev eth0 mtu 1000
  expect 0 'warning: E[0-9]+: eth0 has an MTU of 1000.*ip link set dev eth0 mtu 1500' on h1 "$omx" info
  on h1 ip link set dev eth0 down
  expect 1 'warning: E[0-9]+: no usable Ethernet interface.*eth0: down' on h1 "$omx" info
  expect 1 'omx perf: E[0-9]+: no usable Ethernet interface' on h1 "$omx" perf
  expect 0 'warning: E[0-9]+: eth0 is down: ip link set dev eth0 up' on h1 env OMX_INTERFACES=eth0 "$omx" info
  on h1 ip link set dev eth0 mtu 9000 up
}

test_privileges() {
  # Runs as root without CAP_NET_RAW. This works in an ordinary user's lab, too.
  local by_udp=(setpriv --bounding-set=-net_raw --inh-caps=-net_raw)
  local without=(env OMX_LINK=ethernet "${by_udp[@]}")
  if ! on h1 "${without[@]}" true 2>/dev/null; then
    echo "no setpriv here: the tests without privileges are left out"
    return
  fi
  expect 0 'messages go by UDP over IPv4 \(OMX_LINK=auto\)' on h1 "${by_udp[@]}" "$omx" info
  expect 0 '"link": "udp"' on h1 "${by_udp[@]}" "$omx" info --json
  expect 0 'addr 0a:55:0a:4d:00:01, by UDP' on h1 env OMX_LINK=udp "$omx" info
  expect 1 'nothing is open on endpoint 0 of h2 \(10.77.0.2\): nothing there has UDP port 27200 open.*start "omx perf"' on h1 "${by_udp[@]}" "$omx" perf h2 --timeout 1
  expect 1 'no answer from 10.77.0.99 within 1 s: .*UDP ports 27200 to 27711' on h1 "${by_udp[@]}" "$omx" perf 10.77.0.99 --timeout 1
  expect 1 '"nonesuch" has no IPv4 address that the resolver knows' on h1 "${by_udp[@]}" "$omx" perf nonesuch
  expect 1 'by UDP' on h1 "${by_udp[@]}" "$omx" peers --discover
  expect 1 'OMX_LINK.*auto, ethernet .*udp' on h1 env OMX_LINK=tcp "$omx" info
  expect 0 'no endpoint can be opened: OMX_LINK=ethernet needs packet sockets' on h1 "${without[@]}" "$omx" info
  expect 1 '' on h1 sh -c '"$@" | grep -E "messages go by|one frame"' - "${without[@]}" "$omx" info
  expect 0 'warning: .*OMX_LINK=udp, on all hosts' on h1 "${without[@]}" "$omx" info
  expect 0 '"no_endpoint_because": "OMX_LINK=ethernet needs packet sockets"' on h1 "${without[@]}" "$omx" info --json
  expect 0 '"no_endpoint_because": ""' on h1 "$omx" info --json
  expect 0 'warning: .*setcap cap_net_raw' on h1 "${without[@]}" "$omx" info
  expect 0 '"packet_sockets_allowed": false' on h1 "${without[@]}" "$omx" info --json
  expect 1 'omx perf: .*setcap cap_net_raw' on h1 "${without[@]}" "$omx" perf
  expect 1 'omx perf: .*setcap cap_net_raw.*systemctl start omxd.socket.*OMX_LINK=udp' on h1 "${without[@]}" "$omx" perf h2
  expect 1 'omx peers: .*CAP_NET_RAW' on h1 "${without[@]}" "$omx" peers --discover
  expect 0 'no endpoint is open' on h1 "${without[@]}" "$omx" counters
}

# A program with more privileges than its caller must not read files that the caller names.
test_setuid() {
  local work become=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  work=$(mktemp -d)
  chmod 755 "$work"
  install -m 4755 "$(command -v id)" "$work/id"
  if [ "$("${become[@]}" "$work/id" -u 2>/dev/null)" != 0 ]; then
    echo "no program can be setuid here: the tests of setuid programs are left out"
  else
    install -m 4755 "$omx" "$work/omx"
    echo 'a secret' >"$work/file"
    chmod 600 "$work/file"
    local start=("${become[@]}" env "OMX_CONFIG=$work/file" "OMX_PEERS_FILE=$work/file" "$work/omx" info --settings)
    expect 0 'warning: E[0-9]+: OMX_CONFIG has no effect in a program with privileges' "${start[@]}"
    expect 0 'warning: E[0-9]+: OMX_PEERS_FILE has no effect in a program with privileges' "${start[@]}"
    expect 0 '^OMX_PEERS_FILE=$' "${start[@]}"
    expect 1 '^omx bugreport: E[0-9]+: .* must not get the rights of a setuid program' "${become[@]}" "$work/omx" bugreport
    start=("${become[@]}" env "OMX_PROCESS_BINDING=file:$work/file" "$work/omx" info --settings)
    expect 0 'warning: E[0-9]+: OMX_PROCESS_BINDING has no effect in a program with privileges' "${start[@]}"
    expect 0 '^OMX_PROCESS_BINDING=off$' "${start[@]}"
    # libhwloc would load plugins that the caller's environment names.
    expect 0 'warning: E[0-9]+: which processors share caches is not known: programs with privileges' \
      "${become[@]}" "$work/omx" prepare-binding -
  fi
  rm -rf "$work"
}

test_nobody_there() {
  expect 1 'omx perf: E[0-9]+: "nonesuch" is not in the table of peers.*OMX_DISCOVERY_MS.*MAC address' on h1 env OMX_DISCOVERY_MS=200 "$omx" perf nonesuch
  expect 1 'omx perf: E[0-9]+: no answer from 02:4f:4d:58:00:02 within 1 s' on h1 "$omx" perf 02:4f:4d:58:00:02 --timeout 1
  expect 1 'omx perf: E[0-9]+: there is no board 1' on h1 "$omx" perf -b 1 h2
  expect 0 'no endpoint is open' on h1 "$omx" counters
  expect 0 '"endpoints": \[\]' on h1 "$omx" counters --json
  expect 1 'endpoint 5 is not open' on h1 "$omx" counters -e 5
  expect 1 'OMX_PEERS:1: "zz" is not a MAC' on h1 env OMX_PEERS='zz h2' "$omx" peers
  expect 0 '^02:00:00:00:00:09 nine \(configured\)' on h1 env OMX_PEERS='02:00:00:00:00:09 nine' "$omx" peers
  expect 0 'omx peers --discover asks the network' on h1 "$omx" peers
  expect 0 'no other host answered within 50 ms' on h1 env OMX_DISCOVERY_MS=50 "$omx" peers --discover
}

# Tests the reasons for an unreached peer: no program, another link, another user.
test_reasons() {
  local other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  expect 1 'no answer from h2 \(02:4f:4d:58:00:02\) within 1 s: 10.77.0.2 is up, but no program with Open-MX answers there' \
    on h1 "$omx" perf h2 --timeout 1
  OMX_LINK=udp server_start
  expect 1 '10.77.0.2 .*UDP port 27200 there is not closed, so one may run that goes by UDP: set OMX_LINK=udp on both' \
    on h1 "$omx" perf h2 --timeout 1
  server_stop
  server_start
  # A silent peer is reported after 5 s. The other checks run meanwhile.
  local silent said
  said=$(mktemp)
  on h2 "${other[@]}" "$omx" perf h2 --timeout 6 >"$said" 2>&1 </dev/null &
  silent=$!
  expect 1 'nothing is open on endpoint 0 of h2 \(10.77.0.2\): programs there go by raw frames, and this process by UDP \(OMX_LINK=udp\)' \
    on h1 env OMX_LINK=udp "$omx" perf h2 --timeout 1
  if on h2 "${other[@]}" "$omx" --version >/dev/null 2>&1; then
    expect 1 'endpoint 0 of this host belongs to process [0-9]+ \(omx\) of user 0, and this process to user 65534' \
      on h2 "${other[@]}" "$omx" perf h2 --timeout 1
    wait "$silent"
    expect 0 'belongs to process' cat "$said"
    expect 1 '^0$' grep -c firewalls "$said"
  else
    wait "$silent"
    echo "no other user here: the tests of processes of several users are left out"
  fi
  rm -f "$said"
  server_stop
}

if [ "$part" = plain ]; then
  test_plain
  finish
else
  in_lab "$self" test_info test_privileges test_setuid test_nobody_there test_reasons
fi
