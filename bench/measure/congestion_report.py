# SPDX-License-Identifier: BSD-3-Clause
"""Tables of bench/congestion."""
import json
import pathlib
import statistics

TCP_FRAME, TCP_PAYLOAD = 1538, 1448  # on the cable, and of it payload
SIZES = {64 << 10: "64 KiB", 1 << 20: "1 MiB"}
HEAD = """\
# Congestion, simulated

Written by `bench/congestion`; not edited by hand. Real engines (`src/protocol`) on simulated switches (`src/simulation/fabric`), and modelled
TCP flows (CUBIC, selective acknowledgement, fast retransmit, tail loss probes, time-outs of at least 200 ms). Time is virtual.

* Links have a delay of 0.5 us. Each port of a switch has a queue of 64 KiB and drops what does not fit. The MTU is 1500.
* Hosts poll 0.5 to 2 us after a frame arrived. Their processors cost nothing else, so figures are bounds of what real hosts can do.
* A host makes no calls while its NIC has more than 256 KiB to send.
"""
ONCE = """
## Many senders, one message each

All send at once. *port*: payload over the rate of the receiver's port, until the last message is there. *slowdown*: that time over the time of the
needed frames without a gap. *sent again*: data frames beyond those needed. *frames*: all frames for each data frame needed. Means of the seeds.

| senders | message | Gb/s | engine | port | slowdown | p50 us | p99 us | sent again | frames | dropped |
|---|---|---|---|---|---|---|---|---|---|---|
"""
BESIDE = """
## Many senders that go on, with TCP flows beside them

Each sender begins a message when its last one has arrived. *ours*, *TCP*: part of the port by bytes on the cable, headers and repetitions included (TCP
by its delivered segments). *fair*: ours if each sender and each flow had the same. *Jain*, *least*: of our senders; the least one relative to their mean.
*RTT*: of TCP beside us, relative to TCP without us (p50). *8 B*: a message from one more host. *queue*: bytes that a frame finds (p99).

| senders | message | Gb/s | TCP flows | engine | ours | fair | TCP | Jain | least | sent again | RTT | 8 B p50 us | p99 us | queue |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""
MIXES = """
## Mixes of messages on a tree of switches

