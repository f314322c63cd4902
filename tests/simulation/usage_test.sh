#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage_test.sh PROGRAM: wrong usage of omx_sim or omx_fabric runs nothing, ends with status 2 and says what is wrong.
set -uo pipefail
program=$1
failures=0

complain() {
  echo "$*" >&2
  failures=$((failures + 1))
}

# Runs the program with the options behind the text that it must print.
refused() {
  local text=$1 said status
  shift
  said=$("$program" "$@" 2>&1)
  status=$?
  [ $status = 2 ] && [[ $said = *"$text"* ]] && return
  complain "$* ends with status $status: $said"
}

sim() {
  refused "give --seed N or --seeds N"
  refused "--seeds: -1 is not a whole number from 1 to" --seeds -1
  refused "--seeds: 0 is not a whole number from 1 to" --seeds 0
  refused "--seeds: x is not a whole number from 1 to" --seeds x
  refused "--seed: 99999999999999999999 is not a whole number from 1 to 18446744073709551615" --seed 99999999999999999999
  refused "--jobs: -1 is not a whole number from 1 to" --seeds 1 --jobs -1
  refused "--operations: 0 is not a whole number from 1 to" --seeds 1 --operations 0
  refused "--trace requires --seed" --seeds 1 --trace
  refused "--seed excludes --seeds" --seeds 1 --seed 1
  refused "--first requires --seeds" --seed 1 --first 2
  said=$("$program" --seeds 2 --first 5 --operations 10 2>&1) && [[ $said = "2 runs, 0 failed"* ]] || complain "two runs: $said"
}

fabric() {
  refused "name a command: incast, traffic, peers"
  refused "name a command: incast, traffic, peers" nonsense
  for command in incast traffic peers; do
    refused "--queue must hold a frame of --mtu 1500, which has 1514 bytes" $command --queue 1
    refused "--mark: -1 is not a size from 0 to" $command --mark -1
    refused "--queue: 1X is not a size from 1 to" $command --queue 1X
    refused "--seeds: -1 is not a whole number from 1 to" $command --seeds -1
  done
  refused "--queue must hold a frame of --mtu 9000" incast --queue 4K --mtu 9000
  refused "--duration: Value 0 not in range 0.001" incast --duration 0
  refused "--duration: Value 0 not in range 0.001" traffic --duration 0
  refused "--size: 5G is not a size from 0 to 4294967295 bytes" incast --size 5G
  refused "--tcp: -1 is not a whole number" incast --tcp -1
  "$program" incast --senders 2 --queue 1514 >/dev/null || complain "a queue of one frame is refused"
}

case $program in
  */omx_sim) sim ;;
  */omx_fabric) fabric ;;
  *) complain "usage_test.sh knows nothing of $program" ;;
esac
[ $failures = 0 ]
