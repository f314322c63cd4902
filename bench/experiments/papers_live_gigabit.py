# SPDX-License-Identifier: BSD-3-Clause
"""Lists what bench/papers --live shows of [J]'s figures at 1 Gb/s, and judges which of the papers' statements hold there."""
from dataclasses import dataclass
from typing import Callable

from papers_live_tables import (BLOCK_CONTENDERS, GIGABIT, KIB, MIB, PLAIN_GIGABIT, Row, Section, blocks_rate, factor, faster, mib_per_s, plain,
                                plot, rates)

# Payload of a second of 1 Gb/s by UDP over IPv4 at MTU 9000, in MiB: preamble, gap, Ethernet, IP and UDP take 66 bytes of 9038.
WIRE_MIB_S = 1e9 / 8 * (9000 - 28) / 9038 / MIB
TENS_AND_HUNDREDS = [1 << bit for bit in range(14, 20)]  # of kilobytes
FULL_SHARE = 0.9  # of the wire's rate, counts as its full capacity
CLOSE = 0.1  # what the papers call up to 10 %
DRAMATIC = 1.5  # and a dramatic improvement


@dataclass
class Statement:
    """A sentence of a paper. `judge` returns (whether it holds, our figures as a text)."""
    text: str
    judge: Callable


def wire_share(f):
    shares = [mib_per_s(GIGABIT, "gigabit", who, 4 * MIB)(f) / WIRE_MIB_S for who in ("omx", "tcp")]
    return min(shares) >= FULL_SHARE, f"{shares[0]:.0%} of it, TCP {shares[1]:.0%}"


def gains(f, cable, sizes, who):
    return [faster((cable, "gigabit", "tcp", size), (cable, "gigabit", who, size))(f) for size in sizes]


def middle_sizes(f):
    found, plain_found, batches = (gains(f, cable, TENS_AND_HUNDREDS, who) for cable, who in (
        (GIGABIT, "frames"), (PLAIN_GIGABIT, "frames"), (GIGABIT, "omx")))
    both = found + plain_found
    return max(both) > 0 and min(both) > -1, (f"by frames {min(found):+.1f} to {max(found):+.1f} %, MTU 1500 {min(plain_found):+.1f} to {max(plain_found):+.1f} %; "
                                              f"by default {min(batches):+.1f} to {max(batches):+.1f} %")


def latency(f):
    omx, tcp = (f(GIGABIT, "gigabit", who, 0) for who in ("omx", "tcp"))
    return omx < tcp, f"{omx:.1f} and {tcp:.1f} us: {tcp - omx:.1f} us less"


def tuning_rate(f):
    gain = faster((GIGABIT, "tuning", "not tuned", 4 * MIB), (GIGABIT, "tuning", "tuned", 4 * MIB))(f)
    return 0 <= gain <= 100 * CLOSE, f"{gain:+.1f} % at 4 MiB"


def tuning_latency(f):
    slow, fast = (f(GIGABIT, "tuning", how, 0) for how in ("not tuned", "tuned"))
    return fast < slow, f"{slow:.1f} us, tuned {fast:.1f}"


def mtu_gain(f):
    gain = faster((PLAIN_GIGABIT, "tuning", "not tuned", 4 * MIB), (GIGABIT, "tuning", "not tuned", 4 * MIB))(f)
    return 0 <= gain <= 100 * CLOSE, f"{gain:+.1f} % at 4 MiB"


def mtu_medium(f):
    gain = faster((GIGABIT, "tuning", "not tuned", 16 * KIB), (PLAIN_GIGABIT, "tuning", "not tuned", 16 * KIB))(f)
    return gain > 0, f"{gain:+.1f} % at 16 KiB"


def always_faster(f):
    sizes = [0, 1, *(1 << bit for bit in range(12, 23))]
    found, batches = (gains(f, GIGABIT, sizes, who) + gains(f, PLAIN_GIGABIT, sizes, who) for who in ("frames", "omx"))
    ahead, default = (sum(gain > 0 for gain in some) for some in (found, batches))
    return ahead == len(found), f"by frames in {ahead} of {len(found)} sizes and MTUs, {min(found):+.1f} to {max(found):+.0f} %; by default in {default}"


def larger_packets(f):
    ratios = [factor((GIGABIT, "gigabit_blocks", f"packets of 4 kB, {how}", 4), (GIGABIT, "gigabit_blocks", f"frames of 9000 B, {how}", 4))(f) for how in ("not tuned", "tuned")]
    return min(ratios) > 1, f"{ratios[0]:.2f}, tuned {ratios[1]:.2f} times as fast"


def deeper(f, how):
    return [factor((GIGABIT, "gigabit_blocks", name, 1), (GIGABIT, "gigabit_blocks", name, 16))(f) for name in BLOCK_CONTENDERS if name.endswith(f", {how}")]


def deeper_untuned(f):
    found = deeper(f, "not tuned")
    return min(found) >= DRAMATIC, f"{found[0]:.2f} times as fast, packets of 4 kB {found[1]:.2f}"


