# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/performance/beyond-the-papers.md: the papers' model with the parameters of hosts of today. Every number in
the text is computed. Every statement has a condition, which can fail and is checked when the document is written."""
import os
from types import SimpleNamespace

import papers_report
from compare_report import size_text, table

MIB, KIB = 1 << 20, 1 << 10
TODAY = ("--parameters", "today", "--mtu", 9000, "--own-pulls")
SHORT_STREAMS = {"one sender": ("stream", "--size", 128, "--iterations", 4000, "--window", 256),
                 "16 senders": ("incast", "--hosts", 17, "--size", 128, "--iterations", 250, "--window", 16)}
SPEEDS = (10, 40, 100, 400)  # in Gb/s
STRATEGIES = {"off": "disabled", "timeout": "timeout", "openmx": "Open-MX", "stream": "Stream", "adaptive": "adaptive"}
WAYS = {"round-robin": "round robin", "bound": "one core", "queues": "queue per endpoint"}
SIZES = [1 << bits for bits in range(14, 23)]
RATES = (5, 10, 14, 20, 30, 50)  # of memcpy, in GB/s
PROCESSES = (1, 2, 4, 8)
BUSES = (10000, 153.5, 76.75)  # GB/s: no limit, four and two of the eight channels
HOSTS = (2, 4, 16, 64, 256, 1024)
MESH = (2, 4, 8, 16, 32, 64)
NEAR = ("--interrupts", "bound", "--cores", 2)  # the interrupt on a core next to the process's core
LOCKS = (50, 125, 250)  # ns of a frame's 250 that hold the lock of the queue to send
PAYS = 1.05  # a smaller gain counts as none

INTRODUCTION = """\
# Beyond the papers: hosts of today

Written by `{command}` on {date}; not edited by hand. {runs} simulations, {seconds} s.

This is the model of [evaluation.md](evaluation.md) with the same engine and the same design: an interrupt wakes a driver in the kernel, which copies
to the application and runs the engine for large messages. But links have 10 to 400 Gb/s, and hosts have the numbers of servers of 2023 (last
section). The question is where the papers' three ideas still pay. The model shows what follows from these numbers and measures nothing.
Measurements of the machines that we have are in [notebook.md](notebook.md).

Large messages are asked for as our engine does it: in a window, and by requests of which few have marked answers. A handler polls until it finds nothing,
as NAPI does. *Timeout* is the default of a common NIC, {timeout:.0f} us or {frames:.0f} frames. Processes poll; frames have 9000 bytes. A gain of less than {pays:.0f} % counts as
none. Each statement below has a condition that the command checks. Statements that no longer hold are marked.

Many hosts: up to 1,024 hosts with an engine each share one switch (store and forward, with buffers so deep that no frame is lost). All send to one host, whose load is
measured. The others know only this host, because a million connections would not fit into a modest machine. All-to-all runs with up to {mesh} hosts."""


def today(*arguments):
    return (*arguments, *TODAY)


def speed(gbits):
    return ("--set", f"link_bits={gbits}e9")


def load(result):
    """Returns the time that a message takes on the receiver's cores, in us."""
    return (result["receiver_interrupt_us"] + result["receiver_process_us"]) / result["messages"]


def gb_per_s(size, result):
    return size / result["us"] / 1e3


