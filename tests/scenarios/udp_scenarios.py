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


def forged(port_from, port_to, quoted):
    """Destination unreachable, port: about a datagram of h1's to h2."""
    udp = struct.pack(">HHHH", port_from, port_to, 8 + len(quoted), 0) + quoted
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, socket.inet_aton("10.77.0.1"),
                     socket.inet_aton("10.77.0.2"))
    message = struct.pack(">BBHI", 3, 3, 0, 0) + ip + udp
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
            raw.sendto(forged(27200, 27200, (frame, frame[:8], b"")[i // 4 % 3]), ("10.77.0.1", 0))


@scenario(mtu="1500")
def udp_forged_refusals(lab):
    """Forged ICMP without end: partners stay, and not a message is lost."""
    soaks = pair(lab, UDP, max(lab.messages, 30000))
    time.sleep(1)
    forger = lab.start("h2", [sys.executable, __file__, "20000"])
    finish("forger", forger, 0, 60)
    must_run(soaks, "the forger was done")
    received = lab.lab("exec", "h1", "--", "grep", "^Icmp:", "/proc/net/snmp").split()
    at = received.index("InDestUnreachs")
    if int(received[len(received) // 2 + at]) < 10000:
        raise Failure(f"h1 has seen few of them: {received}")
    finish_pair(soaks)


if __name__ == "__main__":
    forge(int(sys.argv[1]))
