# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that reach each other by UDP only, over IPv4 and over IPv6: firewalls, routers, forgers."""
import dataclasses
import socket
import struct
import sys
import time

from stage import (MAC, UDP, UDP6, UDP6_NIC, UDP_NIC, Failure, end_steady, finish, finish_pair, hear, killed_under_load, must_run,
                   scenario, steady, storm, udp6_nic)

PORTS = "UDP ports 27200 to 27711"
BECOME_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]


@dataclasses.dataclass
class Family:
    """The differences between the two families."""
    prefix: str  # of the scenarios
    name: str
    lab: str
    env: dict
    nics: dict
    addresses: dict
    ip: list  # the command
    ethertype: str
    headers: int  # bytes, with UDP's


IPV4 = Family("udp", "IPv4", "ipv4", UDP, UDP_NIC, {"h1": "10.77.0.1", "h2": "10.77.0.2"}, ["ip"], "0x0800", 28)
IPV6 = Family("udp6", "IPv6", "ipv6", UDP6, UDP6_NIC, {"h1": "fd4f:4d58::1", "h2": "fd4f:4d58::2"}, ["ip", "-6"], "0x86dd", 48)


def of_each_family(**parameters):
    """Registers a scenario for each family. The one for IPv6 has no IPv4."""
    def register(function):
        for family in (IPV4, IPV6):
            def run(lab, family=family):
                function(lab, family)

            run.__name__ = f"{family.prefix}_{function.__name__}"
            run.__doc__ = f"{function.__doc__} ({family.name})"
            scenario(**{"mtu": "1500", "family": family.lab, **parameters})(run)
        return function

    return register


@of_each_family(mtu="9000")
def kill(lab, family):
    """The survivor notices, the port is free at once, and reconnecting works."""
    a = killed_under_load(lab, {"OMX_PEER_TIMEOUT_MS": "2000", **family.env})
    finish("h1", a, 3, 30)
    storm(lab, family.env)


@scenario()
def batches_lost(lab):
    """NICs that announce UDP segmentation and cannot do it. All messages arrive, by frames or by single datagrams,
    and the remedy is printed once."""
    for host in MAC:
        lab.lab("fault", host, "--direction", "in", "--drop", "100", "--ethertype", "0x0800", "--gso-batches")
    tool = lab.bin / "tools/omx"
    for env in (UDP, {"OMX_LINK": "ethernet"}):
        server = lab.start("h2", [tool, "perf", "--once"], env)
        time.sleep(0.5)
        said = finish("client", lab.start("h1", [tool, "perf", "--verify", "-s", "0,5K,64K,1M", "-n", "300", "h2"], env), 0, 120)
        said += finish("server", server, 0, 30)
        if said.count("tx-udp-segmentation off") not in (1, 2):  # each end says it once
            raise Failure(f"the remedy is not said once: {said}")


@scenario(mtu="1500")
def gso_frames_cut(lab):
    """Networks that cut GSO frames into datagrams. Large messages arrive all the same, in ordinary frames."""
    for host in MAC:
        lab.lab("exec", host, "--", "ip", "link", "set", "eth0", "gso_max_segs", "1")
    tool = lab.bin / "tools/omx"
    for env in (UDP, {"OMX_LINK": "ethernet"}, {"OMX_LINK": "ethernet", "OMX_CHECKSUM": "1"}):
        server = lab.start("h2", [tool, "perf"], env)
        time.sleep(0.5)
        finish("client", lab.start("h1", [tool, "perf", "--verify", "-s", "0,20K,64K,100K,1M", "-n", "100", "h2"], env), 0, 120)
        counters = lab.lab("exec", "h2", "--", tool, "counters")
        server.kill()
        server.wait()
        if "UDP GSO Frames Cut" not in counters:  # only what is not zero is shown
            raise Failure(f"no GSO frame was cut: {counters}")


