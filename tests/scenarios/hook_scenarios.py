# SPDX-License-Identifier: BSD-3-Clause
"""Endpoints in packet fanout groups open, close, are stopped and killed, while others exchange messages."""
import random
import re
import subprocess
import time

from stage import LAB, MAC, Failure, end_steady, finish_pair, must_run, pair, scenario, steady  # noqa: E402

SHARED = {"OMX_OWN_SOCKETS": "0"}
RANGES = [(8 * i + 8, 8) for i in range(4)]  # of endpoints, each used by one process at a time


class Neighbour:
    """Processes on a host that open some endpoints each and call none of them."""

    def __init__(self, lab, host, first, count, own="0", processes=1):
        self.lab, self.host, self.processes = lab, host, processes
        self.arguments = f"{first} {count} {processes}"
        self.process = subprocess.Popen([str(LAB), "exec", host, "--", "env", f"OMX_OWN_SOCKETS={own}", f"OMX_HOSTNAME={host}",
                                         str(lab.bin / "bench/omx_idle_endpoints"), *self.arguments.split()],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def signal(self, name):
        # The hosts of a lab share one PID namespace. The program's parent tells it from that of the other
        # host. The brackets keep the pattern from matching the command that contains it.
        find = subprocess.run(["pgrep", "-f", f"omx_idle_endpoint[s] {self.arguments}$"], capture_output=True, text=True)
        for pid in find.stdout.split():
            try:
                with open(f"/proc/{pid}/environ", "rb") as environment:
                    mine = f"OMX_HOSTNAME={self.host}".encode() in environment.read().split(b"\0")
            except OSError:
                continue
            if mine:
                subprocess.run(["kill", f"-{name}", pid], check=False)

    def open(self):
        for _ in range(self.processes):
            said = self.process.stdout.readline()
            if said != "open\n":
                raise Failure(f"endpoints {self.arguments} of {self.host} did not open: {said}{self.process.stdout.read()}")

    def end(self, how):
        if how == "KILL":
            self.signal("KILL")
        try:
            self.process.stdin.close()
            self.process.stdout.read()
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            raise Failure(f"endpoints {self.arguments} of {self.host} did not close") from None


def nothing_left(lab):
    for host in MAC:
        left = lab.lab("exec", host, "--", "ss", "-xlH") + lab.lab("exec", host, "--", "ss", "-0H")
        if "omx" in left or "86df" in left.lower() or "34527" in left:
            raise Failure(f"a socket is left on {host}: {left}")


def sockets(lab, host):
    """Counts packet sockets of our type. Each fanout group counts as one."""
    table = lab.lab("exec", host, "--", "cat", "/proc/net/packet").lower()
    return table.count(" 86df ")


@scenario(mtu="1500")
def crowd_of_hooks(lab):
    """32 processes open an endpoint each at the same moment, twice, and are killed or close. The messages of others
    arrive."""
    soaks = steady(lab, {})
    time.sleep(1)
    for how in ("KILL", "close"):
        crowd = [Neighbour(lab, host, 10, 1, "4", 32) for host in MAC]
        for neighbour in crowd:
            neighbour.open()
        for host in MAC:
            names = lab.lab("exec", host, "--", "ss", "-xlH")
            groups = len(set(re.findall(r"/hooks\S+", names)))
            if groups != 1:
                raise Failure(f"{groups} groups on {host}, not 1: {names}")
            print(f"  {host}: {sockets(lab, host)} packet sockets, one group")
        must_run(soaks, "the crowd was open")
        for neighbour in crowd:
            neighbour.end(how)
    must_run(soaks, "the crowd was gone")
    end_steady(soaks)
    finish_pair(pair(lab, {}))
    nothing_left(lab)


@scenario(mtu="1500")
def shared_hooks(lab):
    """2 to 34 endpoints of a host open, close, are stopped and killed at random. All messages of others arrive."""
    random_ = random.Random(time.time_ns())
    running = {(host, first): Neighbour(lab, host, first, count) for host in MAC for first, count in RANGES[:2]}
    soaks = steady(lab, SHARED)
    time.sleep(1)
    end = time.time() + lab.seconds
    ends = {"KILL": 0, "close": 0, "stop": 0}
    while time.time() < end:
        must_run(soaks, "the neighbours were done")
        host = random_.choice(list(MAC))
        first, count = random_.choice(RANGES)
        neighbour = running.pop((host, first), None)
        if neighbour is None:
            # Some have a packet socket of their own, as all had once, and some do so while there are few.
            running[host, first] = Neighbour(lab, host, first, random_.randint(1, count), random_.choice(["0", "0", "4", "256"]))
        elif random_.random() < 0.3:
            neighbour.signal("STOP")
            time.sleep(random_.uniform(0, 1))
            neighbour.signal("CONT")
            running[host, first] = neighbour
            ends["stop"] += 1
        else:
            how = random_.choice(["KILL", "close"])
            neighbour.end(how)
            ends[how] += 1
        time.sleep(random_.uniform(0, 0.3))
    must_run(soaks, "the neighbours were done")
    groups = lab.lab("exec", "h2", "--", "ss", "-xlH")
    if "/hooks" not in groups.replace("/hook/", ""):
        raise Failure(f"no processes share a fanout group, so this tests nothing: {groups}")
    for host in MAC:
        counters = lab.lab("exec", host, "--", lab.bin / "tools/omx", "counters", "-v")
        wrong = sum(int(n) for n in re.findall(r"(\d+) Link Frames Misdirected", counters))
        print(f"  {host}: {wrong} frames misdirected, {ends}")
    end_steady(soaks)
    for neighbour in running.values():
        neighbour.end("close")
    # The final runs verify all messages.
    finish_pair(pair(lab, SHARED))
    nothing_left(lab)
