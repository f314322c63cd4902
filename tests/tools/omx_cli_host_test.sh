#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# omx_cli_host_test.sh lab OMX: tests `omx check`, `omx tune`, `omx prepare-binding` and OMX_PROCESS_BINDING.
set -uo pipefail
part=$1
omx=$(realpath "$2")
self=$(realpath "$0")
# shellcheck source=tests/tools/cli.sh
. "$(dirname "$self")/cli.sh"

# Changes settings of h1's end of the cable, and never those of this machine: each command names an interface.
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
    expect 1 'omx tune: E[0-9]+: only root may .*: sudo omx tune' on h1 setpriv --reuid=65534 --clear-groups "${tune[@]}" "$state" eth0
  fi
  expect 1 'cannot make /proc/nowhere.*--state-dir' on h1 "${tune[@]}" /proc/nowhere eth0
  expect 0 '^eth0 gro_flush_timeout: 2000000 -> 0$' on h1 "${tune[@]}" "$state" eth0
  expect 0 'gro_flush_timeout 0 ns' on h1 "$omx" check eth0
  expect 0 '^nothing to change$' on h1 "${tune[@]}" "$state" eth0
  expect 0 '^nothing to undo' on h2 "${tune[@]}" "$state" --undo
  expect 0 '^3 restored' on h1 "${tune[@]}" "$state" --undo
  expect 0 '^$' diff "$state/before" <(tune_values)
  expect 0 '^nothing to undo' on h1 "${tune[@]}" "$state" --undo
  # Kills the command at any moment of the change and of the undo.
  for delay in 0.002 0.004 0.006 0.008 0.01 0.02; do
    on h1 timeout -s KILL "$delay" "${tune[@]}" "$state" eth0 >/dev/null 2>&1
    on h1 timeout -s KILL "$delay" "${tune[@]}" "$state" --undo >/dev/null 2>&1
    expect 0 '^(nothing to undo|[0-9]+ restored)' on h1 "${tune[@]}" "$state" --undo
    expect 0 '^$' diff "$state/before" <(tune_values)
  done
  rm -r "$state"
}

# RPS decides where the frames of h2's end of the cable are handled. The binding of a perf server is read from
# outside.
test_binding() {
  local work bound special
  work=$(mktemp -d)
  chmod 755 "$work"
  ln -s "$omx" "$work/omx_prepare_binding"
  expect 0 'warning: E[0-9]+: eth0: the interrupts of its receive queues are not known' on h2 "$omx" prepare-binding -
  expect 0 '^# eth0 .*is not known$' on h2 "$omx" prepare-binding -
  expect 0 'the processor that handles arriving frames is not known' on h2 "$omx" info
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
  # A file of another kind must stay. The remains of a killed run must go.
  mkfifo "$work/pipe"
  ln -sf pipe "$work/link"
  for special in pipe link ""; do
    expect 1 "^omx prepare-binding: E[0-9]+: $work/$special is not a regular file; give - for the standard output\$" \
      on h2 "$omx" prepare-binding "$work/$special"
  done
  expect 0 '^prw' ls -l "$work/pipe"
  echo old >"$work/file.new"
  expect 0 'Generated' on h2 "$omx" prepare-binding "$work/file"
  expect 2 'No such file' ls "$work/file.new"

  for bound in auto all:1 0,1 "file:$work/file"; do
    export OMX_PROCESS_BINDING=$bound
    # With a list, endpoint 1 runs on processor 1.
    if [ "$bound" = 0,1 ]; then server_start -e 1; else server_start; fi
    expect 0 'endpoint [01] open by pid [0-9]+ \(omx\), bound to processor 1$' on h2 "$omx" info
    expect 0 '^pid.*: 1$' taskset -cp "$server"
    server_stop
  done
  # An impossible binding is reported once and changes nothing.
  for bound in all:1000 file:/nowhere off; do
    export OMX_PROCESS_BINDING=$bound
    server_start
    expect 0 'endpoint 0 open by pid [0-9]+ \(omx\)$' on h2 "$omx" info
    if [ "$bound" != off ]; then
      expect 0 "warning: E[0-9]+: eth0 endpoint 0: this thread stays where it is, as OMX_PROCESS_BINDING=$bound" cat "$server_output"
    fi
    server_stop
  done
  # A thread that is already bound stays, and others run beside it.
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

in_lab "$self" test_tune test_binding