@of_each_family()
def without_rights(lab, family):
    """Processes of an unprivileged user. Messages go by UDP, and omx info says so."""
    tool = lab.bin / "tools/omx"
    info = finish("info", lab.start("h1", [*BECOME_NOBODY, tool, "info"]), 0, 30)
    for wanted in ("packet sockets (CAP_NET_RAW): not allowed", f"messages go by UDP over {family.name} (OMX_LINK=auto)",
                   f"addr {family.nics['h1']}, by UDP, {family.addresses['h1']}"):
        if wanted not in info:
            raise Failure(f"omx info does not say {wanted}: {info}")
    server = lab.start("h2", [*BECOME_NOBODY, tool, "perf", "--once"])
    time.sleep(0.5)
    finish("client", lab.start("h1", [*BECOME_NOBODY, tool, "perf", "--verify", "-s", "0,1,5K,64K,1M", "-n", "50", "h2"]), 0, 60)
    finish("server", server, 0, 30)


def perf_fails(lab, family, words, *more):
    """Expects that the client's first attempt ends with these words and status 1. Returns how long it took."""
    began = time.time()
    said = finish("client", lab.start("h1", [lab.bin / "tools/omx", "perf", "h2", *more], family.env), 1, 60)
    for wanted in words:
        if wanted not in said:
            raise Failure(f"not said: {wanted}; but: {said}")
    return time.time() - began


@of_each_family()
def firewall(lab, family):
    """No packet passes. The time-out ends the connect, and the message names the ports. Other refusals say whose they
    are."""
    lab.lab("fault", "h2", "--direction", "in", "--ethertype", family.ethertype, "--drop", 100)
    perf_fails(lab, family, ["no answer", PORTS, "warning"], "--timeout", 2)
    lab.lab("fault", "h2", "--clear")
    for kind, why in (("blackhole", "Invalid argument"), ("prohibit", "Permission denied")):
        lab.lab("exec", "h1", "--", *family.ip, "route", "add", kind, family.addresses["h2"])
        perf_fails(lab, family, ["no answer", PORTS, f"this host does not send there: {why}"], "--timeout", 2)
        lab.lab("exec", "h1", "--", *family.ip, "route", "del", kind, family.addresses["h2"])
    # A program that waits without limit gets the message, too.
    lab.lab("fault", "h2", "--direction", "in", "--ethertype", family.ethertype, "--drop", 100)
    server = lab.start("h2", [lab.bin / "tools/omx", "perf", "--once"], family.env)
    server.stdout.readline()
    waits = lab.start("h1", [lab.bin / "tools/omx", "perf", "h2", "--timeout", 60, "-s", "0,1M", "-n", 10], family.env)
    hear([waits], PORTS, 60)
    must_run([waits], "it was told why")
    lab.lab("fault", "h2", "--clear")
    finish("client", waits, 0, 60)
    finish("server", server, 0, 60)


@of_each_family()
def closed(lab, family):
    """A closed endpoint of a running host. The answer of the host's kernel is enough."""
    alone = perf_fails(lab, family, ["nothing is open on endpoint 0"], "--timeout", 60)
    server = lab.start("h2", [lab.bin / "tools/omx", "perf", "--endpoint", 3], family.env)
    server.stdout.readline()
    beside = perf_fails(lab, family, ["nothing is open on endpoint 0"], "--timeout", 60)
    server.kill()
    server.communicate()
    print(f"  refused after {alone:.2f} s and {beside:.2f} s, of 60")


def forged(family, port, quoted):
    """Returns an ICMP error about a datagram of h1 to h2: port unreachable, or a narrow path of 552 or 1280 bytes."""
    udp = struct.pack(">HHHH", 27200, 27200, 8 + len(quoted), 0) + quoted
    ends = b"".join(socket.inet_pton(socket.AF_INET if family is IPV4 else socket.AF_INET6, family.addresses[host])
                    for host in ("h1", "h2"))
    if family is IPV6:  # the kernel computes the checksum
        return struct.pack(">BBHI", *((1, 4, 0, 0) if port else (2, 0, 0, 1280))) + struct.pack(">IHBB", 6 << 28, len(udp), 17, 64) + ends + udp
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + ends
    message = struct.pack(">BBHI", 3, 3 if port else 4, 0, 552) + ip + udp
    message += b"\0" * (len(message) % 2)
    total = sum(struct.unpack(f">{len(message) // 2}H", message))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return message[:2] + struct.pack(">H", ~total & 0xFFFF) + message[4:]


