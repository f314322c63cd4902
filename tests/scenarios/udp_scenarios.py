# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that reach each other by UDP only: firewalls, routers, forgers."""
import socket
import struct
import sys
import time

from stage import UDP, UDP_NIC, Failure, finish, finish_pair, killed_under_load, must_run, pair, scenario, storm

PORTS = "UDP ports 27200 to 27711"


@scenario(mtu="9000")
def udp_kill(lab):
    """The same by UDP: the survivor notices, the port is free at once, reconnecting works."""
    env = {"OMX_PEER_TIMEOUT_MS": "2000", **UDP}
    a = killed_under_load(lab, env)
    finish("h1", a, 3, 30)
    storm(lab, UDP)


@scenario(mtu="1500")
def udp_without_rights(lab):
    """Nobody's processes: messages go by UDP, and omx info says so."""
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    tool = lab.bin / "tools/omx"
    for wanted in ("packet sockets (CAP_NET_RAW): not allowed", "messages go by UDP (OMX_LINK=auto)", UDP_NIC["h1"]):
        said = finish("info", lab.start("h1", [*become, tool, "info"]), 0, 30)
        if wanted not in said:
            raise Failure(f"omx info does not say {wanted}: {said}")
    server = lab.start("h2", [*become, tool, "perf", "--once"])
    time.sleep(0.5)
    finish("client", lab.start("h1", [*become, tool, "perf", "--verify", "-s", "0,1,5K,64K,1M", "-n", "50", "h2"]), 0, 60)
    finish("server", server, 0, 30)


def perf_fails(lab, words, *more):
    """The client's first attempt ends with these words and status 1; returns how long it took."""
    began = time.time()
    said = finish("client", lab.start("h1", [lab.bin / "tools/omx", "perf", "h2", *more], UDP), 1, 60)
    for wanted in words:
        if wanted not in said:
            raise Failure(f"not said: {wanted}; but: {said}")
    return time.time() - began


@scenario(mtu="1500")
def udp_firewall(lab):
    """Nothing passes: the time-out ends it, and the sentence has the ports. Other refusals say whose they are."""
    lab.lab("fault", "h2", "--direction", "in", "--ethertype", "0x0800", "--drop", 100)
    perf_fails(lab, ["no answer", PORTS, "warning"], "--timeout", 2)
    lab.lab("fault", "h2", "--clear")
    for kind, why in (("blackhole", "Invalid argument"), ("prohibit", "Permission denied")):
        lab.lab("exec", "h1", "--", "ip", "route", "add", kind, "10.77.0.2")
        perf_fails(lab, ["no answer", PORTS, f"this host does not send there: {why}"], "--timeout", 2)
        lab.lab("exec", "h1", "--", "ip", "route", "del", kind, "10.77.0.2")
    # Somebody who waits for ever is told, too.
    lab.lab("fault", "h2", "--direction", "in", "--ethertype", "0x0800", "--drop", 100)
    server = lab.start("h2", [lab.bin / "tools/omx", "perf", "--once"], UDP)
    server.stdout.readline()
    waits = lab.start("h1", [lab.bin / "tools/omx", "perf", "h2", "--timeout", 60, "-s", "0,1M", "-n", 10], UDP)
    for line in waits.stdout:
        if PORTS in line:
            break
    else:
        raise Failure("it ended without a word")
    must_run([waits], "it was told why")
    lab.lab("fault", "h2", "--clear")
    finish("client", waits, 0, 60)
    finish("server", server, 0, 60)


@scenario(mtu="1500")
def udp_closed(lab):
    """A closed endpoint of a host that runs: the answer of its kernel is enough."""
    alone = perf_fails(lab, ["nothing is open on endpoint 0"], "--timeout", 60)
    server = lab.start("h2", [lab.bin / "tools/omx", "perf", "--endpoint", 3], UDP)
    server.stdout.readline()
    beside = perf_fails(lab, ["nothing is open on endpoint 0"], "--timeout", 60)
    server.kill()
    server.communicate()
    print(f"  refused after {alone:.2f} s and {beside:.2f} s, of 60")


def forged(code, quoted):
    """Destination unreachable: the port, or for a packet of more than 552 bytes; about a datagram of h1's to h2."""
    port_from = port_to = 27200
    udp = struct.pack(">HHHH", port_from, port_to, 8 + len(quoted), 0) + quoted
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, socket.inet_aton("10.77.0.1"),
                     socket.inet_aton("10.77.0.2"))
    message = struct.pack(">BBHI", 3, code, 0, 552) + ip + udp
    message += b"\0" * (len(message) % 2)
    total = sum(struct.unpack(f">{len(message) // 2}H", message))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return message[:2] + struct.pack(">H", ~total & 0xFFFF) + message[4:]


