# SPDX-License-Identifier: BSD-3-Clause
"""[Q], the papers on several queues: their figures, and the experiments that reproduce them.

Their text only announces a study of interrupt coalescing. The latencies of Table I are a tenth of the NIC's default
delay, so coalescing was disabled there. Nothing says that it was enabled for the other tables, so it is disabled in all.
"""
from papers_kernels import IS_ROUNDS, MULTIQUEUE_KERNELS, sort
from papers_rows import CHOSEN, COUNTS, EIGHT, FITTED, KIB, LARGE, LOSS, MIB, MX_WIRE, Row, SEVERAL, TUNED, Table, WAYS, as_gain, copied, mib_per_s, over, pingpong, us

OFF, DELAYED = ("--strategy", "off"), ("--strategy", "timeout")
PLACES = {"SC": 0, "S$": 2, "SP": 4, "OP": 1}  # cores by their distance from core 0
JUMBO = ("--mtu", "9000")
BINDING = {  # metric: round robin, {place: bound}, {place: several queues}
    "0 B": (11.4, dict(zip(PLACES, (10.96, 9.34, 10.32, 10.25))), dict(zip(PLACES, (11.71, 10.10, 11.09, 11.25)))),
    "4 MB": (646, dict(zip(PLACES, (719, 723, 721, 714))), dict(zip(PLACES, (703, 707, 706, 697)))),
    "4 MB, I/OAT": (905, dict(zip(PLACES, (1056, 1059, 1048, 1026))), dict(zip(PLACES, (955, 965, 948, 938)))),
}
FITTED_TO = {("0 B", "RR", ""), ("0 B", "bound", "SC"), ("0 B", "bound", "S$"), ("0 B", "bound", "SP"), ("0 B", "bound", "OP"), ("0 B", "queues", "S$")}


def binding_row(metric, way, place, published):
    arguments = ["--mpi", *OFF, *WAYS[way], "--cores", PLACES.get(place, 0), *MX_WIRE]
    name = {"RR": "round robin", "bound": f"one interrupt, {place}", "queues": f"several queues, {place}"}[way]
    null = BINDING[metric][0] if place else None
    if metric == "0 B":
        return Row(f"{metric}: {name}", published, "us", us(*pingpong(*arguments)), use=FITTED if (metric, way, place) in FITTED_TO else "", null=null)
    if "I/OAT" in metric:
        arguments += ["--copies", "engine"]
    return Row(f"{metric}: {name}", published, "MiB/s", mib_per_s(4 * MIB, "--iterations", 3, *arguments), use=CHOSEN, null=null, of=LARGE)


def binding_rows():
    for metric, (scattered, bound, queues) in BINDING.items():
        yield binding_row(metric, "RR", "", scattered)
        for place in PLACES:
            yield binding_row(metric, "bound", place, bound[place])
        for place in PLACES:
            yield binding_row(metric, "queues", place, queues[place])
    yield Row("4 MB: one interrupt, S$, frames of 9000 B", 723, "MiB/s", copied("processor", 4 * MIB, "--mpi", *TUNED, *JUMBO), counted=False)
    yield Row("4.1: 0 B without MPI (8), one interrupt, S$", 8, "us", us(*pingpong(*TUNED, *MX_WIRE)), use=FITTED)
    yield Row("4.1: 4 MB, I/OAT, one interrupt, S$ (9 of 10 Gb/s)", 9, "Gb/s", lambda run: mib_per_s(
        4 * MIB, "--iterations", 3, "--mpi", *TUNED, *MX_WIRE, "--copies", "engine")(run) * MIB * 8 / 1e9, counted=False)


MISSES = {  # size: round robin, bound to S$, to SC: kernel, user; in percent
    "0 B": (0, ((29.80, 13.79), (29.70, 8.34), (11.47, 0.13)), ()),
    "128 B": (128, ((26.80, 17.90), (25.06, 23.05), (14.15, 0.51)), ()),
    "32 kB": (32 * KIB, ((28.77, 17.71), (23.17, 29.32), (24.49, 22.56)), ()),
    "1 MB, I/OAT": (MIB, ((27.7, 6.28), (36.9, 7.97), (25.20, 5.96)), ("--copies", "engine")),
}


