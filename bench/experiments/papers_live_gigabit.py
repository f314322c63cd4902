# SPDX-License-Identifier: BSD-3-Clause
"""Lists what bench/papers --live shows of [J]'s figures at 1 Gb/s, and judges which of the papers' statements hold there."""
from dataclasses import dataclass
from typing import Callable

from papers_live_tables import (BLOCK_CONTENDERS, GIGABIT, KIB, MIB, PLAIN_GIGABIT, Row, Section, blocks_rate, factor, faster, mib_per_s, plain,
                                plot, rates)

# Payload of a second of 1 Gb/s by UDP over IPv4 at MTU 9000, in MiB: preamble, gap, Ethernet, IP and UDP take 66 bytes of 9038.
WIRE_MIB_S = 1e9 / 8 * (9000 - 28) / 9038 / MIB
# Below 64 KiB the most of a message may pass a port without waiting for the wire, so statements are judged from there on.
MIDDLE = [1 << bit for bit in range(16, 20)]
JUDGED = [1 << bit for bit in range(16, 23)]
FULL_SHARE = 0.9  # of the wire's rate, counts as its full capacity
CLOSE = 10  # %, what the papers call up to 10 %
NOISE = 3  # %: a smaller difference is none
DRAMATIC = 1.5  # and a dramatic improvement


@dataclass
class Statement:
    """A sentence of a paper. `judge` returns (whether it holds, our figures as a text). None instead of True or False: no difference."""
    text: str
    judge: Callable


def verdict(gains):
    """Returns whether all gains, in per cent, are more than noise. None: none is, either way."""
    if all(abs(gain) < NOISE for gain in gains):
        return None
    return min(gains) >= NOISE


def small_gain(gain):
    """Returns the verdict on a gain that a paper calls small."""
    return verdict([gain]) and gain <= CLOSE


def wire_share(f):
    shares = [mib_per_s(GIGABIT, "gigabit", who, 4 * MIB)(f) / WIRE_MIB_S for who in ("omx", "tcp")]
    return min(shares) >= FULL_SHARE, f"{shares[0]:.0%} of it, TCP {shares[1]:.0%}"


def gains(f, cable, sizes, who):
    return [faster((cable, "gigabit", "tcp", size), (cable, "gigabit", who, size))(f) for size in sizes]


def middle_sizes(f):
    found, plain_found, batches = (gains(f, cable, MIDDLE, who) for cable, who in (
        (GIGABIT, "frames"), (PLAIN_GIGABIT, "frames"), (GIGABIT, "omx")))
    both = found + plain_found
    holds = verdict(both) if verdict(both) is None else max(both) >= NOISE and min(both) > -NOISE
    return holds, (f"by frames {min(found):+.1f} to {max(found):+.1f} %, MTU 1500 {min(plain_found):+.1f} to {max(plain_found):+.1f} %; "
                                              f"by default {min(batches):+.1f} to {max(batches):+.1f} %")


def latency(f):
    omx, tcp = (f(GIGABIT, "gigabit", who, 0) for who in ("omx", "tcp"))
    return verdict([(tcp / omx - 1) * 100]), f"{omx:.1f} and {tcp:.1f} us: {tcp - omx:.1f} us less"


def tuning_rate(f):
    gain = faster((GIGABIT, "tuning", "not tuned", 4 * MIB), (GIGABIT, "tuning", "tuned", 4 * MIB))(f)
    return small_gain(gain), f"{gain:+.1f} % at 4 MiB"


def tuning_latency(f):
    slow, fast = (f(GIGABIT, "tuning", how, 0) for how in ("not tuned", "tuned"))
    return verdict([(slow / fast - 1) * 100]), f"{slow:.1f} us, tuned {fast:.1f}"


def mtu_gain(f):
    gain = faster((PLAIN_GIGABIT, "tuning", "not tuned", 4 * MIB), (GIGABIT, "tuning", "not tuned", 4 * MIB))(f)
    return small_gain(gain), f"{gain:+.1f} % at 4 MiB"