def forge(count):
    """In h2, in its own name: what a forger would send in it."""
    names = [bytes.fromhex(UDP_NIC[host].replace(":", "")) for host in ("h2", "h1")]
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        for i in range(count):
            kind = (36, 37, 40, 41)[i % 4]  # CONNECT, TINY, RNDV, PULL
            frame = names[0] + names[1] + b"\x86\xdf\0\0" + bytes([kind]) + b"\0" * 80
            raw.sendto(forged((3, 4)[i // 12 % 2], (frame, frame[:8], b"")[i // 4 % 3]), ("10.77.0.1", 0))


@scenario(mtu="1500")
def udp_forged_refusals(lab):
    """Forged ICMP without end, closed ports and narrow ways: partners stay, and not a message is lost."""
    soaks = pair(lab, UDP, max(lab.messages, 30000))
    time.sleep(1)
    forger = lab.start("h2", [sys.executable, __file__, "20000"])
    finish("forger", forger, 0, 60)
    must_run(soaks, "the forger was done")
    seen = kernel_counts(lab, "h1", "Icmp")["InDestUnreachs"]
    if seen < 10000:
        raise Failure(f"h1 has seen few of them: {seen}")
    finish_pair(soaks)


def router_hush(lab):
    """The router sends no ICMP, and so tells nobody of its MTU."""
    lab.lab("exec", "router", "--", "ip", "rule", "add", "priority", 1, "iif", "lo", "ipproto", "icmp", "blackhole")


def routes_narrow(lab, mtu):
    for number in (1, 2):
        lab.lab("exec", "router", "--", "ip", "route", "change", f"10.77.0.{number}", "dev", f"port{number}", "mtu", mtu)


def kernel_counts(lab, host, kind):
    names, values = lab.lab("exec", host, "--", "grep", f"^{kind}:", "/proc/net/snmp").splitlines()
    return {name: int(value) for name, value in zip(names.split()[1:], values.split()[1:])}


def fragments(lab):
    """How many pieces of IP packets anybody has made or put together."""
    return sum(kernel_counts(lab, host, "Ip")[name] for host in ("h1", "h2", "router") for name in ("FragCreates", "ReasmReqds"))


def every_size(lab):
    """Each kind of message and what lies around its limits, every byte checked."""
    omx = lab.bin / "tools/omx"
    server = lab.start("h2", [omx, "perf", "--once"], UDP)
    server.stdout.readline()
    sizes = "0,1,31,32,33,127,128,129,1000,1231,1232,1233,1300,4095,4K,8K,32K,33K,64K,100K,1M,4M"
    finish("client", lab.start("h1", [omx, "perf", "h2", "--verify", "-s", sizes, "-n", 10], {"OMX_VERBOSE": "1", **UDP}), 0, 120)
    finish("server", server, 0, 30)


def router_scenario(mtu, path, told, carried):
    def run(lab):
        if path:
            routes_narrow(lab, path)
        if not told:
            router_hush(lab)
        every_size(lab)
        soaks = pair(lab, {"OMX_VERBOSE": "1", **UDP}, max(lab.messages, 40000))  # longer than the probes take
        said = "".join(finish(host, soak, 0, 300) for host, soak in zip(("h1", "h2"), soaks))
        if f" {carried} proven" not in said:
            raise Failure(f"nobody has proven frames of {carried} bytes: {said[-1500:]}")
        if fragments(lab):
            raise Failure(f"{fragments(lab)} fragments of IP packets")
        # Where a host's own interface is the narrow one, nothing larger is tried.
        complaints = kernel_counts(lab, "router", "Icmp")["OutDestUnreachs"]
        if path and bool(complaints) != told:
            raise Failure(f"the router complained {complaints} times")

    where = f"before_{path}" if path else "of_" + mtu.replace(",", "_")
    run.__name__ = f"udp_router_{where}_{'told' if told else 'silent'}"
    run.__doc__ = "A router between them, of one MTU or of two, or with a narrow network behind it."
    scenario(mtu=mtu, topology="router")(run)


for told_ in (True, False):
    router_scenario("9000,1300", None, told_, 1272)  # less 28 bytes of IPv4 and UDP
    router_scenario("9000", 1300, told_, 1232)
    router_scenario("9000", 1500, told_, 1472)


@scenario(mtu="9000", topology="router")
def udp_router_narrows(lab):
    """The way becomes narrow under load, and wide again: nothing is lost, nothing fragmented."""
    soaks = pair(lab, UDP, max(lab.messages, 100000))
    time.sleep(0.5)
    router_hush(lab)
    routes_narrow(lab, 1300)
    time.sleep(1)
    must_run(soaks, "the way was narrow")
    routes_narrow(lab, 9000)
    finish_pair(soaks)
    if fragments(lab):
        raise Failure(f"{fragments(lab)} fragments of IP packets")


if __name__ == "__main__":
    forge(int(sys.argv[1]))
