# SPDX-License-Identifier: BSD-3-Clause
"""Trials of what goes wrong: links that flap, NICs that go, bad cables."""
import time

from guests import Failure
from trial import BOTH, SHORT_SIZES, Refused, Soak, feature, perf

FLAPS = 3


def await_link(guests, host):
    end = time.monotonic() + 20
    while guests.run(host, "cat /sys/class/net/eth0/carrier")[1] != "1\n":
        if time.monotonic() > end:
            raise Failure(f"eth0 of {host} has no carrier 20 s after it came back")
        time.sleep(0.2)


def addresses(host):
    return f"ip addr replace 10.77.0.{host[1]}/24 dev eth0; ip addr replace fd4f:4d58::{host[1]}/64 dev eth0 nodad"


@feature("link flaps: carrier, and interface down and up")
def flaps(guests):
    with Soak(guests) as soak:
        soak.moves()
        for _ in range(FLAPS):
            guests.must("cut", "h1")
            time.sleep(0.5)
            guests.must("mend", "h1")
            soak.moves()
            guests.good("h2", f"ip link set eth0 down; sleep 0.3; ip link set eth0 up; {addresses('h2')}")
            soak.moves()
        soak.end()


@feature("NIC unplugged and plugged in while programs run")
def unplug(guests):
    with Soak(guests) as soak:
        soak.moves()
        guests.must("unplug", "h1")
        time.sleep(1)
        guests.must("plug", "h1")
        soak.moves()
        soak.end()
    perf(guests, sizes=SHORT_SIZES)


@feature("MTU changed while programs run")
def mtu_changes(guests):
    limit = min(9000, int(guests.good("h1", "ip -d link show dev eth0 | grep -o 'maxmtu [0-9]*'").split()[1]))
    try:
        with Soak(guests) as soak:
            soak.moves()
            for mtu in (1400, limit, 1500):
                for host in BOTH:
                    status, said = guests.run(host, f"ip link set dev eth0 mtu {mtu}")
                    if status:
                        raise Refused(f"the driver takes no MTU of {mtu}: {said.strip()}")
                soak.moves()
            soak.end()
    finally:
        for host in BOTH:
            guests.run(host, "ip link set dev eth0 mtu 1500")


@feature("MAC address changed")
def mac_changes(guests):
    old = guests.good("h1", "cat /sys/class/net/eth0/address").strip()
    try:
        status, said = guests.run("h1", "ip link set eth0 down && ip link set eth0 address 02:4f:4d:5c:00:01 && ip link set eth0 up")
        if status:
            raise Refused(f"the driver takes no other address: {said.strip()}")
        guests.good("h1", addresses("h1"))
        await_link(guests, "h1")
        perf(guests, sizes=SHORT_SIZES)
    finally:
        guests.run("h1", f"ip link set eth0 down; ip link set eth0 address {old}; ip link set eth0 up; {addresses('h1')}")
        await_link(guests, "h1")


def netem(guests, faults, env=None, counters=()):
    """Sends messages over a cable with faults. These counters must have grown, on one of the hosts."""
    try:
        for host in BOTH:
            guests.good(host, f"tc qdisc replace dev eth0 root netem {faults}")
        with Soak(guests, env) as soak:
            soak.moves()
            time.sleep(2)
            soak.moves()
            found = {name: sum(soak.counter(name, host) for host in BOTH) for name in counters}
            soak.end()
        if counters and not any(found.values()):
            raise Failure(f"no fault was noticed: {found}")
        said = guests.good("h1", "tc -s qdisc show dev eth0")
        if "netem" not in said or "Sent 0 bytes" in said:
            raise Failure(f"the frames did not pass netem: {said.strip()}")
    finally:
        for host in BOTH:
            guests.run(host, "tc qdisc del dev eth0 root")


AGAIN = ("Resend after Timeout", "Resend of the Last", "Resend after Selective Ack", "Pull Re-request after Gap",
         "Pull Re-request after Silence")
DAMAGED = ("Drop Bad Checksum",)


@feature("netem: 2 % of frames lost")
def netem_loss(guests):
    netem(guests, "loss 2%", {"OMX_UDP_BULK": "0"}, AGAIN)
    netem(guests, "loss 2%", None, AGAIN)


@feature("netem: 5 ms delay, 2 ms jitter, reordering")
def netem_delay(guests):
    netem(guests, "delay 5ms 2ms reorder 25% 50%")


@feature("netem: rate of 20 Mb/s")
def netem_rate(guests):
    netem(guests, "rate 20mbit limit 200")


@feature("netem: 1 % of frames damaged, `OMX_CHECKSUM=1`")
def netem_corrupt(guests):
    netem(guests, "corrupt 1%", {"OMX_CHECKSUM": "1", "OMX_UDP_BULK": "0"}, DAMAGED)
