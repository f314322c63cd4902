# SPDX-License-Identifier: BSD-3-Clause
"""Messages by AF_XDP, natively and generic: storms with loss, killed processes, other processes, IP beside it.

Faults sit on the switch's ports (topology bridge). On the hosts' own interfaces XDP would take frames before them.
"""
import json
import re
import sys
import time

from stage import (MAC, SCENARIOS, Failure, await_counter, end_steady, finish, finish_pair, killed_under_load, must_run,
                   scenario, steady, storm)

XDP = {"OMX_LINK": "xdp", "OMX_UDP_BULK": "0"}
MODES = {"native": "copy", "generic": "generic"}
SWITCH = {"topology": "bridge"}


def by_xdp(mode):
    return {**XDP, "OMX_XDP_MODE": MODES[mode]}


def require(lab):
    """Skips the scenario with a message unless AF_XDP works here."""
    said = finish("info", lab.start("h1", [lab.bin / "tools/omx", "info"], by_xdp("generic")), 0, 30)
    lines = [line.strip() for line in said.splitlines() if "AF_XDP does not work" in line]
    if lines:
        print(f"SKIP: {lines[0]}")
        sys.exit(77)


def programs(lab, host):
    """Returns the XDP programs of a host's interface."""
    shown = json.loads(lab.lab("exec", host, "--", "ip", "-json", "-details", "link", "show", "dev", "eth0"))
    return shown[0].get("xdp", {}).get("attached", [])


def nothing_left(lab):
    end = time.time() + 5
    while any(programs(lab, host) for host in MAC):
        if time.time() > end:
            raise Failure(f"an XDP program is left: {[programs(lab, host) for host in MAC]}")
        time.sleep(0.1)


def storm_scenario(mode, mtu, faults):
    def run(lab):
        require(lab)
        env = {**by_xdp(mode), "OMX_CHECKSUM": "1" if faults else "0"}
        if faults:
            for host in MAC:
                lab.lab("fault", host, "--direction", "in", "--drop", 1, "--dup", 1, "--corrupt", 0.1, "--seed", 5)
        storm(lab, env)
        nothing_left(lab)
        if faults:
            said = lab.lab("faults", "--json")
            print("  " + lab.lab("faults").strip().replace("\n", "\n  "))
            if not any(int(n) for n in re.findall(r'"dropped": (\d+)', said)):
                raise Failure(f"nothing was lost: {said}")

    run.__name__ = f"storm_xdp_{mode}_{mtu}_{'faults' if faults else 'clean'}"
    SCENARIOS[run.__name__] = (run, str(mtu), SWITCH)


for mode_ in MODES:
    for mtu_, faults_ in ((1500, True), (9000, True), (9000, False)):
        storm_scenario(mode_, mtu_, faults_)


@scenario(mtu="9000", **SWITCH)
def xdp_kill(lab):
    """Killed processes leave no program behind. The survivor notices, and a new process works."""
    require(lab)
    for mode in MODES:
        env = {**by_xdp(mode), "OMX_PEER_TIMEOUT_MS": "2000"}
        a = killed_under_load(lab, env)
        if programs(lab, "h2"):
            time.sleep(1)
            if programs(lab, "h2"):
                raise Failure(f"the killed process left an XDP program: {programs(lab, 'h2')}")
        finish("h1", a, 3, 30)
        nothing_left(lab)
        storm(lab, by_xdp(mode))


@scenario(mtu="9000,1500", **SWITCH)
def xdp_and_others(lab):
    """A host with AF_XDP, whose frames come in one piece, and one with packet sockets; bulk paths by UDP too."""
    require(lab)
    a = lab.soak("h1", {"OMX_LINK": "xdp", "OMX_XDP_MULTI_BUFFER": "0"})
    b = lab.soak("h2", {"OMX_LINK": "ethernet"})
    finish_pair((a, b))


@scenario(mtu="9000", **SWITCH)
def xdp_two_processes(lab):
    """The second process on an interface with one queue says that it uses packet sockets, and both work."""
    require(lab)
    env = {**by_xdp("generic"), "OMX_LOCAL": "0"}
    first = steady(lab, env)
    await_counter(lab, first, "Link Frames by AF_XDP")
    second = [lab.start(host, [lab.bin / "tests/soak/omx_soak", "--endpoint", 1, "--peer", MAC[peer], "--peer-endpoint", 1,
                               "--messages", lab.messages], env) for host, peer in (("h1", "h2"), ("h2", "h1"))]
    for host, soak in zip(MAC, second):
        said = finish(f"the second of {host}", soak, 0, 300)
        if "its frames go by a packet socket instead of AF_XDP" not in said:
            raise Failure(f"the second process of {host} does not say that it takes a packet socket: {said[-1500:]}")
    end_steady(first)
    nothing_left(lab)


@scenario(mtu="1500", **SWITCH)
def xdp_asleep(lab):
    """Threads that sleep in the kernel are woken by frames of AF_XDP."""
    require(lab)
    for mode in MODES:
        storm(lab, {**by_xdp(mode), "OMX_SPIN_US": "0"}, more=("--wait",))


RECEIVE = ("import socket,sys; s=socket.create_server(('10.77.0.2',5001)); print('ready',flush=True); c,_=s.accept(); n=0\n"
           "while True:\n d=c.recv(65536)\n if not d: break\n n+=len(d)\nprint(n)")
SEND = "import socket; s=socket.create_connection(('10.77.0.2',5001)); [s.sendall(bytes(1<<20)) for i in range(32)]"


@scenario(mtu="9000", **SWITCH)
def xdp_beside_ip(lab):
    """TCP passes while messages do, in either mode."""
    require(lab)
    for mode in MODES:
        soaks = steady(lab, by_xdp(mode))
        await_counter(lab, soaks, "Link Frames by AF_XDP")
        if not programs(lab, "h1"):
            raise Failure("no XDP program while messages go by AF_XDP")
        receiver = lab.start("h2", [sys.executable, "-c", RECEIVE])
        receiver.stdout.readline()
        finish("TCP", lab.start("h1", [sys.executable, "-c", SEND]), 0, 60)
        if str(32 << 20) not in finish("TCP receiver", receiver, 0, 60):
            raise Failure("TCP lost something")
        must_run(soaks, "IP had passed")
        end_steady(soaks)
        nothing_left(lab)
