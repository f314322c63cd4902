# SPDX-License-Identifier: BSD-3-Clause
"""Lists what bench/papers --live shows: each table and figure of the papers that can be measured today, with the published
figures.

A Row's `ours` is a function of the Figures of all rounds.
"""
import contextlib
import statistics
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Callable, Optional

from papers_live_measure import MESSAGE, OFFLOADED, OPERATIONS

KIB, MIB = 1 << 10, 1 << 20
JUMBO, PLAIN, LARGEST = 9000, 1500, 65535  # cables, by their MTU
GIGABIT, PLAIN_GIGABIT = "9000 at 1 Gb/s", "1500 at 1 Gb/s"  # cables with a rate
TABLE1_SIZES = (16, 4 * KIB, 64 * KIB, 4 * MIB)
NAMES = {"sendrecv": "SendRecv", "exchange": "Exchange", "allreduce": "Allreduce", "reduce": "Reduce", "reduce_scatter": "Reduce_scatter",
         "allgather": "Allgather", "allgatherv": "Allgatherv", "gather": "Gather", "gatherv": "Gatherv", "scatter": "Scatter",
         "scatterv": "Scatterv", "alltoall": "Alltoall", "alltoallv": "Alltoallv", "bcast": "Bcast", "barrier": "Barrier"}
# [J] Table 1: how much faster an operation is over Open-MX than over TCP, in percent.
TABLE1 = {
    "sendrecv": (107, 4.66, 8.88, 32.7), "exchange": (143, 8.38, 24.2, 29.0), "allreduce": (87.9, 2.51, 11.6, 4.77),
    "reduce": (64.7, 23.1, 26.5, -23.6), "allgather": (79.2, -7.1, 21.5, 56.0), "gather": (72.5, 52.6, 4.57, 76.4),
    "scatter": (86.3, 51.6, 18.4, 80.9), "alltoall": (47.0, 152, 47.2, 54.7), "bcast": (44.6, 20.1, -26.9, -39.6),
    "barrier": (73.7,),
}


class Figures:
    """Holds what was measured, by cable, part, contender and x: the figures of the rounds that have them."""

    def __init__(self, measured):
        self.samples, self.seen = {}, set()
        for number, mtu, part, contender, x, figure in measured:
            self.samples.setdefault((mtu, part, contender, str(x)), {})[number] = figure

    def __call__(self, mtu, part, contender, x):
        figure = statistics.median(self.samples[mtu, part, contender, str(x)].values())
        self.seen.add((mtu, part))
        return figure

    @contextlib.contextmanager
    def watched(self):
        """Gives a set that has, behind the block, each (cable, part) of which a figure was used in it."""
        self.seen = set()
        yield self.seen

    def both(self, one, other):
        """Returns pairs of figures from the rounds that have both."""
        first, second = (self.samples[(*key[:3], str(key[3]))] for key in (one, other))
        return [(first[number], second[number]) for number in first if number in second]

    def agree(self, one, other):
        """Returns whether one contender has the lower figure in every round."""
        signs = {a < b for a, b in self.both(one, other)}
        return len(signs) == 1

    def rounds(self, parts=None):
        """Says how many rounds parts have, given as {(cable, part)}; None: all."""
        numbers = {}
        for (cable, part, *_), samples in self.samples.items():
            if parts is None or (cable, part) in parts:
                numbers.setdefault((cable, part), set()).update(samples)
        counts = sorted({len(found) for found in numbers.values()})
        if not counts:
            return "not measured"
        if counts[-1] == 1:
            return "one round"
        return f"medians of {counts[0]} rounds" if len(counts) == 1 else f"{'one' if counts[0] == 1 else counts[0]} to {counts[-1]} rounds, by part"

    def points(self, mtu, part, contender):
        return sorted((int(x), self(mtu, part, contender, x)) for m, p, c, x in self.samples
                      if (m, p, c) == (mtu, part, contender) and x.isdigit())


@dataclass
class Row:
    what: str
    published: Optional[float]  # None: the papers' text has no figure
    unit: str
    ours: Callable


@dataclass
class Section:
    title: str
    rows: list
    notes: tuple = ()
    plots: tuple = ()


# --- derived figures ---

