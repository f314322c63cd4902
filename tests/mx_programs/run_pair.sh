#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test program on two hosts of a lab, joined by a virtual cable.
# Usage: run_pair.sh LAB PROGRAM [LAB_OPTION...]; exits 77 where there can be no lab.
set -u
lab=$1
program=$2
shift 2
exec "$lab" run --hosts 2 "$@" -- sh -c '
  $LAB exec h1 -- "$1" & receiver=$!
  $LAB exec h2 -- "$1" h1
  sender=$?
  # Whoever is left alone would wait for its time-out.
  [ $sender -eq 0 ] || kill $receiver
  wait $receiver
  receiver=$?
  [ $sender -ne 0 ] && exit $sender
  exit $receiver' sh "$program"
