#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test program in a lab of two hosts, joined by a virtual cable, in each of several ways.
# Usage: run_pair.sh LAB PROGRAM WAYS [LAB_OPTION...]; exits 77 where no lab is possible.
# WAYS, with commas:
#   hosts          two processes on two hosts
#   host           two processes on one host
#   self           one process, to itself
#   host-disabled, self-disabled
#                  as host and self, with the variables set by which MX programs decline messages of that kind;
#                  messages that are sent nevertheless must arrive
# OMX_ variables of the environment apply to the program, so OMX_LINK chooses the link. Three more:
#   OMX_TEST_LOSS=PERCENT  this share of all frames is lost, at the ports of a switch, where AF_XDP cannot bypass it
#   OMX_TEST_OMXD=OMXD     the program is that of an ordinary user, who gets raw frames from this broker
#   OMX_TEST_INFO=OMX      the test is skipped if this omx info says that AF_XDP does not work
set -u
lab=$1
program=$2
ways=$3
shift 3
[ -z "${OMX_TEST_LOSS:-}" ] || set -- "$@" --topology bridge
[ "${OMX_LINK:-}" != udp6 ] || set -- "$@" --family ipv6
exec "$lab" run --hosts 2 "$@" -- sh -c '
  program=$1
  user=
  if [ -n "${OMX_TEST_OMXD:-}" ]; then
    OMX_BROKER=$(OMXD=$OMX_TEST_OMXD $LAB broker) || exit
    export OMX_BROKER
    user="setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all"
  fi
  pair() {  # pair RECEIVER SENDER
    $LAB exec "$1" -- $user "$program" & receiver=$!
    $LAB exec "$2" -- $user "$program" "$1"
    sender=$?
    # The other side would otherwise wait for its time-out.
    [ $sender -eq 0 ] || kill $receiver
    wait $receiver
    receiver=$?
    [ $sender -eq 0 ] || return $sender
    return $receiver
  }
  if [ -n "${OMX_TEST_INFO:-}" ] && $LAB exec h1 -- "$OMX_TEST_INFO" info | grep "AF_XDP does not work"; then exit 77; fi
  if [ -n "${OMX_TEST_LOSS:-}" ]; then
    for host in h1 h2; do
      $LAB fault $host --direction in --ethertype all --drop "$OMX_TEST_LOSS" --seed 7 || exit
    done
  fi
  for way in $(echo "$2" | tr , " "); do
    echo "$way:"
    unset OMX_DISABLE_SELF OMX_DISABLE_SHARED MX_DISABLE_SHMEM
    case $way in
      *-disabled) export OMX_DISABLE_SELF=1 OMX_DISABLE_SHARED=1 MX_DISABLE_SHMEM=1 ;;
    esac
    case $way in
      hosts) pair h1 h2 ;;
      host | host-disabled) pair h1 h1 ;;
      self | self-disabled) $LAB exec h1 -- $user "$program" self ;;
      *) echo "unknown way: $way"; exit 2 ;;
    esac || { status=$?; echo "$way: failed with status $status"; exit $status; }
  done' sh "$program" "$ways"