def miss_rows():
    ways = (("round robin", WAYS["RR"]), ("S$", (*WAYS["bound"], "--cores", 2)), ("SC", (*WAYS["bound"], "--cores", 0)))
    for name, (size, published, more) in MISSES.items():
        for (way, arguments), both in zip(ways, published):
            for part, figure in zip(("kernel", "user"), both):
                def ours(run, part=part, size=size, arguments=arguments, more=more):
                    result = run("pingpong", "--size", size, *OFF, "--iterations", 20, *arguments, *MX_WIRE, *more)
                    return 100 * result[f"{part}_moved"] / max(result[f"{part}_lines"], 1)
                yield Row(f"{name}, {way}, {part}", figure, "%", ours, alike=False)


def exchange(size, *more):
    return ("alltoall", "--size", size, "--iterations", 2 if size >= 65536 else 10, "--mpi", *EIGHT, *MX_WIRE, *more)


ALLTOALL_SIZES = [1 << bits for bits in range(4, 21, 2)]


def alltoall_gain(*more):
    def ours(run):
        gains = [run(*exchange(size, *more))["us"] / run(*exchange(size, *WAYS["queues"], *more))["us"] for size in ALLTOALL_SIZES]
        return sum(gains) / len(gains)
    return ours


def is_seconds(way, *more):
    return lambda run: IS_ROUNDS * run(*sort(*WAYS[way], *MX_WIRE, *more))["time_us"] / 1e6


def is_misses(way):
    def share(run):
        result = run(*sort(*WAYS[way], *MX_WIRE, *OFF))
        return (result["kernel_moved"] + result["user_moved"]) / max(result["kernel_lines"] + result["user_lines"], 1)
    return share


IS_SECONDS = {"RR": ("round robin", 11.84), "bound": ("one core", 10.83), "queues": ("several queues", 1.25)}
ASSUMPTIONS = {"full rings lose frames": (*OFF, *LOSS), "coalescing by default": DELAYED}
SLEEPING = ("--mpi", *OFF, "--sleep", *MX_WIRE)
AWAKE = ("--mpi", *OFF, *MX_WIRE)
asleep_over_awake = over(mib_per_s(4 * MIB, "--iterations", 3, *SLEEPING), mib_per_s(4 * MIB, "--iterations", 3, *AWAKE))

ALLTOALL_ORDER = (
    "The paper's order of one core and round robin is not reproduced: it says that one core is worse as soon as messages grow; in the model one core is worse for small blocks and better from "
    "16 KiB on, as lines of memory cost round robin more than the load costs one core.")