def moderation(run):
    at = {}
    for s in STRATEGIES:
        for gbits in SPEEDS:
            more = ("--strategy", s, *NEAR, *speed(gbits))
            for size in (128, 32 * KIB, MIB):
                at["pingpong", s, gbits, size] = run(*today("pingpong", "--size", size, "--iterations", 20, *more))["us"]
            stream = run(*today("stream", "--size", MIB, "--window", 4, "--iterations", 60, *more))
            at["load", s, gbits] = load(stream)
            at["interrupts", s, gbits] = stream["receiver_interrupts"] / stream["messages"]
            at["stream", s, gbits] = gb_per_s(MIB, stream)
            for name, messages in SHORT_STREAMS.items():
                result = run(*today(*messages, *more))
                at["rate", s, gbits, name] = result["rate"]
                at["short load", s, gbits, name] = load(result)
                at["short interrupts", s, gbits, name] = result["receiver_interrupts"] / result["messages"]
        for hosts in HOSTS:
            for name, size, gap, total in (("short", 128, 3000, 4096), ("long", 64 * KIB, 40000, 1024)):
                result = run(*today("incast", "--hosts", hosts, "--size", size, "--gap-ns", gap, "--window", 2, "--iterations",
                                    max(2, total // (hosts - 1)), "--strategy", s, *NEAR))
                at["wait", s, hosts, name] = result["latency_us"]
                at["host", s, hosts, name] = load(result)
    return at


def steering(run):
    at = {}
    for way in WAYS:
        for gbits in SPEEDS:
            for count in PROCESSES:
                for size, rounds in ((128, 10), (64 * KIB, 3)):
                    at["alltoall", way, gbits, count, size] = run(*today(
                        "alltoall", "--size", size, "--iterations", rounds, "--strategy", "openmx", "--interrupts", way, "--mpi",
                        "--cores", *range(count), *speed(gbits)))["us"]
        for hosts in HOSTS:
            at["hub", way, hosts] = hub(run, way, hosts)
        for hosts in MESH:
            at["mesh", way, hosts] = run(*today("alltoall", "--hosts", hosts, "--peers", "all", "--size", 4 * KIB, "--iterations", 3, "--strategy", "openmx",
                                                "--interrupts", way, "--cores", 2))["us"]
    for bus in BUSES:
        at["bus", bus] = hub(run, "queues", 64, "--set", f"bus_rate={bus}e9")
    return at


def hub(run, way, hosts, *more):
    """Returns what eight processes of a host receive from the others, in GB/s."""
    return gb_per_s(64 * KIB, run(*today("incast", "--hosts", hosts, "--size", 64 * KIB, "--window", 2, "--iterations", max(2, 1024 // (hosts - 1)), "--strategy", "openmx",
                                         "--cores", *range(8), "--far-cores", 0, "--interrupts", way, *speed(400), *more)))


def offload(run):
    at = {}

    def one(how, gbits, size, *more):
        return run(*today("pingpong", "--size", size, "--iterations", 3, "--copies", how, "--strategy", "openmx", *NEAR, *speed(gbits), *more))

    for gbits in SPEEDS:
        for size in SIZES:
            processor, engine = one("processor", gbits, size), one("engine", gbits, size)
            at["gain", gbits, size] = processor["us"] / engine["us"]
            at["saved", gbits, size] = 1 - load(engine) / load(processor)
        at["bare", gbits] = one("processor", gbits, 4 * MIB)["us"] / one("ignored", gbits, 4 * MIB)["us"]
        for rate in RATES:
            for name, size in (("by memcpy", MIB), ("by memcpy, 4 MiB", 4 * MIB)):
                at[name, gbits, rate] = one("processor", gbits, size, "--set", f"memcpy_rate={rate}e9")["us"] / one("engine", gbits, size)["us"]
    return at


def crossover(points):
    """Returns where a falling curve of (x, gain) drops below PAYS; None if it does not."""
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if y0 >= PAYS > y1:
            return x0 + (x1 - x0) * (y0 - PAYS) / (y0 - y1)
    return None


def crossovers(o, name):
    """Returns, for the speeds at which the engine gains with some memcpy: ({speed: curve}, {speed: crossover or None}, text)."""
    curves = {g: [(rate, o[name, g, rate]) for rate in RATES] for g in SPEEDS if max(o[name, g, rate] for rate in RATES) > PAYS}
    cross = {g: crossover(points) for g, points in curves.items()}
    return curves, cross, "; ".join(f"{g} Gb/s {cross[g]:.0f} GB/s" if cross[g] else f"{g} Gb/s none up to {RATES[-1]} GB/s" for g in curves)


class Findings:
    def __init__(self):
        self.lines, self.broken = [], 0

    def say(self, holds, text):
        self.broken += not holds
        self.lines.append(f"* {text}" if holds else f"* **No longer so:** {text}")


def percent(ratio):
    return f"{(ratio - 1) * 100 + 0:.0f} %".replace("-0 %", "0 %")


def less(ratio):
    return f"{(1 - 1 / ratio) * 100:.0f} %"


def spread(values):
    values = list(values)
    return max(values) / min(values)


def findings_moderation(m):
    f = Findings()
    marked = [m["pingpong", "openmx", g, 128] for g in SPEEDS]
    wait = [m["pingpong", "timeout", g, 128] / us for g, us in zip(SPEEDS, marked)]
    alike = [us / m["pingpong", "off", g, 128] for g, us in zip(SPEEDS, marked)]
    f.say(min(wait) > 3 and 0.995 < min(alike) and max(alike) < 1.005 and spread(marked) < 1.1,
          f"A short message by itself: a mark is {min(wait):.1f} to {max(wait):.1f} times as fast as the timer at every speed, {m['pingpong', 'openmx', 100, 128]:.1f} instead of "
          f"{m['pingpong', 'timeout', 100, 128]:.1f} us at 100 Gb/s, and as fast as no moderation. The speed of the link hardly matters here ({percent(spread(marked))}): the time is the host's.")
    saved = {g: m["load", "off", g] / m["load", "openmx", g] for g in SPEEDS}
    f.say(saved[10] > PAYS and saved[40] > PAYS and max(saved[100], saved[400]) < PAYS and m["interrupts", "off", 10] > m["interrupts", "openmx", 10] and m["interrupts", "off", 100] < 5,
          f"Load of a stream of 1 MiB messages: marks save {less(saved[10])} of the receiver's time against no moderation at 10 Gb/s ({m['interrupts', 'off', 10]:.0f} interrupts a "
          f"message become {m['interrupts', 'openmx', 10]:.0f}), {less(saved[40])} at 40 Gb/s, nothing from 100 Gb/s on. There frames come faster than a core handles them, the handler "
          f"hardly ever finds nothing, and there are {m['interrupts', 'off', 100]:.1f} interrupts a message without any moderation: NAPI has done what the firmware did.")
    medium = {g: m["pingpong", "openmx", g, 32 * KIB] / m["pingpong", "off", g, 32 * KIB] for g in SPEEDS}
    f.say(medium[10] < PAYS and min(medium[g] for g in SPEEDS[1:]) > PAYS,
          f"A message of 32 KiB is faster with no moderation than with marks from 40 Gb/s on (by {percent(medium[40])} there, {percent(medium[100])} at 100, {percent(medium[400])} at 400): "
          "the host has nothing else to do and may as well begin with the first fragment. The mark is worth its delay only to hosts whose time is short.")
    same = max(abs(m["pingpong", "stream", g, s] / m["pingpong", "openmx", g, s] - 1) for g in SPEEDS for s in (128, 32 * KIB, MIB))
    alike = max(abs(m["load", "stream", g] / m["load", "openmx", g] - 1) for g in SPEEDS)
    f.say(same < PAYS - 1 and alike < PAYS - 1, f"Stream gains nothing over marks in a ping-pong and for 1 MiB: time within {same * 100:.1f} % for all sizes and speeds, load within {alike * 100:.1f} %.")
    short = {(what, n): [m[what, "openmx", g, n] / m[what, "stream", g, n] for g in SPEEDS] for what in ("rate", "short load") for n in SHORT_STREAMS}
    counts = {(s, n): m["short interrupts", s, 100, n] for s in ("openmx", "stream") for n in SHORT_STREAMS}
    fewer = counts["openmx", "one sender"] / counts["stream", "one sender"]
    f.say(fewer > 1.2 and 1 < max(short["short load", "one sender"]) < PAYS and all(spread((1, ratio)) < 1.005 for n in SHORT_STREAMS for ratio in short["rate", n])
          and all(spread((1, ratio)) < 1.005 for ratio in short["short load", "16 senders"]),
          f"[C] has Stream for streams of short messages, where it halved the interrupts. Of 128 bytes from one sender, as fast as it can, Stream raises {counts['stream', 'one sender']:.3f} instead of "
          f"{counts['openmx', 'one sender']:.3f} interrupts a message at 100 Gb/s ({less(fewer)} fewer). This saves {less(max(short['short load', 'one sender']))} of the receiver's time, and the rate stays: the sender "
          "is the limit. From 16 senders the handler hardly ever finds nothing, and Stream changes nothing.")
    f.say(all(m["load", "adaptive", g] < m["load", "openmx", g] * PAYS for g in SPEEDS) and m["interrupts", "adaptive", 10] < m["interrupts", "openmx", 10],
          f"The adaptive delay keeps what marks save, and saves more at 10 Gb/s ({m['load', 'adaptive', 10]:.0f} us a message, marks {m['load', 'openmx', 10]:.0f}): it is longer there, so "
          f"{m['interrupts', 'adaptive', 10]:.0f} instead of {m['interrupts', 'openmx', 10]:.0f} interrupts a message remain ([load against latency](load-latency.md)).")
    few, many = HOSTS[0], HOSTS[-1]
    long = {(s, h): m["wait", s, h, "long"] for s in STRATEGIES for h in HOSTS}
    f.say(max(spread((long[s, few], long[s, many])) for s in ("openmx", "timeout", "off")) < 1.15 and long["timeout", many] > 2 * long["openmx", many] > 2 * long["off", many],
          f"From {few} to {many:,} hosts, the same messages each second in all (64 KiB every 40 us at 100 Gb/s): with marks a message takes {long['openmx', few]:.0f} and "
          f"{long['openmx', many]:.0f} us, by the timer {long['timeout', few]:.0f} and {long['timeout', many]:.0f}, without moderation "
          f"{long['off', few]:.0f} and {long['off', many]:.0f}. The number of hosts hardly matters, the strategy does.")
    price = m["host", "openmx", 64, "short"] / m["host", "timeout", 64, "short"]
    f.say(price > PAYS and m["wait", "openmx", 64, "short"] < m["wait", "timeout", 64, "short"],
          f"What the timer saves: of 128 bytes every 3 us from 64 hosts, the receiver spends {m['host', 'timeout', 64, 'short']:.2f} us a message, with marks {m['host', 'openmx', 64, 'short']:.2f} "
          f"({percent(price)} more), which take {m['wait', 'openmx', 64, 'short']:.1f} instead of {m['wait', 'timeout', 64, 'short']:.1f} us.")
    return f


def sending(run):
    """Processes of a host that send short messages to processes of another, by one queue to send and by one for each."""
    at = {}
    for lock in LOCKS:
        for queues in (1, PROCESSES[-1]):
            for count in PROCESSES:
                for gbits in (100, 400):
                    result = run(*today("streams", "--size", 128, "--iterations", 1500, "--window", 128, "--strategy", "openmx", "--interrupts", "queues",
                                        "--cores", *range(count), *speed(gbits), "--set", f"transmit_lock_ns={lock}", "--set", f"transmit_queues={queues}"))
                    at[lock, queues, count, gbits] = result["rate"] / 1e6
    return at


def findings_sending(s):
    f = Findings()
    count, lock = PROCESSES[-1], LOCKS[1]

    def gain(held, processes, gbits=100):
        return s[held, count, processes, gbits] / s[held, 1, processes, gbits]

    f.say(all(gain(held, 1) < PAYS for held in LOCKS), "One process gains nothing by a queue of its own: nothing else takes the lock.")
    first = next((n for n in PROCESSES if gain(lock, n) > PAYS), None)
    f.say(first is not None and gain(lock, count) > PAYS,
          f"With a lock that is held for {lock} ns of a frame's 250, one queue limits from {first} processes on: {count} processes send {s[lock, 1, count, 100]:.1f} million messages of 128 bytes "
          f"a second by one queue and {s[lock, count, count, 100]:.1f} by one each, {gain(lock, count):.1f} times.")
    f.say(gain(LOCKS[0], count) > 1 / PAYS and gain(LOCKS[2], count) > gain(lock, count),
          f"What counts is how long the lock is held: with {LOCKS[0]} ns {gain(LOCKS[0], count):.2f} times, with {LOCKS[2]} ns (all of the time) {gain(LOCKS[2], count):.1f} times. "
          "XPS, which `omx tune` sets, gives each core its queue ([how](../how-to/tune-a-host.md)).")
    return f


def tables_sending(s):
    yield "Million messages of 128 bytes a second, 100 Gb/s, by one queue to send and by one for each core", table(["lock held", *(f"{n} process{'es' if n > 1 else ''}" for n in PROCESSES)], [
        [f"{lock} ns", *(f"{s[lock, 1, n, 100]:.2f}, {s[lock, PROCESSES[-1], n, 100]:.2f}" for n in PROCESSES)] for lock in LOCKS], True)


def findings_steering(t):
    f = Findings()
    big = 64 * KIB

    def gain(gbits, count, way="bound", size=big):
        return t["alltoall", way, gbits, count, size] / t["alltoall", "queues", gbits, count, size]

    most = max(gain(10, c) for c in PROCESSES)
    f.say(most < PAYS, f"At 10 Gb/s a queue for each endpoint gains nothing for an Alltoall of 64 KiB blocks, with 1 to 8 processes a host "
          f"(at most {percent(most)} over one core): one core is as fast as the link.")
    first = next((g for g in SPEEDS if gain(g, 8) > PAYS), None)
    f.say(first == 40 and min(gain(g, c) for g in (100, 400) for c in (2, 8)) > PAYS and t["alltoall", "bound", 100, 8, big] / t["alltoall", "bound", 400, 8, big] < 1.25,
          f"It pays from {first} Gb/s on: with 8 processes {gain(100, 8):.1f} times as fast as one core at 100 Gb/s and {gain(400, 8):.1f} times at 400 Gb/s, with 2 processes "
          f"{gain(100, 2):.1f} and {gain(400, 2):.1f} times. One core is the limit of all that one queue brings: its Alltoall is {percent(t['alltoall', 'bound', 100, 8, big] / t['alltoall', 'bound', 400, 8, big])} "
          "faster at 400 Gb/s than at 100.")
    scattered = {size: [t["alltoall", "round-robin", g, c, size] / t["alltoall", "bound", g, c, size] for g in SPEEDS for c in PROCESSES] for size in (128, big)}
    f.say(min(map(min, scattered.values())) > 1 / PAYS and min(map(max, scattered.values())) > PAYS,
          f"Round robin is never better than one core by more than {percent(max(1 / min(map(min, scattered.values())), 1.0))}, and up to {percent(max(scattered[128]))} worse with blocks of 128 bytes and up to "
          f"{percent(max(scattered[big]))} with 64 KiB: lines of memory follow it around.")
    small, slow = gain(100, 8, size=128), gain(10, 8, size=128)
    f.say(min(gain(g, 8, size=128) for g in SPEEDS) > 1.5, f"Short messages gain at every speed: blocks of 128 bytes, 8 processes, {slow:.1f} times at 10 Gb/s and {small:.1f} times at 100: there the frames "
          "count, not the bytes.")
    hub = {n: t["hub", "queues", n] / t["hub", "bound", n] for n in HOSTS}
    later = [hub[n] for n in HOSTS if n >= 16]
    f.say(hub[1024] > 3 and spread(later) < 1.25,
          f"Many hosts to 8 processes of one, 64 KiB, 400 Gb/s: {t['hub', 'queues', 1024]:.0f} GB/s from 1,023 hosts with queues, {t['hub', 'bound', 1024]:.0f} with one core, {hub[1024]:.1f} times; from 16 hosts on "
          f"it is {min(later):.1f} to {max(later):.1f} times. Steering by endpoint does not care how many peers there are.")
    enough, half, quarter = (t["bus", bus] for bus in BUSES)
    full = t["hub", "queues", 64]
    f.say(spread((full, enough)) < PAYS and quarter * PAYS < full and quarter < half,
          f"The memory bus does not limit that with the eight channels of these hosts: from 64 hosts {full:.0f} GB/s, {enough:.0f} with a bus without limit, {half:.0f} with four channels and {quarter:.0f} with two.")
    mesh = max(t["mesh", "bound", n] / t["mesh", "queues", n] for n in MESH)
    lost = max(t["mesh", "round-robin", n] / t["mesh", "queues", n] for n in MESH)
    f.say(mesh < PAYS < lost, f"With one process a host there is nothing to steer: all to all among up to {MESH[-1]} hosts (4 KiB blocks, 100 Gb/s), a queue of its own is at most {percent(max(mesh, 1))} faster than one core, "
          f"and round robin up to {percent(lost)} slower than the queue.")
    return f


def findings_offload(o):
    f = Findings()
    best = {g: max(o["gain", g, s] for s in SIZES) for g in SPEEDS}
    f.say(best[10] < PAYS and o["saved", 10, 4 * MIB] > 0.1, f"At 10 Gb/s the copy costs no throughput (gain {percent(best[10])}): the processor copies faster than the link delivers. What the engine gives is time: "
          f"{o['saved', 10, 4 * MIB] * 100:.0f} % of the receiver's for 4 MiB.")
    few = [s for s in SIZES if o["gain", 40, s] > PAYS]
    f.say(best[40] > PAYS > o["gain", 40, 4 * MIB] and len(few) <= 3,
          f"At 40 Gb/s only messages of {' and '.join(map(size_text, few))} gain (at most {percent(best[40])}): what is copied after the last frame.")
    paying = {g: [s for s in SIZES if o["gain", g, s] > PAYS] for g in (100, 400)}
    f.say(o["gain", 100, 4 * MIB] > 1.2 and o["gain", 400, 4 * MIB] > 1.5 and all(sizes == SIZES[-len(sizes):] for sizes in paying.values()),
          f"From 100 Gb/s on it pays again as it did in 2008: 4 MiB {percent(o['gain', 100, 4 * MIB])} faster at 100 Gb/s and {percent(o['gain', 400, 4 * MIB])} at 400 (no copy at all: "
          f"{percent(o['bare', 100])} and {percent(o['bare', 400])}), from {size_text(min(paying[100] or SIZES))} and {size_text(min(paying[400] or SIZES))} on.")
    curves, cross, text = crossovers(o, "by memcpy")
    _, large, large_text = crossovers(o, "by memcpy, 4 MiB")
    # A curve stays below once it is below, and a faster link needs a faster processor.
    ordered = [cross[g] or RATES[-1] for g in curves]
    f.say(bool(curves) and ordered == sorted(ordered) and all(gain < PAYS for g in curves if cross[g] for rate, gain in curves[g] if rate > cross[g]),
          f"Crossover: the engine gains less than {(PAYS - 1) * 100:.0f} % for 1 MiB as soon as a core copies faster than this: {text}. Below, the copy is what the message waits for.")
    f.say(bool(large.get(100)) and large[100] < (cross.get(100) or RATES[-1]),
          f"For 4 MiB it is less at 100 Gb/s: {large_text}. `memcpy_rate` is the lower end of what was measured, which favours the engine.")
    return f


OUTCOMES = (  # (name, speeds, arguments, the two runs whose ratio it is, value)
    ("marks spare a stream of 1 MiB", (10, 100), lambda s: (("stream", "--size", MIB, "--window", 4, "--iterations", 30, "--strategy", s, *NEAR)), ("off", "openmx"), load),
    ("queues, Alltoall of 8, 64 KiB", (10, 100), lambda w: (("alltoall", "--size", 64 * KIB, "--iterations", 2, "--strategy", "openmx", "--interrupts", w, "--mpi",
                                                            "--cores", *range(8))), ("bound", "queues"), lambda r: r["us"]),
    ("engine, 4 MiB", (10, 100), lambda c: (("pingpong", "--size", 4 * MIB, "--iterations", 3, "--copies", c, "--strategy", "openmx", *NEAR)), ("processor", "engine"),
     lambda r: r["us"]),
)


def doubted(parameters):
    """Returns {name: {factor: value}} of every parameter except zeros and the link rate, which is compared anyway. Of the switches only poll_on is turned off."""
    numbers = {p["name"]: {factor: p["value"] * factor for factor in (0.5, 2)} for p in parameters if p["unit"] != "0 or 1" and p["value"] > 0 and p["name"] != "link_bits"}
    return numbers | {"poll_on": {0: 0}}


def doubts(run, parameters):
    """Returns the outcomes with each number halved and doubled: {(name or None, factor): [ratio, ...]}."""
    def row(settings):
        return [value(run(*today(*arguments(one)), *speed(g), *settings)) / value(run(*today(*arguments(other)), *speed(g), *settings))
                for _, speeds, arguments, (one, other), value in OUTCOMES for g in speeds]
    at = {(None, 1): row(())}
    for name, values in doubted(parameters).items():
        for factor, value in values.items():
            at[name, factor] = row(("--set", f"{name}={value:.12g}"))
    return at


def kinds_of_outcomes():
    return [f"{what}, {g} Gb/s" for what, speeds, *_ in OUTCOMES for g in speeds]


def findings_doubts(d):
    f = Findings()
    base, kinds = d[None, 1], kinds_of_outcomes()
    varied = {key: row for key, row in d.items() if key[0]}
    turned = [(name, factor, i) for (name, factor), row in varied.items() for i, x in enumerate(row) if (x > PAYS) != (base[i] > PAYS)]
    answers = len(kinds) * len(varied)
    f.say(answers > 0 and len(turned) <= answers * 0.05,
          f"Each of {len({name for name, _ in varied} - {'poll_on'})} numbers (all but the link's and those that are 0), halved and doubled, and `poll_on`, turned off, changes {len(turned)} of {answers} answers to whether something gains more than "
          f"{(PAYS - 1) * 100:.0f} %" + (": " + "; ".join(f"`{n}` times {x:g}: {kinds[i]}, {d[n, x][i]:.2f} instead of {base[i]:.2f}" for n, x, i in turned) if turned else "") + ".")
    reach = {i: max((abs(row[i] / base[i] - 1), name) for (name, _), row in varied.items()) for i in range(len(kinds))} if varied else {}
    strongest = {name for _, name in reach.values()}
    f.say(bool(reach) and len(strongest) < len({name for name, _ in varied}),
          "What each answer depends on most: " + "; ".join(f"{kinds[i]}: `{name}` ({change * 100:.0f} %)" for i, (change, name) in reach.items()) + ".")
    return f


def tables_doubts(d):
    moving = {name for (name, _), row in d.items() if any(f"{x:.2f}" != f"{y:.2f}" for x, y in zip(row, d[None, 1]))}
    yield "Gains, times; numbers that move none of them by 0.01 are left out", table(["", *kinds_of_outcomes()], [
        ["as below" if name is None else f"`{name}` x {factor:g}", *(f"{x:.2f}" for x in row)] for (name, factor), row in d.items() if name is None or name in moving], True)


def head(first):
    return [first, *(f"{g} Gb/s" for g in SPEEDS)]


def fig(value):
    return papers_report.figure_text(value)


def tables_moderation(m):
    yield "Half round trip, us, and load of a stream of 1 MiB messages, us of the receiver's cores for each", table(head(""), [
        [f"{size_text(size)}, {name}", *(fig(m["pingpong", s, g, size]) for g in SPEEDS)] for size in (128, 32 * KIB, MIB) for s, name in STRATEGIES.items()] + [
        [f"load, {name}", *(f"{m['load', s, g]:.0f} ({m['interrupts', s, g]:.1f} interrupts)" for g in SPEEDS)] for s, name in STRATEGIES.items()], True)
    yield "Streams of 128 bytes: thousand messages a second, interrupts a message, us of the receiver's cores for each", table(head(""), [
        [f"{n}, {name}", *(f"{m['rate', s, g, n] / 1e3:.0f}, {m['short interrupts', s, g, n]:.3f}, {m['short load', s, g, n]:.2f}" for g in SPEEDS)]
        for n in SHORT_STREAMS for s, name in STRATEGIES.items()], True)


def tables_steering(t):
    yield "Alltoall between two hosts, time relative to a queue for each endpoint", table(head(""), [
        [f"{size_text(size)}, {count} processes, {WAYS[way]}", *(f"{t['alltoall', way, g, count, size] / t['alltoall', 'queues', g, count, size]:.2f}" for g in SPEEDS)]
        for size in (128, 64 * KIB) for count in (1, 2, 8) for way in ("bound", "round-robin")], True)


def tables_offload(o):
    yield "Gain of the engine in throughput of a ping-pong (receiver's time saved)", table(head(""), [
        [size_text(s), *(f"{percent(o['gain', g, s])} ({o['saved', g, s] * 100:.0f} %)" for g in SPEEDS)] for s in SIZES[2:]], True)


def plots(m, t, o):
    def gbits(x):
        return f"{x} Gb/s"

    def plot(name, title, x, y, curves, text=str):
        return SimpleNamespace(name=name, title=title, x=x, y=y, log=True, text=text, curves=curves)
    yield "moderation", plot("beyond-load", "Receiver's time for a message of a stream of 1 MiB", "link", "us",
                             {n: [(g, m["load", s, g]) for g in SPEEDS] for s, n in STRATEGIES.items()}, gbits)
    yield "moderation", plot("beyond-medium", "Half round trip of 32 KiB relative to no moderation", "link", "",
                             {n: [(g, m["pingpong", s, g, 32 * KIB] / m["pingpong", "off", g, 32 * KIB]) for g in SPEEDS] for s, n in STRATEGIES.items()}, gbits)
    yield "moderation", plot("beyond-hosts", "Time of a message of 64 KiB; all hosts together send one every 40 us", "hosts", "us",
                             {n: [(h, m["wait", s, h, "long"]) for h in HOSTS] for s, n in STRATEGIES.items()})
    yield "steering", plot("beyond-steering", "Alltoall of 64 KiB blocks, what a host receives", "processes of a host", "GB/s", {
        f"{n}, {g} Gb/s": [(c, c * c * 64 * KIB / t["alltoall", w, g, c, 64 * KIB] / 1e3) for c in PROCESSES] for g in (100, 400) for w, n in WAYS.items()})
    yield "steering", plot("beyond-hub", "64 KiB from many hosts to 8 processes of one, 400 Gb/s", "hosts", "GB/s",
                           {n: [(h, t["hub", w, h]) for h in HOSTS] for w, n in WAYS.items()})
    yield "offload", plot("beyond-offload", "Gain of the copy engine in a ping-pong", "message", "times",
                          {gbits(g): [(s, o["gain", g, s]) for s in SIZES] for g in SPEEDS}, size_text)
    yield "offload", plot("beyond-memcpy", "Gain of the copy engine, 1 MiB, by what a core copies", "memcpy, GB/s", "times",
                          {gbits(g): [(r, o["by memcpy", g, r]) for r in RATES] for g in SPEEDS})


def write(runs, gnuplot, output, facts, parameters):
    """Writes the document. Returns how many statements no longer hold."""
    value = {p["name"]: p["value"] for p in parameters}
    m, t, s, o, d = runs.evaluate([moderation, steering, sending, offload, lambda run: doubts(run, parameters)])
    found = {"moderation": findings_moderation(m), "steering": findings_steering(t), "sending": findings_sending(s), "offload": findings_offload(o),
             "doubts": findings_doubts(d)}
    tables = {"moderation": tables_moderation(m), "steering": tables_steering(t), "sending": tables_sending(s), "offload": tables_offload(o), "doubts": tables_doubts(d)}
    titles = {"moderation": "Message-aware moderation", "steering": "Steering", "sending": "Queues to send", "offload": "Copy offload",
              "doubts": "How much hangs on the numbers"}
    folder = os.path.join(output, "evaluation")
    os.makedirs(folder, exist_ok=True)
    drawn = list(plots(m, t, o))
    for _, plot in drawn:
        papers_report.plot_draw(gnuplot, plot, folder)
    lines = [INTRODUCTION.format(**facts(), timeout=value["timeout_ns"] / 1e3, frames=value["timeout_frames"], pays=(PAYS - 1) * 100, mesh=MESH[-1]), ""]
    for part, title in titles.items():
        lines += [f"## {title}", "", *found[part].lines, ""]
        for what, rows in tables[part]:
            lines += [f"{what}:", "", *rows, ""]
        lines += [line for where, plot in drawn if where == part for line in (f"![{plot.title}](evaluation/{plot.name}.svg)", "")]
    lines += ["## Every number of these hosts", "",
              "*published*: by the source that is named; *derived* from such; *measured* by this project; *papers*: as in the papers' set; *assumed*: no source that we have read "
              "gives it, so what speaks for it. `omx_papers ... --parameters today --set NAME=VALUE` changes one.", "",
              *papers_report.parameter_table(parameters), ""]
    path = os.path.join(output, "beyond-the-papers.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    print(path)
    return sum(f.broken for f in found.values())
