#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the patterns of patterns.c over Open-MX and the software providers that libfabric brings, each with a
# time limit, and prints a table. It fails if Open-MX fails.
#   tests/mpi/providers.sh [RANKS [BUILD]]
set -u
self=$(realpath "$0")
root=$(dirname "$(dirname "$(dirname "$self")")")
limit=30
if [ "${1:-}" != --inside ]; then
  build=$(realpath "${2:-$root/build/release}")
  if [ ! -x "$build/tests/mpi/omx_mpi_patterns" ]; then
    echo "providers.sh: $build/tests/mpi/omx_mpi_patterns is not built (it needs libfabric-dev and libopenmpi-dev)" >&2
    exit 77
  fi
  exec "$root/lab/lab" run --mtu 9000 -- "$self" --inside "${1:-2}" "$build"
fi
ranks=$2 build=$3 status=0

verdict() {  # PROVIDER PATTERN
  said=$(timeout -k 5 $((limit + 10)) "$LAB" mpirun --transport "ofi:$1" --provider-path "$build/lib/libfabric" -n "$ranks" -- \
    --timeout $limit "$build/tests/mpi/omx_mpi_patterns" "$2" 2>&1) && { echo ok; return; }
  case $said in
    *"time limit"*) echo "hangs" ;;
    *"Process received signal"*) echo "crashes" ;;
    *rank\ *with\ *:*) echo "$said" | sed -n 's/^rank .* with [0-9]*: //p' | head -n 1 ;;
    *) echo "fails" ;;
  esac
}

echo "| $ranks ranks | large | probe | mprobe | cancel | truncate |"
echo "|---|---|---|---|---|---|"
for provider in omx sockets net 'udp;ofi_rxd' 'tcp;ofi_rxm'; do
  line="| \`$provider\` |"
  for pattern in large probe mprobe cancel truncate; do
    result=$(verdict "$provider" "$pattern")
    if [ "$provider" = omx ] && [ "$result" != ok ]; then status=1; fi
    line="$line $result |"
  done
  echo "$line"
done
exit $status