def forge(family, count):
    """Sends from h2, in its own name, what a forger would send in it."""
    names = [bytes.fromhex(family.nics[host].replace(":", "")) for host in ("h2", "h1")]
    how = (socket.AF_INET, socket.IPPROTO_ICMP) if family is IPV4 else (socket.AF_INET6, socket.IPPROTO_ICMPV6)
    with socket.socket(how[0], socket.SOCK_RAW, how[1]) as raw:
        for i in range(count):
            kind = (36, 37, 40, 41)[i % 4]  # CONNECT, TINY, RNDV, PULL
            frame = names[0] + names[1] + b"\x86\xdf\0\0" + bytes([kind]) + b"\0" * 80
            raw.sendto(forged(family, i // 12 % 2 == 0, (frame, frame[:8], b"")[i // 4 % 3]), (family.addresses["h1"], 0))


@of_each_family()
def forged_refusals(lab, family):
    """Endless forged ICMP, closed ports and narrow paths. Conversations stay, and no message is lost."""
    soaks = steady(lab, family.env)
    time.sleep(1)
    forger = lab.start("h2", [sys.executable, __file__, family.prefix, "20000"])
    finish("forger", forger, 0, 60)
    must_run(soaks, "the forger was done")
    seen = kernel_counts(lab, "h1", "Icmp" if family is IPV4 else "Icmp6")["InDestUnreachs"]
    if seen < 8000:
        raise Failure(f"h1 has seen few of them: {seen}")
    end_steady(soaks)


def router_hush(lab, family):
    """The router sends no ICMP, so no host learns its MTU."""
    kind = "icmp" if family is IPV4 else "ipv6-icmp"
    lab.lab("exec", "router", "--", *family.ip, "rule", "add", "priority", 1, "iif", "lo", "ipproto", kind, "blackhole")


def routes_narrow(lab, family, mtu):
    for number in (1, 2):
        lab.lab("exec", "router", "--", *family.ip, "route", "replace", family.addresses[f"h{number}"], "dev", f"port{number}",
                *(["metric", 1024] if family is IPV6 else []), "mtu", mtu)


def kernel_counts(lab, host, kind):
    if kind.endswith("6"):
        lines = lab.lab("exec", host, "--", "grep", f"^{kind}", "/proc/net/snmp6").splitlines()
        return {name.removeprefix(kind): int(value) for name, value in map(str.split, lines)}
    names, values = lab.lab("exec", host, "--", "grep", f"^{kind}:", "/proc/net/snmp").splitlines()
    return {name: int(value) for name, value in zip(names.split()[1:], values.split()[1:])}


def fragments(lab, family):
    """Returns how many IP fragments any host has made or reassembled."""
    kind = "Ip" if family is IPV4 else "Ip6"
    return sum(kernel_counts(lab, host, kind)[name] for host in ("h1", "h2", "router") for name in ("FragCreates", "ReasmReqds"))


def every_size(lab, family):
    """Sends each kind of message and sizes around its limits. Every byte is checked."""
    omx = lab.bin / "tools/omx"
    server = lab.start("h2", [omx, "perf", "--once"], family.env)
    server.stdout.readline()
    sizes = "0,1,31,32,33,127,128,129,1000,1231,1232,1233,1300,4095,4K,8K,32K,33K,64K,100K,1M,4M"
    finish("client", lab.start("h1", [omx, "perf", "h2", "--verify", "-s", sizes, "-n", 10], {"OMX_VERBOSE": "2", **family.env}), 0, 120)
    finish("server", server, 0, 30)


def router_scenario(family, mtu, path, told, carried):
    def run(lab):
        if path:
            routes_narrow(lab, family, path)
        if not told:
            router_hush(lab, family)
        every_size(lab, family)
        soaks = steady(lab, {"OMX_VERBOSE": "2", **family.env})
        hear(soaks, f" {carried} proven")
        end_steady(soaks)
        if fragments(lab, family):
            raise Failure(f"{fragments(lab, family)} fragments of IP packets")
        # If a host's own interface is the narrow one, nothing larger is tried.
        complaints = (kernel_counts(lab, "router", "Icmp")["OutDestUnreachs"] if family is IPV4 else
                      kernel_counts(lab, "router", "Icmp6")["OutPktTooBigs"])
        if path and bool(complaints) != told:
            raise Failure(f"the router complained {complaints} times")

    where = f"before_{path}" if path else "of_" + mtu.replace(",", "_")
    run.__name__ = f"{family.prefix}_router_{where}_{'told' if told else 'silent'}"
    run.__doc__ = "A router between them, of one MTU or of two, or with a narrow network behind it."
    scenario(mtu=mtu, topology="router", family=family.lab)(run)


for family_ in (IPV4, IPV6):
    for told_ in (True, False):
        router_scenario(family_, "9000,1300", None, told_, 1300 - family_.headers)
        router_scenario(family_, "9000", 1300, told_, 1232)
        router_scenario(family_, "9000", 1500, told_, 1500 - family_.headers)


@of_each_family(mtu="9000", topology="router")
def router_narrows(lab, family):
    """The path becomes narrow under load, and wide again. Nothing is lost, nothing fragmented."""
    soaks = steady(lab, family.env)
    time.sleep(0.5)
    router_hush(lab, family)
    routes_narrow(lab, family, 1300)
    time.sleep(1)
    must_run(soaks, "the way was narrow")
    routes_narrow(lab, family, 9000)
    time.sleep(0.5)
    end_steady(soaks)
    if fragments(lab, family):
        raise Failure(f"{fragments(lab, family)} fragments of IP packets")


def by_ids(lab, env, nics, *more):
    """Connects two hosts that have only each other's NIC id, from which neither can tell the address."""
    soaks = [lab.soak_with(host, nics[peer], env, None, *more) for host, peer in (("h1", "h2"), ("h2", "h1"))]
    finish_pair(soaks, 0, 120)


@scenario(family="ipv6")
def udp6_unknown_peers(lab):
    """Hosts that know only ids find each other in their groups, polling and asleep, and by link-local addresses."""
    by_ids(lab, UDP6, UDP6_NIC)
    by_ids(lab, {"OMX_SPIN_US": "0", **UDP6}, UDP6_NIC, "--wait")
    for host, number in (("h1", 1), ("h2", 2)):
        lab.lab("exec", host, "--", "ip", "address", "del", f"fd4f:4d58::{number}/64", "dev", "eth0")
    local = {host: udp6_nic(f"fe80::4f:4dff:fe58:{number}") for host, number in (("h1", 1), ("h2", 2))}
    by_ids(lab, UDP, local)


@scenario(family="both")
def udp_both_families(lab):
    """Hosts with both families use IPv4 unless set otherwise. A host that chooses the other family gets a message."""
    for env, family in ((UDP, IPV4), ({"OMX_LINK": "udp4"}, IPV4), (UDP6, IPV6)):
        info = finish("info", lab.start("h1", [lab.bin / "tools/omx", "info"], env), 0, 30)
        if f"messages go by UDP over {family.name}" not in info or f"{family.nics['h1']}, by UDP, {family.addresses['h1']}" not in info:
            raise Failure(f"omx info does not say {family.name}: {info}")
        every_size(lab, dataclasses.replace(family, env=env))
    for env, peer, wanted in ((UDP, UDP6_NIC["h2"], "is an IPv6 address, but messages go by UDP over IPv4 here"),
                              (UDP6, UDP_NIC["h2"], "is an IPv4 address, but messages go by UDP over IPv6 here"),
                              (UDP6, MAC["h2"], "is an Ethernet address, but messages go by UDP over IPv6 here"),
                              (UDP, "fd4f:4d58::2", "has no IPv4 address")):
        said = finish("client", lab.start("h1", [lab.bin / "tools/omx", "perf", peer], env), 1, 30)
        if wanted not in said:
            raise Failure(f"not said: {wanted}; but: {said}")


if __name__ == "__main__":
    forge(IPV6 if sys.argv[1] == "udp6" else IPV4, int(sys.argv[2]))
