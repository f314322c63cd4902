# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces on top of each other: two jobs at once, one on each."""
import time

from stage import MAC, Failure, end_steady, finish, scenario, steady_with

UPPER_MAC = {"h1": "02:4f:4d:5a:00:01", "h2": "02:4f:4d:5a:00:02"}
WIRES = ({"OMX_WIRE_MODE": "omx"}, {"OMX_WIRE_MODE": "mxoe"})


def stand(lab, mode):
    """Makes a macvlan `mv` on eth0 of each host."""
    for host in MAC:
        address = "" if mode == "passthru" else f"address {UPPER_MAC[host]}"
        lab.lab_or_skip("exec", host, "--", "sh", "-c", f"ip link add mv link eth0 {address} type macvlan mode {mode} && ip link set mv up")


def on(interface, wire):
    return {"OMX_INTERFACES": interface, "OMX_LINK": "ethernet", **wire}


@scenario(mtu="9000")
def stacked_bridge(lab):
    """A job on eth0 and one on a macvlan above it, both with endpoint 0. Each gets its own messages."""
    stand(lab, "bridge")
    for wire in WIRES:
        jobs = [steady_with(lab, on("eth0", wire), MAC), steady_with(lab, on("mv", wire), UPPER_MAC)]
        time.sleep(lab.seconds)
        for job in jobs:
            end_steady(job)


@scenario(mtu="9000")
def stacked_passthru(lab):
    """A macvlan that takes all frames, with the address of eth0. A job that starts on eth0 fails, and the job above
    continues."""
    stand(lab, "passthru")
    for wire in WIRES:
        job = steady_with(lab, on("mv", wire), MAC)
        time.sleep(lab.seconds / 2)
        below = lab.start("h1", [lab.bin / "tools/omx", "perf", MAC["h2"], "--timeout", "3"], on("eth0", wire))
        said = finish("below", below, 1, 60)
        if "omx perf" not in said and MAC["h2"] not in said:
            raise Failure(f"the job on eth0 does not say what is wrong: {said}")
        time.sleep(lab.seconds / 2)
        end_steady(job)