def mib_per_s(mtu, part, contender, size):
    return lambda f: size / MIB / f(mtu, part, contender, size) * 1e6


def plain(mtu, part, contender, x):
    return lambda f: f(mtu, part, contender, x)


def faster(slow, fast):
    """Returns how much faster the second of two keys is, in percent."""
    return lambda f: (f(*slow) / f(*fast) - 1) * 100


def factor(slow, fast):
    return lambda f: f(*slow) / f(*fast)


def mean_of(functions):
    return lambda f: statistics.mean(function(f) for function in functions)


def operation_key(ranks, contender, operation, size):
    return JUMBO, f"imb{ranks}", contender, f"{operation} {0 if operation == 'barrier' else size}"


def over_tcp(ranks, operation, size, contender="omx"):
    """Returns the two keys of Table 1: TCP's time and ours."""
    return operation_key(ranks, "tcp", operation, size), operation_key(ranks, contender, operation, size)


def offload_gain(ranks, size):
    """Returns [I] Fig. 12: the gain of a helper thread over the processor, mean of all operations with data."""
    return mean_of([faster(operation_key(ranks, "processor", o, size), operation_key(ranks, "helper", o, size)) for o in OPERATIONS if o != "barrier"])


def best_share(ranks, size, contender):
    """Returns the rate relative to the default way, mean of all operations with data."""
    return mean_of([lambda f, o=o: 100 * f(*operation_key(ranks, "omx", o, size)) / f(*operation_key(ranks, contender, o, size))
                    for o in OPERATIONS if o != "barrier"])


# --- plots ---

def plot(name, title, y, curves, x="message", log=True):
    """Makes a plot. `curves` is {name: function of the Figures that returns the points}."""
    return SimpleNamespace(name=f"live-{name}", title=title, x=x, y=y, log=log, wanted=curves, curves={})


def rates(mtu, part, contender):
    return lambda f: [(size, size / MIB / us * 1e6) for size, us in f.points(mtu, part, contender) if size]


def blocks_rate(contender, cable=JUMBO, part="blocks"):
    return lambda f: [(count, 4 / us * 1e6) for count, us in f.points(cable, part, contender)]


def busy_share(contender):
    return lambda f: sorted((int(x.split()[0]), f(m, p, c, x)) for m, p, c, x in f.samples if (p, c) == ("busy", contender) and x.endswith(" busy"))


def relative_to_timer(strategy):
    def points(f):
        return sorted((int(x.split()[1]), f(m, p, c, x) / f(m, p, "timer", x)) for m, p, c, x in f.samples
                      if (p, c) == ("strategies", strategy) and x.startswith("us ") and x != "us one")
    return points


WAYS = {"processor": "by the processor", "helper": "by a helper thread", "skipped": "not copied", "kernel": "placed by the kernel",
        "bulk": "batches by UDP (default)"}
STRATEGY_NAMES = {"timer": "default (75 us)", "frame": "disabled", "message": "Open-MX", "stream": "Stream", "adaptive": "adaptive (ours)"}


def way_rows(size, name, published):
    return [Row(f"{name}, {WAYS[way]}", published.get(way), "MiB/s", mib_per_s(JUMBO, "copies", way, size)) for way in WAYS]


def strategy_rows(what, x, unit, published):
    return [Row(f"{what}, {name}", published.get(strategy), unit, plain(PLAIN, "strategies", strategy, x)) for strategy, name in STRATEGY_NAMES.items()]


def strategy_ratios(what, x, published):
    return [Row(f"{what}, {STRATEGY_NAMES[strategy]} over default", value, "",
                factor((PLAIN, "strategies", strategy, x), (PLAIN, "strategies", "timer", x))) for strategy, value in published.items()]


# --- the sections behind Table 1 ---