Messages come at random times between all hosts (Poisson, open loop). *load*: of the narrowest tier. The figures are slowdowns: the time of a message
over the least on the empty fabric (all its bytes at the links' rate, stored and forwarded, delays, half of the polls). *alone*: the engine on the empty
fabric, a message of the middle size. *ideal*: a fluid that serves what has the least left first, limited by the rates of hosts' links, leaves and pods
(as the ideal of the pFabric paper). *never came*: not within 500 ms after the last one was sent; such a message counts with its age. *web-search*: sizes of the DCTCP and pFabric papers. *hpc*: a mix of our own (`message_sizes.cc`).
"""


def read(folder):
    """Returns {name of the engine: its runs} of all files of a folder, the oldest name first."""
    files = sorted(pathlib.Path(folder).glob("*.jsonl"), key=lambda path: (path.stem != "before", path.stem))
    return {path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] for path in files}


def mean(rows, key):
    return statistics.mean(row[key] for row in rows)


def percent(value, digits=0):
    return f"{value * 100:.{digits}f} %"


def again(rows):
    return percent(sum(row["data_frames"] for row in rows) / max(sum(row["frames_needed"] for row in rows), 1) - 1, 1)


def size(length):
    return SIZES.get(length, f"{length} B")


def grouped(engines, wanted, keys):
    """Yields the values of the keys, the engine's name and its rows, so that the engines stand below each other."""
    groups = {}
    for name, rows in engines.items():
        for row in filter(wanted, rows):
            groups.setdefault(tuple(row[key] for key in keys), {}).setdefault(name, []).append(row)
    for values, found in groups.items():
        for name, rows in found.items():
            yield values, name, rows


def once(engines):
    lines = []
    for (senders, length, rate), name, rows in grouped(engines, lambda row: row["experiment"] == "incast" and "--duration" not in row["arguments"],
                                                       ("senders", "size", "gigabits")):
        slowdown = mean(rows, "time_us") / mean(rows, "ideal_us")
        frames = sum(row["frames"] for row in rows) / sum(row["frames_needed"] for row in rows)
        lines.append(f"| {senders} | {size(length)} | {rate:g} | {name} | {percent(mean(rows, 'share'))} | {slowdown:.2f} | {mean(rows, 'p50_us'):.0f} "
                     f"| {mean(rows, 'p99_us'):.0f} | {again(rows)} | {frames:.2f} | {mean(rows, 'dropped'):.0f} |\n")
    return lines


def beside(engines):
    lines = []
    for (senders, length, rate, flows), name, rows in grouped(engines, lambda row: row["experiment"] == "incast" and "--duration" in row["arguments"],
                                                              ("senders", "size", "gigabits", "tcp")):
        tcp = mean(rows, "tcp_share") * TCP_FRAME / TCP_PAYLOAD
        trip = f"{mean(rows, 'tcp_rtt_p50_us') / mean(rows, 'tcp_alone_rtt_p50_us'):.2f}" if flows else ""
        lines.append(f"| {senders} | {size(length)} | {rate:g} | {flows} | {name} | {percent(mean(rows, 'wire_share'))} | {percent(senders / (senders + flows))} "
                     f"| {percent(tcp) if flows else ''} | {mean(rows, 'jain'):.2f} | {mean(rows, 'least'):.2f} | {again(rows)} | {trip} "
                     f"| {mean(rows, 'ping_p50_us'):.0f} | {mean(rows, 'ping_p99_us'):.0f} | {mean(rows, 'queue_p99'):.0f} |\n")
    return lines


def up_to(length):
    if length > 1 << 30:
        return "more"
    return f"{length >> 20} MiB" if length >> 20 else f"{length >> 10} KiB" if length >> 10 else f"{length} B"


def mix(row_of):
    """The tables of one mix, {name of the engine: its run}."""
    first = next(iter(row_of.values()))
    text = (f"\n### {first['workload']}, load {first['load']:g}, {first['tcp']} TCP flows\n\n{first['hosts']} hosts, {first['leaf']} at a leaf, "
            f"oversubscribed {first['oversubscription']}:1, {first['gigabits']:g} Gb/s, {first['messages']} messages, "
            f"{first['bytes'] / 1e9:.1f} GB, sent within {first['duration_ms']:g} ms.\n\n")
    names = list(row_of)
    text += "| up to | messages | ideal p50 | p99 |" + "".join(f" {name} alone | p50 | p99 | p99.9 |" for name in names) + "\n"
    text += "|---" * (4 + 4 * len(names)) + "|\n"
    for number, bucket in enumerate(first["slowdown"]):
        text += f"| {up_to(bucket['up_to'])} | {bucket['messages']} | {bucket['ideal_p50']:.2f} | {bucket['ideal_p99']:.2f} |"
        for name in names:
            b = row_of[name]["slowdown"][number]
            text += f" {b['alone']:.2f} | {b['p50']:.2f} | {b['p99']:.1f} | {b['p999']:.1f} |"
        text += "\n"
    text += ("\n| engine | bytes that came in that time | last message after ms | never came | sent again | frames | dropped leaf up | spine up | core down | spine down "
             "| leaf down | TCP flow |\n" + "|---" * 12 + "|\n")
    for name, row in row_of.items():
        dropped = " | ".join(str(row["tiers"][tier]["dropped"]) for tier in ("leaf_up", "spine_up", "core_down", "spine_down", "leaf_down"))
        text += (f"| {name} | {percent(row['in_time'])} | {row['time_us'] / 1e3:.0f} | {row['unfinished']} | {again([row])} "
                 f"| {row['frames'] / max(row['frames_needed'], 1):.2f} | {dropped} | {percent(row['tcp_share'], 1) if row['tcp'] else ''} |\n")
    return text


def mixes(engines):
    groups = {}
    for values, name, rows in grouped(engines, lambda row: row["experiment"] == "traffic", ("workload", "load", "tcp")):
        groups.setdefault(values, {})[name] = rows[0]
    return [mix(row_of) for row_of in groups.values()]


def render(engines):
    return "".join([HEAD, ONCE, *once(engines), BESIDE, *beside(engines), MIXES, *mixes(engines)])
