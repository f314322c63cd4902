# SPDX-License-Identifier: BSD-3-Clause
"""Trials of what carries messages: frames, datagrams, and interfaces on top of the NIC."""
from guests import Failure
from trial import BOTH, NOBODY, SHORT_SIZES, Refused, Soak, feature, perf, warnings

ALL_TESTS = ("pingpong", "stream", "bistream", "rate")


@feature("`omx info` names it and its driver")
def info(guests):
    said = guests.good("h1", "omx info", env={"OMX_INTERFACES": "eth0"})
    driver = guests.good("h1", "basename $(readlink -f /sys/class/net/eth0/device/driver)").strip()
    for words in (f"managed by driver '{driver}'", "up, running"):
        if words not in said:
            raise Failure(f"omx info does not say {words!r}")


@feature("raw frames, every class, four tests")
def raw(guests):
    perf(guests, {"OMX_UDP_BULK": "0"}, tests=ALL_TESTS)
    perf(guests, {"OMX_UDP_BULK": "0"}, sizes=SHORT_SIZES, polls=True)


@feature("raw frames, wire mode mxoe")
def raw_mxoe(guests):
    perf(guests, {"OMX_WIRE_MODE": "mxoe"})


@feature("large messages by UDP beside raw frames")
def bulk(guests):
    moved = perf(guests, sizes="4K,64K,1M")
    if any("UDP segmentation" in text for text in warnings(moved.said)):
        return "by frames: the NIC does not make the datagrams that it announces, which Open-MX finds out"
    if not moved.count("Send Pull Reply by UDP"):
        given_up = {name: moved.count(name) for name in ("UDP Bulk Path Given Up", "UDP Segmentation Given Up")}
        raise Failure(f"no large message went by UDP: {given_up}")
    if not moved.count("Link UDP Batches Received"):
        return "datagrams come one by one, as neither the NIC nor the driver puts them together (GRO)"
    return None


@feature("UDP over IPv4, as an ordinary user")
def udp(guests):
    perf(guests, {"OMX_LINK": "udp4"}, user=NOBODY, peer="h1")


@feature("UDP over IPv6, as an ordinary user")
def udp6(guests):
    perf(guests, {"OMX_LINK": "udp6", "OMX_WIRE_MODE": "omx"}, user=NOBODY, sizes=SHORT_SIZES, peer="h1")


@feature("UDP, wire mode mxoe")
def udp_mxoe(guests):
    perf(guests, {"OMX_LINK": "udp4", "OMX_WIRE_MODE": "mxoe"}, user=NOBODY, sizes=SHORT_SIZES, peer="h1")


@feature("MPI, a rank on each host")
def mpi(guests):
    guests.netpipe(("-l", "1", "-u", "65536", "-n", "20"))


@feature("MTU 9000")
def mtu_9000(guests):
    try:
        for host in BOTH:
            status, said = guests.run(host, "ip link set dev eth0 mtu 9000")
            if status:
                limit = guests.good(host, "ip -d link show dev eth0 | grep -o 'maxmtu [0-9]*'").split()[1]
                raise Refused(f"the driver takes an MTU of at most {limit} ({said.strip()})")
        perf(guests, {"OMX_UDP_BULK": "0"})
        perf(guests, sizes="64K,1M")
    finally:
        for host in BOTH:
            guests.run(host, "ip link set dev eth0 mtu 1500")


def stacked(guests, make, name):
    """Moves messages over an interface on top of eth0."""
    try:
        for number, host in enumerate(BOTH, start=1):
            guests.good(host, make.format(number=number))
        perf(guests, {"OMX_UDP_BULK": "0"}, sizes=SHORT_SIZES, interface=name)
        perf(guests, sizes="64K,256K", interface=name)
    finally:
        for host in BOTH:
            guests.run(host, f"ip link del {name}; ip link set eth0 up; "
                             f"ip addr replace 10.77.0.{host[1]}/24 dev eth0; ip addr replace fd4f:4d58::{host[1]}/64 dev eth0 nodad")


@feature("VLAN on top")
def vlan(guests):
    stacked(guests, "ip link add vl5 link eth0 type vlan id 5 && ip addr add 10.78.5.{number}/24 dev vl5 && ip link set vl5 up",
            "vl5")


@feature("macvlan on top")
def macvlan(guests):
    stacked(guests, "ip link add mv0 link eth0 address 02:4f:4d:5a:00:0{number} type macvlan mode bridge && "
                    "ip addr add 10.78.6.{number}/24 dev mv0 && ip link set mv0 up", "mv0")


@feature("port of a bridge")
def bridge(guests):
    stacked(guests, "ip link add br0 address 02:4f:4d:5b:00:0{number} type bridge forward_delay 0 && "
                    "ip link set eth0 master br0 && ip addr flush dev eth0 && "
                    "ip addr add 10.78.7.{number}/24 dev br0 && ip link set br0 up", "br0")


@feature("bond of two, one cable cut")
def bond(guests):
    names = [f"eth{n}" for n in (0, 1)]
    try:
        for number, host in enumerate(BOTH, start=1):
            guests.good(host, "ip link add bond0 type bond mode active-backup miimon 100 && " + " && ".join(
                f"ip link set {name} down && ip addr flush dev {name} && ip link set {name} master bond0" for name in names)
                + f" && ip addr add 10.78.8.{number}/24 dev bond0 && ip link set bond0 up")
        with Soak(guests, interface="bond0") as soak:
            soak.moves()
            for host in BOTH:  # both ends, as a bond behind a live switch port would go on sending into a dead cable
                guests.must("cut", host, "--cable", 0)
            soak.moves()
            for host in BOTH:
                guests.must("mend", host, "--cable", 0)
            soak.moves()
            soak.end()
    finally:
        for host in BOTH:
            guests.run(host, "ip link del bond0; for k in 0 1; do ip link set eth$k up; "
                             f"ip addr replace 10.77.$k.{host[1]}/24 dev eth$k; "
                             f"ip addr replace fd4f:4d58:0:$k::{host[1]}/64 dev eth$k nodad; done")


@feature("two NICs as rails, one cable cut")
def rails(guests):
    both = {"OMX_RAILS": "eth0,eth1"}
    with Soak(guests, both, interface="eth0,eth1") as soak:
        soak.moves()
        if not soak.counter("Rail Proven"):
            raise Failure("no second rail was used")
        guests.must("cut", "h2", "--cable", 1)
        soak.moves()
        guests.must("mend", "h2", "--cable", 1)
        soak.moves()
        soak.end()