PINGPONG = Section("[J] Fig. 9 and 12, [I] Fig. 11: IMB Pingpong", [
    Row("0 B, Open-MX", 7.3, "us", plain(JUMBO, "pingpong", "omx", 0)),
    Row("0 B, TCP", 13.2, "us", plain(JUMBO, "pingpong", "tcp", 0)),
    Row("0 B, Open-MX faster by", 80.8, "%", faster((JUMBO, "pingpong", "tcp", 0), (JUMBO, "pingpong", "omx", 0))),
    Row("4 MiB, Open-MX", 1114, "MiB/s", mib_per_s(JUMBO, "pingpong", "omx", 4 * MIB)),
    Row("4 MiB, TCP", None, "MiB/s", mib_per_s(JUMBO, "pingpong", "tcp", 4 * MIB)),
    Row("4 MiB, Open-MX faster by (up to)", 50, "%", faster((JUMBO, "pingpong", "tcp", 4 * MIB), (JUMBO, "pingpong", "omx", 4 * MIB))),
    Row("the same, MTU 1500", None, "%", faster((PLAIN, "pingpong", "tcp", 4 * MIB), (PLAIN, "pingpong", "omx", 4 * MIB))),
    Row("the same, MTU 65535", None, "%", faster((LARGEST, "pingpong", "tcp", 4 * MIB), (LARGEST, "pingpong", "omx", 4 * MIB))),
    Row("4 MiB, MTU 9000 over 1500, Open-MX by frames", 2, "", factor((PLAIN, "pingpong", "frames", 4 * MIB), (JUMBO, "pingpong", "frames", 4 * MIB))),
    Row("the same, batches by UDP (default)", None, "", factor((PLAIN, "pingpong", "omx", 4 * MIB), (JUMBO, "pingpong", "omx", 4 * MIB))),
    Row("the same, TCP (about)", 1, "", factor((PLAIN, "pingpong", "tcp", 4 * MIB), (JUMBO, "pingpong", "tcp", 4 * MIB))),
    Row("128 KiB to 4 MiB, helper thread over processor, mean", 30, "%", mean_of([
        faster((JUMBO, "pingpong", "processor", k * KIB), (JUMBO, "pingpong", "helper", k * KIB)) for k in (128, 256, 512, 1024, 2048, 4096)])),
], ("The paper's Open-MX had nothing like TCP's segmentation offload and paid for each frame. Ours hands the kernel batches of frames by UDP, which a virtual cable "
    "never cuts. *By frames* (`OMX_UDP_BULK=0`) is the paper's way.",
    "1114 MiB/s is close to the line rate (1186) of the papers' cable. Ours has none: it is as fast as the processors copy.",
    "[I] also measured without a registration cache: see *registration cache* below."), tuple(
        plot(f"pingpong-{mtu}", f"IMB Pingpong, MTU {mtu}", "MiB/s", {
            name: rates(mtu, "pingpong", contender) for contender, name in (
                ("omx", "Open-MX"), ("frames", "Open-MX, frames only"), ("tcp", "TCP"))}) for mtu in (PLAIN, JUMBO, LARGEST)))

COPIES = Section("[I] Fig. 3 and 8, [J] Fig. 10: throughput of a ping-pong by who copies", [
    *way_rows(4 * MIB, "4 MiB", {"processor": 800, "helper": 1114, "skipped": 1186}),
    Row("4 MiB, helper thread over processor", 39.3, "%", faster((JUMBO, "copies", "processor", 4 * MIB), (JUMBO, "copies", "helper", 4 * MIB))),
    Row("4 MiB, not copied over processor", 48.3, "%", faster((JUMBO, "copies", "processor", 4 * MIB), (JUMBO, "copies", "skipped", 4 * MIB))),
    *way_rows(256 * KIB, "256 KiB", {}),
    Row("256 KiB, helper thread over processor (more than)", 20, "%",
        faster((JUMBO, "copies", "processor", 256 * KIB), (JUMBO, "copies", "helper", 256 * KIB))),
    Row("256 KiB, helper thread below not copied", 26, "%", lambda f: (1 - f(JUMBO, "copies", "skipped", 256 * KIB) / f(
        JUMBO, "copies", "helper", 256 * KIB)) * 100),
], ("The papers' engine is I/OAT; this machine has neither that nor its successor DSA, so a helper thread stands for it, on the processor that the other host needs.",
    "*Not copied* is the papers' prediction: a build of its own, whose messages are garbage, tells what a perfect engine would be worth. Then their receiver was the limit, "
    "here it is as much the sender, whose system calls hand over the frames."),
    (plot("copies", "ping-pong by who copies", "MiB/s", {name: rates(JUMBO, "copies", way) for way, name in WAYS.items()}),))