def deeper_tuned(f):
    found = deeper(f, "tuned")
    return all(tuned < other for tuned, other in zip(found, deeper(f, "not tuned"))), f"{found[0]:.2f} times as fast, packets of 4 kB {found[1]:.2f}"


NOTE = ("The cable of this section is a switch of the lab whose ports send 1 Gb/s (`--rate 1gbit --port-queue 6M`). Batches of UDP and TCP are cut into frames before it. A port lets two frames "
        "pass at once (18 kB, 144 us of the wire) and gains that back while the answer travels. So up to 16 KiB a message takes half the wire's time at most, whichever way it goes, and 256 KiB 7 % less.")

FIG9 = Section("[J] Fig. 9(a) and 12(a): IMB Pingpong at 1 Gb/s", [
    Row("0 B, Open-MX, tuned", 24.9, "us", plain(GIGABIT, "gigabit", "omx", 0)),
    Row("0 B, TCP, tuned", 30.8, "us", plain(GIGABIT, "gigabit", "tcp", 0)),
    Row("0 B, Open-MX, not tuned", 44.6, "us", plain(GIGABIT, "tuning", "not tuned", 0)),
    *(Row(f"{name}, {way}", None, "MiB/s", mib_per_s(GIGABIT, "gigabit", who, size)) for size, name in ((32 * KIB, "32 KiB"), (64 * KIB, "64 KiB"), (256 * KIB, "256 KiB"), (4 * MIB, "4 MiB"))
      for who, way in (("omx", "Open-MX"), ("frames", "Open-MX by frames"), ("tcp", "TCP"))),
    Row("4 MiB, Open-MX, MTU 1500", None, "MiB/s", mib_per_s(PLAIN_GIGABIT, "gigabit", "omx", 4 * MIB)),
    Row("4 MiB, Open-MX by frames, MTU 1500", None, "MiB/s", mib_per_s(PLAIN_GIGABIT, "gigabit", "frames", 4 * MIB)),
    Row("4 MiB, TCP, MTU 1500", None, "MiB/s", mib_per_s(PLAIN_GIGABIT, "gigabit", "tcp", 4 * MIB)),
], (NOTE, "*By frames* is the papers' way; their Open-MX had no batches by UDP. A statement about Open-MX beside TCP is judged by it.",
    "*Not tuned*: as in Table 2, a sleeping receiver and a timer of 75 us, by `omx perf`, in frames. TCP has no such timer here."),
    tuple(plot(f"gigabit-{name}", f"IMB Pingpong at 1 Gb/s, MTU {mtu}", "MiB/s", {
        text: rates(cable, "gigabit", who) for who, text in (("omx", "Open-MX"), ("frames", "Open-MX, frames only"), ("tcp", "TCP"))})
        for cable, mtu, name in ((GIGABIT, 9000, "9000"), (PLAIN_GIGABIT, 1500, "1500"))))
FIG9_STATEMENTS = (
    Statement("for large messages both reach the full capacity of the wire (here: 90 % of it)", wire_share),
    Statement("tens or hundreds of kilobytes: Open-MX is up to 10 % better (here: better somewhere, and nowhere 1 % behind)", middle_sizes),
    Statement("Open-MX has the lower latency (5.9 us less, tuned)", latency),
    Statement("tuning improves Open-MX by up to 10 %, as the wire is the bottleneck", tuning_rate),
    Statement("tuning takes about 20 us from the latency (here: takes time from it)", tuning_latency),
    Statement("Fig. 12(a): Open-MX is always a bit faster than TCP", always_faster),
    Statement("Fig. 12(a), not tuned: MTU 9000 brings large messages only 3 % (here: up to 10 %)", mtu_gain),
    Statement("Fig. 12(a), not tuned: MTU 1500 is faster for medium messages", mtu_medium),
)

FIG14 = Section("[J] Fig. 14 at 1 Gb/s", [
    *(Row(f"4 MiB, {count} block{'s' * (count > 1)} in flight, {name}", None, "MiB/s", lambda f, n=name, c=count: 4 / f(GIGABIT, "gigabit_blocks", n, c) * 1e6)
      for name in BLOCK_CONTENDERS for count in (1, 4, 16)),
], ("As Fig. 14 above, on the cable of 1 Gb/s: 4 MiB by frames. The paper's figure gives no numbers.",),
    (plot("gigabit-blocks", "4 MiB by blocks in flight, MTU 9000, 1 Gb/s", "MiB/s", {name: blocks_rate(name, GIGABIT, "gigabit_blocks") for name in BLOCK_CONTENDERS}, "blocks", False),))
FIG14_STATEMENTS = (
    Statement("larger packets improve performance in all cases", larger_packets),
    Statement(f"more in flight helps dramatically where not tuned (here: 16 blocks over 1, {DRAMATIC:g} times)", deeper_untuned),
    Statement("more in flight helps less where tuned", deeper_tuned),
)

GIGABIT_SECTIONS = ((FIG9, FIG9_STATEMENTS), (FIG14, FIG14_STATEMENTS))
