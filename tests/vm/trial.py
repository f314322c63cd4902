# SPDX-License-Identifier: BSD-3-Clause
"""What trials of a feature share: their list, their verdicts, and pairs of programs."""
import os
import re
import select
import time

from guests import Failure

BOTH = ("h1", "h2")
NOBODY = 65534
READY_S = 60  # until a program has started in a guest, on a machine with other work
SIZES = "0,8,128,1K,4K,32K,64K,1M"  # of every class: tiny, small, medium, by GSO batches, rendezvous
SHORT_SIZES = "8,4K,256K"
ASLEEP = {"OMX_SPIN_US": "0"}
FEATURES = []


class Refused(Exception):
    """The driver or the kernel cannot do it, or Open-MX says that it does not. The message is its sentence."""


class Feature:
    def __init__(self, title, function):
        self.title = title
        self.function = function
        self.name = function.__name__


def feature(title):
    """Registers a trial: a function of the guests that returns a remark, or None, if all is well."""
    def register(function):
        FEATURES.append(Feature(title, function))
        return function

    return register


def mac_of(guests, host, interface):
    return guests.good(host, f"cat /sys/class/net/{interface}/address").strip()


def hear(process, words, seconds=READY_S):
    """Waits until a program has said these words. Returns what it said until then."""
    said, end = "", time.monotonic() + seconds
    while words not in said:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
        # Not by the file object, whose buffer select does not know.
        part = os.read(process.stdout.fileno(), 65536).decode(errors="replace") if ready else ""
        if not part:
            raise Failure(f"a program did not say {words!r} within {seconds} s; it said: {said.strip()[-400:]}")
        said += part
    return said


def stop(process):
    process.terminate()
    try:
        return process.communicate(timeout=60)[0]
    except Exception:  # noqa: BLE001  (whatever it was, it must not stay)
        process.kill()
        process.communicate()
        raise


def last_words(said):
    lines = [line.strip() for line in said.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "(nothing)"


def warnings(said):
    return [line.partition("warning: ")[2].strip() for line in said.splitlines() if "warning: " in line]


def count(text, name):
    """Returns the sum of a counter over the endpoints that `omx counters -v` listed."""
    return sum(int(value) for value in re.findall(rf"^\d+: +(\d+) {re.escape(name)}$", text, re.MULTILINE))


class Moved:
    """What both ends said, and the counters of the server."""

    def __init__(self):
        self.said = ""
        self.counters = ""

    def count(self, name):
        return count(self.counters, name)


def perf(guests, env=None, sizes=SIZES, interface="eth0", tests=("pingpong",), user=None, seconds=0.3, limit=150, peer=None, polls=False):
    """Moves messages of these sizes between the guests, every byte checked.

    Both ends sleep while they wait, unless they are to poll. A poll would take the processor that the other guest needs.
    """
    env = {"OMX_INTERFACES": interface, **({} if polls else ASLEEP), **(env or {})}
    server = guests.start("h1", "exec omx perf --timeout 60", env, user)
    moved = Moved()
    try:
        moved.said += hear(server, "waiting for clients")
        peer = peer or mac_of(guests, "h1", interface)
        for test in tests:
            chosen = "8" if test == "rate" else sizes
            status, client = guests.run(
                "h2", f"exec omx perf {peer} --test {test} --sizes {chosen} --max-time {seconds} --verify --timeout 60{'' if polls else ' --wait'}",
                env, limit, user)
            moved.said += client
            if status:
                raise Failure(f"omx perf --test {test}: {last_words(client)}")
            sizes_measured = re.findall(r"^ +(\d+) +(\d+) ", client, re.MULTILINE)
            if len(sizes_measured) != len(chosen.split(",")):
                raise Failure(f"omx perf --test {test} measured {len(sizes_measured)} sizes of {chosen}: {client[-300:]}")
        moved.counters = guests.good("h1", "omx counters -v", user=user)
    finally:
        moved.said += stop(server)
    return moved


class Soak:
    """A pair of programs that send each other messages of all classes, and check them, until it is told to end."""

    def __init__(self, guests, env=None, interface="eth0", messages=None):
        self.guests = guests
        full = {"OMX_INTERFACES": interface, "OMX_PEER_TIMEOUT_MS": "60000", **ASLEEP, **(env or {})}
        macs = {host: mac_of(guests, host, interface.split(",")[0]) for host in BOTH}
        how = f"--messages {messages}" if messages else "--until-told"
        self.processes = {}
        for host, peer in (("h1", "h2"), ("h2", "h1")):
            line = f"exec omx_soak --endpoint 0 --peer {macs[peer]} --peer-endpoint 0 --connect-s 60 --max-length 262144 --wait {how}"
            self.processes[host] = guests.start(host, line, full)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            for process in self.processes.values():
                process.kill()
                process.communicate()

    def moves(self, seconds=60):
        """Waits until messages arrive from now on."""
        before = self.received()
        end = time.monotonic() + seconds
        while self.received() < before + 20:
            for host, process in self.processes.items():
                if process.poll() is not None:
                    raise Failure(f"the program of {host} ended: {process.stdout.read().strip()[-400:]}")
            if time.monotonic() > end:
                raise Failure(f"no message arrived within {seconds} s")
            time.sleep(0.5)

    def received(self):
        return self.counter("Messages Received")

    def counter(self, name, host="h1"):
        """Returns the sum of a counter over the endpoints of a host."""
        return count(self.guests.run(host, "omx counters -v")[1], name)

    def end(self, seconds=120):
        """Ends the pair, which must have received every message unharmed."""
        for process in self.processes.values():
            process.terminate()
        for host, process in self.processes.items():
            try:
                said, _ = process.communicate(timeout=seconds)
            except Exception:  # noqa: BLE001
                process.kill()
                said, _ = process.communicate()
                raise Failure(f"the program of {host} did not end within {seconds} s: {said.strip()[-400:]}") from None
            if process.returncode:
                raise Failure(f"the program of {host} ended with {process.returncode}: {said.strip()[-400:]}")