MULTIQUEUE = (
    Table("Table I: IMB Pingpong by place of process and interrupt", list(binding_rows()),
          ("Wire format: Open-MX uses \"the wire specifications of Myrinet Express\" (2.1), and the firmware decodes headers \"as specified in the MX wire specifications\" (3.3), which have packets "
           "of up to 4 kB ([J] 3.1, [I] IV-C of the version before); [J] 5.5 is the first to send larger ones. The papers do not name the MTU; 9 of 10 Gb/s (4.1) need all of the 4 kB. Because an earlier version of "
           "this document had chosen it by throughput, and those 9 Gb/s are the row of I/OAT on S$ in other words, no 4 MB row of this table is counted as a prediction. Frames of 9000 bytes: last but two.",
           "0 B, one interrupt, OP: half of the weighted mean to which `state_lines` is fitted.",
           "Blocks asked for: [I], before, had two, [C] and [J], after, four; [Q] does not name them. It makes no difference (tried: 0.1 %), because the receiver or the cable is the limit.",
           "4 MB, I/OAT, several queues: the paper loses 9 % by \"more work in the NIC\", without a figure of what the NIC does else; here it is latency, fitted to 0 B, so it costs no throughput.")),
    Table("4.3: only one process on each host, so that other cores sleep", [
        Row("0 B, round robin (15 to 20)", 17.5, "us", us(*pingpong(*SLEEPING)), use=FITTED),
        Row("4 MB, throughput of the former (less by roughly 20 %)", 0.8, "", asleep_over_awake, null=1, gain=True, of=LARGE),
        as_gain(-20, "the same, gain", asleep_over_awake),
    ], ("In the model each interrupt of a stream wakes its core once the handler before it is done, and eight cores take turns, so sleep costs twice what it cost the paper. If a core woke while another one's handler "
        "works, sleep would cost a stream nothing, against [C] Fig. 4; the text does not say how much of it overlaps.",)),
    Table("Table II: cache misses in a ping-pong", list(miss_rows()),
          ("The papers counted all accesses to L2 caches. The model counts the lines of which it knows: the driver's state, events, and copied data. So levels differ, and only changes "
           "between columns can be compared. No error is counted.",
           "On the same core both agree that misses fall for short messages. On S$ they do not: the paper's kernel misses stay (0 B, 128 B) or rise (1 MB), the model's vanish. For 32 kB the model's user misses "
           "halve, where the paper's rise; for 1 MB the paper's hardly fall on the same core, and the model's vanish.",), of=COUNTS),
    Table("4.5, Fig. 5: Alltoall of 16 processes", [
        Row("several queues over round robin, mean of all sizes", 1.3, "", alltoall_gain(*OFF), null=1, gain=True),
        Row("the same, coalescing by default", 1.3, "", alltoall_gain(*DELAYED), counted=False),
    ], ("In the model one queue is served by one core at a time, which also sends what the frames request. That core is the limit. Eight queues are served by eight cores, up to the cable's rate. "
        "The paper gained less. What eight cores share is in the model: the memory bus and the lock of the queue to send, which stayed one (Euro-Par, 6). Both are small here (*without one mechanism* at the "
        "beginning).",
        ALLTOALL_ORDER,
        "Figure 5 itself is relative to native MX, which this model does not have; the papers' text gives no times."), of=SEVERAL),
    Table("Table III: IS class B, ten iterations", [
        Row(name, seconds, "s", is_seconds(way, *OFF), null=IS_SECONDS["RR"][1] if way != "RR" else None) for way, (name, seconds) in IS_SECONDS.items()] + [
        Row(f"{name}, {what}", seconds, "s", is_seconds(way, *more), counted=False)
        for what, more in ASSUMPTIONS.items() for way, (name, seconds) in IS_SECONDS.items()] + [
        Row("round robin over several queues (their 8.5 is neither column's)", 11.84 / 1.25, "", over(is_seconds("RR", *OFF), is_seconds("queues", *OFF)), counted=False),
        Row("the same, full rings lose frames", 11.84 / 1.25, "", over(is_seconds("RR", *OFF, *LOSS), is_seconds("queues", *OFF, *LOSS)), counted=False),
        Row("4.6: cache miss rate, round robin over several queues (about)", 11, "times", over(is_misses("RR"), is_misses("queues")), null=1, of=COUNTS),
    ], ("The paper wonders at its own figure: \"likely also caused by poor performance of the initial single-queue model because of very poor cache efficiency\". With the moved lines that Table I "
        "gives, the model has nothing that would cost ten seconds.",
        "One guess fits: eight processes with four requested blocks each fill the ring of the only queue, which loses frames if the cable has no flow control, and the original asks again after a "
        "second; the paper's round robin takes 1.06 s an iteration longer than several queues. Eight queues have eight rings, and lose nothing. The text tells neither flow control nor the rings' size (1024 "
        "descriptors are assumed), so those rows are not counted.",
        "Several queues: computing is fitted to another figure (`key_ns`), and there is one run of one iteration, times ten. The paper's 1.25 s contain all that computes besides ranking.",
        "Cache misses: see Table II; of what the model counts, copies are most, which no steering spares."), of=SEVERAL),
    MULTIQUEUE_KERNELS,
)