def mtu_medium(f):
    gain = faster((GIGABIT, "tuning", "not tuned", MIDDLE[0]), (PLAIN_GIGABIT, "tuning", "not tuned", MIDDLE[0]))(f)
    return verdict([gain]), f"{gain:+.1f} % at 64 KiB"


def counts_text(found):
    ahead, behind = (sum(sign * gain >= NOISE for gain in found) for sign in (1, -1))
    return f"faster in {ahead} of {len(found)} sizes and MTUs, slower in {behind}"


def always_faster(f):
    found, batches = (gains(f, GIGABIT, JUDGED, who) + gains(f, PLAIN_GIGABIT, JUDGED, who) for who in ("frames", "omx"))
    return verdict(found), f"by frames {counts_text(found)}, {min(found):+.1f} to {max(found):+.0f} %; by default {counts_text(batches)}"


def larger_packets(f):
    cases = [(f"packets of 4 kB, {how}", f"frames of 9000 B, {how}", count) for how in ("not tuned", "tuned")
             for count, _ in f.points(GIGABIT, "gigabit_blocks", f"packets of 4 kB, {how}")]
    found = [faster((GIGABIT, "gigabit_blocks", small, count), (GIGABIT, "gigabit_blocks", large, count))(f) for small, large, count in cases]
    if not found:
        raise KeyError("no blocks were measured")
    better = sum(gain >= NOISE for gain in found)
    return verdict(found), f"in {better} of {len(found)} cases, {min(found):+.1f} to {max(found):+.1f} %"


def deeper(f, how):
    return [factor((GIGABIT, "gigabit_blocks", name, 1), (GIGABIT, "gigabit_blocks", name, 16))(f) for name in BLOCK_CONTENDERS if name.endswith(f", {how}")]


def deeper_untuned(f):
    found = deeper(f, "not tuned")
    none = verdict([(ratio - 1) * 100 for ratio in found]) is None
    return None if none else min(found) >= DRAMATIC, f"{found[0]:.2f} times as fast, packets of 4 kB {found[1]:.2f}"


def deeper_tuned(f):
    found = deeper(f, "tuned")
    return verdict([(other / tuned - 1) * 100 for tuned, other in zip(found, deeper(f, "not tuned"))]), f"{found[0]:.2f} times as fast, packets of 4 kB {found[1]:.2f}"


NOTE = ("The cable of this section is a switch of the lab whose ports send 1 Gb/s (`--rate 1gbit --port-queue 6M`). Batches of UDP and TCP are cut into frames before it. A port lets a burst "
        "pass at once and gains that back while the answer travels: two frames at MTU 9000 (18,028 B, 144 us of the wire) and 0.1 ms of its rate at MTU 1500 (12,500 B). What is no longer than that "
        "never meets the wire, whichever way it goes, and up to 32 KiB a large share does not. So the statements on messages with data are judged from 64 KiB on. There the longer burst still gives "
        "MTU 9000 up to 11 %, at 256 KiB 2 %.",
        f"A verdict needs a difference of {NOISE} %; where no difference is as large, it is *no difference*.")

