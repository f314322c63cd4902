# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the commands that look at settings of NIC and host, and change them."""
import json

from guests import Failure
from trial import SHORT_SIZES, feature, perf

# Prints every value that omx tune may change, or that a driver may change along with one.
VALUES = r"""
for what in -g -c -k -l; do echo "ethtool $what"; ethtool $what eth0 2>&1; done
for file in /sys/class/net/eth0/napi_defer_hard_irqs /sys/class/net/eth0/gro_flush_timeout /sys/class/net/eth0/threaded \
  /sys/class/net/eth0/queues/*/rps_cpus /sys/class/net/eth0/queues/*/xps_cpus /proc/sys/net/core/rmem_max \
  /proc/sys/net/core/wmem_max /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor \
  /sys/devices/system/cpu/cpu*/cpuidle/state*/disable; do
  [ -e "$file" ] && echo "$file $(cat $file 2>&1)"
done
device=$(readlink -f /sys/class/net/eth0/device)
for irq in $(ls $device/msi_irqs $device/../msi_irqs 2>/dev/null | grep '^[0-9]' | sort -un); do
  echo "irq $irq $(cat /proc/irq/$irq/smp_affinity_list)"
done
true
"""


def values(guests):
    return guests.good("h1", VALUES).splitlines()


def differences(before, after):
    return [f"{one!r} became {other!r}" for one, other in zip(before, after) if one != other] + (
        ["the number of values"] if len(before) != len(after) else [])


@feature("`omx check`")
def check(guests):
    said = json.loads(guests.good("h1", "omx check eth0 --json"))
    if "eth0" not in json.dumps(said):
        raise Failure("omx check --json does not name eth0")
    guests.good("h1", "omx check")


@feature("`omx tune`, and an undo compared value by value")
def tune(guests):
    before = values(guests)
    status, said = guests.run("h1", "omx tune")
    changed = differences(before, values(guests))
    undone, told = guests.run("h1", "omx tune --undo")
    left = differences(before, values(guests))
    if undone:
        raise Failure(f"omx tune --undo: {told.strip()[-300:]}")
    if left:
        raise Failure(f"after omx tune --undo {'; '.join(left)[:400]}")
    if not changed:
        raise Failure(f"omx tune changed nothing: {said.strip()[-300:]}")
    perf(guests, sizes=SHORT_SIZES)
    if status:
        return f"{len(changed)} values; omx tune: {said.strip().splitlines()[-1]}"
    return f"{len(changed)} values changed and given back"