MEDIUM = Section("[I] IV-C: fragments of medium messages copied by the engine", [
    row for size, name in ((32 * KIB, "32 KiB"), (8 * KIB, "8 KiB")) for row in (
        *(Row(f"{name}, {text}", None, "us", plain(JUMBO, "medium", who, size)) for who, text in (
            ("processor", "by the processor"), ("helper", "the engine for large messages only"), ("fragments", "the engine for fragments, too"))),
        Row(f"{name}, fragments by the engine over the processor (\"a performance degradation\")", None, "", factor(
            (JUMBO, "medium", "fragments", size), (JUMBO, "medium", "processor", size))))
], ("By frames, from the receive ring, `OMX_COPY_MEDIUM=1` with a helper thread as the engine; half round trips. More than 1 is a degradation, as in the paper, which gives no figure.",
    "The paper's reason: each copy of a fragment has to end before the next frame. Ours overlap ([copies](../explanation/copies.md)), and 32 KiB lose all the same: handing a fragment to another "
    "processor takes about as long as copying it ([notebook.md](notebook.md)). With 8 KiB it makes no difference."))

REGISTRATION = Section("[I] Fig. 11: what a registration cache would tell apart", [
    row for size, name in ((64 * KIB, "64 KiB"), (4 * MIB, "4 MiB")) for row in (
        *(Row(f"{name}, {way}, {how}", None, "us", plain(JUMBO, "buffers", f"{who}, {key}", size))
          for who, way in (("omx", "Open-MX"), ("tcp", "TCP"))
          for key, how in (("same", "the same memory each time"), ("others", "16 buffers in turn"), ("fresh", "received into new pages"))),
        *(Row(f"{name}, new pages cost {way}", None, "us", lambda f, s=size, w=who: f(JUMBO, "buffers", f"{w}, fresh", s) - f(JUMBO, "buffers", f"{w}, same", s))
          for who, way in (("omx", "Open-MX"), ("tcp", "TCP"))),
    )
] + [
    Row("4 MiB, Open-MX, `OMX_ZEROCOPY=1`", None, "us", plain(JUMBO, "buffers", "omx, pinned", 4 * MIB)),
    Row("4 MiB, `OMX_ZEROCOPY=1` costs, for each page of 4 KiB, late copy included", None, "ns", lambda f: 1e3 * (f(JUMBO, "buffers", "omx, pinned", 4 * MIB) - f(
        JUMBO, "buffers", "omx, same", 4 * MIB)) / (4 * MIB // 4096)),
],
    ("The paper's driver pinned the pages of each large message. A registration cache keeps them pinned, so that only memory that was not used before costs anything. It found the cache \"much less "
     "important\" than copy offload, without a figure.",
     "Open-MX in user space has nothing to cache: packet sockets and UDP copy between pages of the process and the kernel, whichever they are. Where the kernel or a NIC needs memory of its own, "
     "it is set up once for an endpoint: the receive ring, AF_XDP's UMEM, the shared memory inside a host. `fi_mr_reg` makes an entry of a table.",
     "So this measures what the cache distinguishes: memory that served before (the same, or 16 buffers in turn, which at 4 MiB are 64 MiB; each of the two ranks has such a pool to send from and one to receive into, 256 MiB in all), and pages that never did "
     "(`mmap` before a receive, `munmap` behind it). The kernel has to find and clear new pages for any transport, so TCP stands beside it. Half round trips by MPI.",
     "`OMX_ZEROCOPY=1` is the nearest that exists to a driver that pins without a cache: the kernel pins the sender's pages at every call and gives them back. A virtual cable copies them all the same, "
     "only later, when they have left the sender. So these rows have the cost of pinning and of the late copy together, and not the gain. Messages that wait for no receive (64 KiB here) are always copied, and have no such row.",
     "Why new pages cost Open-MX more of its time than TCP was not examined."))

PIECES = Section("[I] Fig. 7: copying pieces", [
    Row("processor, 4 KiB", 1.6, "GB/s", plain(JUMBO, "pieces", "pieces", "cpu 4096")),
    Row("processor, 4 KiB, in cache", 12.9, "GB/s", plain(JUMBO, "pieces", "pieces", "cpu 4096 cached")),
    *(Row(f"engine, {size} B", {4096: 2.6}.get(size), "GB/s", plain(JUMBO, "pieces", "pieces", f"thread {size}")) for size in (256, 1024, 4096)),
    *(Row(f"engine, {size} B, to submit", 350 if size == 4096 else None, "ns", plain(JUMBO, "pieces", "pieces", f"thread {size} ns")) for size in (256, 1024, 4096)),
], ("The engine is the helper thread, out of cache unless the row says otherwise. I/OAT was 1.6 times as fast as the processor beside it; another processor is at best as fast as the "
    "first. What it costs to submit depends on whether the helper sleeps.",))

BUSY = Section("[I] Fig. 9, [J] Fig. 11: the receiver's processor, a stream of synchronous messages", [
    Row(f"{name}, {WAYS[way]}", published.get(way), "%", plain(JUMBO, "busy", way, f"{size} busy"))
    for size, name, published in ((64 * KIB, "64 KiB (theirs 32 kB)", {"processor": 50, "helper": 42}), (4 * MIB, "4 MiB", {"processor": 95, "helper": 60}))
    for way in ("processor", "helper", "kernel", "bulk")
] + [Row(f"4 MiB, {WAYS[way]}", None, "Gb/s", plain(JUMBO, "busy", way, f"{4 * MIB} rate")) for way in ("processor", "helper", "kernel", "bulk")],
    ("The receiver sleeps while nothing comes (`OMX_SPIN_US=0`); its processor alone is counted, in hundredths of a second as /proc/stat has it. The helper thread works on the other "
    "one, where it takes the sender's time: with hardware it would not.",
    "The sender's host delivers a frame on a virtual cable: what was the bottom half of the receiver's interrupt handler is the sender's time here.",
    "A receiver that is faster has more to do in the same time, so shares count only beside the rates; and what else runs on that processor is in them.",
    "With the helper thread the receiver's own share does not fall, against the paper; why is unexplained."),
    (plot("busy", "receiver's processor, stream of synchronous messages", "% busy", {WAYS[way]: busy_share(way) for way in ("processor", "helper", "kernel", "bulk")}),))

LOCAL = Section("[I] Fig. 10: inside a host", [
    Row("256 KiB, one copy (cache shared: up to)", 6144, "MiB/s", mib_per_s(JUMBO, "local", "one copy", 256 * KIB)),
    Row("4 MiB, one copy (no cache shared)", 1229, "MiB/s", mib_per_s(JUMBO, "local", "one copy", 4 * MIB)),
    Row("4 MiB, two copies", None, "MiB/s", mib_per_s(JUMBO, "local", "two copies", 4 * MIB)),
    Row("4 MiB, two copies, with the engine", 2355, "MiB/s", mib_per_s(JUMBO, "local", "two copies, helper", 4 * MIB)),
], ("The papers' one copy is the driver's, from one process into the other; ours is the kernel's `process_vm_readv`, which no engine of a user can take over. So the helper thread "
    "is measured where two copies by shared memory are (`OMX_LOCAL_DIRECT=0`).",),
    (plot("local", "ping-pong inside a host", "MiB/s", {name: rates(JUMBO, "local", name) for name in ("one copy", "two copies", "two copies, helper")}),))

FIG12 = Section("[I] Fig. 12: all operations, a helper thread copies instead of the processor", [
    row for size, name in zip(OFFLOADED, ("128 KiB", "4 MiB"))
    for ranks, gain, share in ((2, {4 * MIB: 32, 128 * KIB: 24}[size], {4 * MIB: 90, 128 * KIB: 68}[size]), (4, {4 * MIB: 41}.get(size), {4 * MIB: 94}.get(size)))
    for row in (Row(f"{name}, {ranks} ranks, mean gain", gain, "%", offload_gain(ranks, size)),
                Row(f"{name}, {ranks} ranks, of the best way's rate", share, "%", best_share(ranks, size, "helper")))
], ("*Of the best way's rate*: the paper's is native MX, ours the default (batches by UDP, placed by the kernel). Means of all operations of the table above.",
    "The paper's 24 and 68 % at 128 kB are means of one and two processes a node.",
    "With four ranks and their helper threads on two processors, no processor is left to copy beside them.",))

TABLE2 = Section("[J] Table 2: what the engine adds, by MTU", [
    row for mtu, pingpong, alltoall in ((JUMBO, (24.3, 32.2), (10.6, 57.2)), (PLAIN, (10.4, 0.7), (7.6, 5.6)))
    for row in (
        Row(f"MTU {mtu}, 4 MiB ping-pong, not tuned", pingpong[0], "%", faster((mtu, "table2", "processor", "not tuned"), (mtu, "table2", "helper", "not tuned"))),
        Row(f"MTU {mtu}, 4 MiB ping-pong, tuned", pingpong[1], "%", faster((mtu, "table2", "processor", "tuned"), (mtu, "table2", "helper", "tuned"))),
        Row(f"MTU {mtu}, 4 MiB Alltoall, tuned", alltoall[1], "%", faster((mtu, "alltoall", "processor", "us"), (mtu, "alltoall", "helper", "us"))))
], ("*Tuned*: both ends poll. *Not tuned*: they sleep, and a timer of 75 us wakes them, as the papers' NIC did (`OMX_MODERATION=timer`). Alltoall of 4 ranks, the paper's of 16.",
    "The paper has TCP with I/OAT beside it, which gained nothing. Linux has no copy offload for TCP any more (since 3.13)."))

WIRE = Section("[J] Fig. 13: the wire format of MX", [
    *(Row(f"{name}, {contender}", None, "MiB/s", mib_per_s(JUMBO, "wire", contender, size)) for size, name in ((64 * KIB, "64 KiB"), (4 * MIB, "4 MiB"))
      for contender in ("omx", "omx by frames", "mxoe", "mxoe, peer without our block")),
    Row("4 MiB, beside a host with MX (about)", 90, "%", lambda f: 100 * f(JUMBO, "wire", "omx by frames", 4 * MIB) / f(JUMBO, "wire", "mxoe, peer without our block", 4 * MIB)),
    Row("1 KiB to 4 MiB, least", 65, "%", lambda f: min(
        100 * f(JUMBO, "wire", "omx by frames", 1 << b) / f(JUMBO, "wire", "mxoe, peer without our block", 1 << b) for b in range(10, 23))),
], ("Measured by the MX API (`omx perf`), because MPI uses libfabric, and MX's packets have no room for its tags and data. No host with native MX is available.",
    "*Peer without our block* is Open-MX that sends and understands nothing but MX's packets (`OMX_WIRE_MODE=mxoe`, `OMX_EXTENSION=0` at one end). "
    "The paper's shares are of native MX's throughput at both ends, ours of our own frames at both ends.",),
    (plot("wire", "ping-pong by wire format, MTU 9000", "MiB/s", {
        name: rates(JUMBO, "wire", name) for name in ("omx", "omx by frames", "mxoe", "mxoe, peer without our block")}),))

BLOCK_CONTENDERS = [f"{mode}, {how}" for mode in ("frames of 9000 B", "packets of 4 kB") for how in ("tuned", "not tuned")]
BLOCKS = Section("[J] Fig. 14: larger packets, more blocks in flight", [
    *(Row(f"16 blocks over 1, {name}", None, "", factor((JUMBO, "blocks", name, 1), (JUMBO, "blocks", name, 16))) for name in BLOCK_CONTENDERS),
    *(Row(f"frames of 9000 B over packets of 4 kB, {how}", None, "", factor((JUMBO, "blocks", f"packets of 4 kB, {how}", 4), (JUMBO, "blocks", f"frames of 9000 B, {how}", 4)))
      for how in ("tuned", "not tuned")),
], ("4 MiB, by frames. The paper's text has no figures: larger packets \"improve performance significantly in all cases\", more in flight helps \"dramatically\" where it was not tuned, and "
    "not as much where it was. The paper varied packets in a block, 8 or 32; ours are as many as a turn of the pull budget allows, and the blocks in flight are varied.",),
    (plot("blocks", "4 MiB by blocks in flight, MTU 9000", "MiB/s", {name: blocks_rate(name) for name in BLOCK_CONTENDERS}, "blocks", False),))

WAKEUPS = Section("[C] Fig. 5 and 6, Tables I and II: interrupts, here wake-ups of a sleeping receiver", [
    *strategy_rows("0 B", "rate 0", "1/s", {"timer": 490_000, "frame": 252_000, "message": 423_000, "stream": 435_000}),
    *strategy_rows("32 KiB", f"rate {32 * KIB}", "1/s", {"timer": 14_507, "frame": 6_476, "message": 14_533, "stream": 14_691}),
    *strategy_rows("1 MiB", f"rate {MIB}", "1/s", {"timer": 452, "frame": 334, "message": 451, "stream": 447}),
    *strategy_ratios("half round trip of 0 B", "us 0", {"frame": 0.133, "message": 0.133}),
    *strategy_ratios(f"{MESSAGE // 1000} kB, time", "us one", {"frame": 0.925, "message": 0.929}),
    *strategy_ratios(f"{MESSAGE // 1000} kB, wake-ups", "wake-ups one", {"frame": 6.42, "message": 0.951}),
    Row(f"{MESSAGE // 1000} kB, frames", 162, "", plain(PLAIN, "strategies", "message", "frames one")),
], ("A NIC of the papers decided when to interrupt; a virtual cable has no interrupts, and what the strategies decide here is when a sleeping thread is woken (`OMX_MODERATION`, "
    "[waiting.md](../explanation/waiting.md)), with a timer of 75 us. MTU 1500, frames only, both ends asleep between frames.",
    "A thread sleeps only after it has read everything that arrived. So in a stream there is less to decide than for a NIC, which interrupts working processes.",
    "The order of the paper does not hold here: without moderation the rates of 0 B and 1 MiB are higher than with Open-MX's marks, and Stream is the slowest of the papers' four for "
    "1 MiB. For 32 KiB disabled is the slowest, as in the paper. What marks gain here against the timer is latency, not rate."),
    (plot("strategies", "transfer time relative to the timer of 75 us, MTU 1500", "", {
        name: relative_to_timer(strategy) for strategy, name in STRATEGY_NAMES.items()}),))

SORT = Section("[J] Table 3: NAS IS", [
    Row("Open-MX (theirs class C, 16 processes)", 5.62, "s", lambda f: f(JUMBO, "sort", "omx", "us") / 1e6),
    Row("TCP", 5.84, "s", lambda f: f(JUMBO, "sort", "tcp", "us") / 1e6),
    Row("Open-MX faster by", 3.91, "%", faster((JUMBO, "sort", "tcp", "us"), (JUMBO, "sort", "omx", "us"))),
], ("The one benchmark of the eight that communicates much: ten sorts of 2^23 keys (class A) on 4 ranks, by a program of ours that sorts keys as IS does (`bench/jobs/mpi_is.c`; the "
    "NAS Parallel Benchmarks are not in Debian). The others compute most of the time: `bench/hpcc` has applications.",
    "Why TCP is ahead: for a part by what stays inside a host. Measured apart (medians of 6 runs in one session that scatter by 10 %), the sort takes 331 "
    "ms over Open-MX, 296 ms when its ranks of a host exchange by two copies in shared memory (`OMX_LOCAL_DIRECT=0`) instead of one by `process_vm_readv`, "
    "and 266 ms over TCP, which has Open MPI's own shared memory there. Here two ranks share each processor, and the receiver of a direct copy has to have "
    "its turn first. The rest is unexplained."))

SECTIONS = (PINGPONG, REGISTRATION, COPIES, MEDIUM, PIECES, BUSY, LOCAL, FIG12, TABLE2, WIRE, BLOCKS)
LATER_SECTIONS = (SORT, WAKEUPS)  # behind those of papers_live_gigabit.py

LEFT_OUT = (
    "[Q] all, [C] Fig. 4: they place interrupts on cores with and without a common cache, and delay them. A virtual cable has no interrupts, this machine two cores. "
    "In simulation: [evaluation.md](evaluation.md). What steering frames to cores brings here: [steering.md](../explanation/steering.md).",
    "[J] Table 3: the kernels but IS, [C] Tables IV and V: the NAS Parallel Benchmarks are not in Debian, and ranks of Open MPI poll, so that no strategy of wake-ups concerns them. "
    "`bench/hpcc` runs HPC Challenge over Open-MX and TCP.",
    "[J] Fig. 9, TCP not tuned, TCP with I/OAT, native MX: no such hardware or software.",
)