FIG9 = Section("[J] Fig. 9(a) and 12(a): IMB Pingpong at 1 Gb/s", [
    Row("0 B, Open-MX, tuned", 24.9, "us", plain(GIGABIT, "gigabit", "omx", 0)),
    Row("0 B, TCP, tuned", 30.8, "us", plain(GIGABIT, "gigabit", "tcp", 0)),
    Row("0 B, Open-MX, not tuned", 44.6, "us", plain(GIGABIT, "tuning", "not tuned", 0)),
    *(Row(f"{name}, {way}", None, "MiB/s", mib_per_s(GIGABIT, "gigabit", who, size)) for size, name in ((32 * KIB, "32 KiB"), (64 * KIB, "64 KiB"), (256 * KIB, "256 KiB"), (4 * MIB, "4 MiB"))
      for who, way in (("omx", "Open-MX"), ("frames", "Open-MX by frames"), ("tcp", "TCP"))),
    Row("4 MiB, Open-MX, MTU 1500", None, "MiB/s", mib_per_s(PLAIN_GIGABIT, "gigabit", "omx", 4 * MIB)),
    Row("4 MiB, Open-MX by frames, MTU 1500", None, "MiB/s", mib_per_s(PLAIN_GIGABIT, "gigabit", "frames", 4 * MIB)),
    Row("4 MiB, TCP, MTU 1500", None, "MiB/s", mib_per_s(PLAIN_GIGABIT, "gigabit", "tcp", 4 * MIB)),
], (*NOTE, "*By frames* is the papers' way; their Open-MX had no batches by UDP. A statement about Open-MX beside TCP is judged by it.",
    "*Not tuned*: as in Table 2, a sleeping receiver and a timer of 75 us, by `omx perf`, in frames. TCP has no such timer here."),
    tuple(plot(f"gigabit-{name}", f"IMB Pingpong at 1 Gb/s, MTU {mtu}", "MiB/s", {
        text: rates(cable, "gigabit", who) for who, text in (("omx", "Open-MX"), ("frames", "Open-MX, frames only"), ("tcp", "TCP"))})
        for cable, mtu, name in ((GIGABIT, 9000, "9000"), (PLAIN_GIGABIT, 1500, "1500"))))
FIG9_STATEMENTS = (
    Statement("for large messages both reach the full capacity of the wire (here: 90 % of it)", wire_share),
    Statement(f"tens or hundreds of kilobytes (here: 64 to 512 KiB): Open-MX is up to 10 % better (here: better somewhere, and nowhere {NOISE} % behind)", middle_sizes),
    Statement("Open-MX has the lower latency (5.9 us less, tuned)", latency),
    Statement("tuning improves Open-MX by up to 10 %, as the wire is the bottleneck", tuning_rate),
    Statement("tuning takes about 20 us from the latency (here: takes time from it)", tuning_latency),
    Statement("Fig. 12(a): Open-MX is always a bit faster than TCP (here: 64 KiB to 4 MiB)", always_faster),
    Statement("Fig. 12(a), not tuned: MTU 9000 brings large messages only 3 % (here: up to 10 %)", mtu_gain),
    Statement("Fig. 12(a), not tuned: MTU 1500 is faster for medium messages (here: 64 KiB)", mtu_medium),
)

FIG14 = Section("[J] Fig. 14 at 1 Gb/s", [
    *(Row(f"4 MiB, {count} block{'s' * (count > 1)} in flight, {name}", None, "MiB/s", lambda f, n=name, c=count: 4 / f(GIGABIT, "gigabit_blocks", n, c) * 1e6)
      for name in BLOCK_CONTENDERS for count in (1, 4, 16)),
], ("As Fig. 14 above, on the cable of 1 Gb/s: 4 MiB by frames. The paper's figure gives no numbers.",),
    (plot("gigabit-blocks", "4 MiB by blocks in flight, MTU 9000, 1 Gb/s", "MiB/s", {name: blocks_rate(name, GIGABIT, "gigabit_blocks") for name in BLOCK_CONTENDERS}, "blocks", False),))
FIG14_STATEMENTS = (
    Statement("larger packets improve performance in all cases (here: every number of blocks measured)", larger_packets),
    Statement(f"more in flight helps dramatically where not tuned (here: 16 blocks over 1, {DRAMATIC:g} times)", deeper_untuned),
    Statement("more in flight helps less where tuned", deeper_tuned),
)

GIGABIT_SECTIONS = ((FIG9, FIG9_STATEMENTS), (FIG14, FIG14_STATEMENTS))
