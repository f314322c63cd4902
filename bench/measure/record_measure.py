# SPDX-License-Identifier: BSD-3-Clause
"""The fixed set of bench/record. A changed set needs other names of figures, or old runs could not be compared."""
import json
import shutil
import sys
import time

import bench_build
import compare_measure
import stages_count
from bench_run import MeasurementFailed, in_host, json_rows, listed, run_client, run_lab, script_module
from compare_measure import CLIENT, KIB, MIB, SERVER, SERVER_IP

ROUNDS = 7
SMALL, SMALL_ITERATIONS = [0, 8, 32, KIB, 4 * KIB], 8000
LARGE, LARGE_ITERATIONS = [16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB], 60
STREAMS, SECONDS = [64 * KIB, 4 * MIB], 0.3
LOCAL = [0, 8, KIB, 16 * KIB, 64 * KIB, MIB]
# A flag of a cache line takes 0.05 us to the other processor where they share a cache, 0.2 us and more elsewhere.
FAST_MOST_US = 0.11


UDP = {"peer": SERVER_IP, "settings": {"OMX_LINK": "udp"}}
INSIDE = {"hosts": (SERVER, SERVER)}


def omx_times(bench, sizes, iterations, **way):
    return times(bench.omx("pingpong", sizes, "--iterations", str(iterations), **way))


def tcp_times(bench, sizes, iterations):
    return [(f"{size} B median", value, "less") for size, value in bench.tcp_pingpong(sizes, iterations).items()]


def times(rows):
    """Returns figures of a ping-pong: the median by size, and the 99th percentile where messages are many enough for one."""
    return [(f"{size} B {part}", row[f"{part}_us"], "less")
            for size, row in rows.items() for part in ("median", "p99") if part == "median" or size <= SMALL[-1]]


def rates(rows, unit):
    return [(f"{size} B {unit}", value, "more") for size, value in rows.items()]


def network(bench):
    """Returns (name, function) of what is measured between two hosts by raw frames."""
    in_frame = [0, 8, 32, KIB]
    return [
        ("omx ping-pong", lambda: omx_times(bench, SMALL, SMALL_ITERATIONS)),
        ("floor ping-pong", lambda: times(bench.floor("pingpong", "--sizes", listed(in_frame), "--iterations", str(SMALL_ITERATIONS)))),
        ("tcp ping-pong", lambda: tcp_times(bench, SMALL, SMALL_ITERATIONS)),
        ("omx ping-pong", lambda: omx_times(bench, LARGE, LARGE_ITERATIONS)),
        ("tcp ping-pong", lambda: tcp_times(bench, LARGE, LARGE_ITERATIONS)),
        ("omx stream", lambda: rates(bench.omx_stream(STREAMS, SECONDS), "Gb/s")),
        ("tcp stream", lambda: rates(bench.tcp_stream(STREAMS, SECONDS), "Gb/s")),
        ("omx rate", lambda: rates(bench.omx_rate(SECONDS), "M/s")),
        ("floor rate", lambda: rates(bench.floor_rate(SECONDS), "M/s")),
    ]


def inside(bench):
    small, large = [size for size in LOCAL if size <= 16 * KIB], [size for size in LOCAL if size > 16 * KIB]
    return [
        ("omx ping-pong", lambda: omx_times(bench, small, SMALL_ITERATIONS, **INSIDE)),
        ("omx ping-pong", lambda: omx_times(bench, large, 200, **INSIDE)),
    ]


def user(bench):
    return [
        ("omx ping-pong", lambda: omx_times(bench, [0, 8, KIB, 4 * KIB], SMALL_ITERATIONS, **UDP)),
        ("omx ping-pong", lambda: omx_times(bench, LARGE, LARGE_ITERATIONS, **UDP)),
    ]


def line_us(bench):
    """Returns what a flag takes to the other processor."""
    text = run_client(in_host(CLIENT, [bench.programs["line"], "--cpu", bench.client_core, "--peer-cpu", bench.server_core,
                                       "--repeats", "1", "--sizes", "0", "--iterations", "5000"]))
    (row,) = json_rows(text).values()
    return row["median_us"]


def mode_of(line):
    return "fast" if line <= FAST_MOST_US else "slow"


def measure(plan):
    """Measures one round of a group. A figure whose measurement began in one mode and ended in the other does not count."""
    bench = compare_measure.Bench(plan)
    group = {"net": network, "inside": inside, "udp": user}[plan["group"]](bench)
    turn = plan["round"] % len(group)  # another is first in each round
    figures = []
    before = line_us(bench)
    for what, function in group[turn:] + group[:turn]:
        try:
            measured = function()
        except MeasurementFailed as failure:
            if what.startswith("omx"):
                raise
            print(f"record: {what} left out: {failure}", file=sys.stderr)
            continue
        after = line_us(bench)
        if mode_of(before) == mode_of(after):
            figures += [{"name": f"{plan['name']} {what} {part}", "value": value, "better": better, "mode": mode_of(after), "line_us": after}
                        for part, value, better in measured if value > 0]
        before = after
    return figures


def instructions():
    """Returns what a message of 8 bytes costs in instructions. Nothing is timed, so no mode matters."""
    if not all(shutil.which(program) for program in ("valgrind", "strace")):
        print("record: instructions are not counted: apt-get install valgrind strace", file=sys.stderr)
        return []
    stages = script_module("stages")
    programs = bench_build.built(stages.FOLDER, stages.PROGRAMS, optional=("provider",), preset="stages")
    apis = [api for api in ("mx", "tagged") if api == "mx" or "provider" in programs]
    plan = {"programs": programs, "links": list(stages_count.LINKS), "apis": apis, "bytes": 8, "functions": 0}
    cases = run_lab("stages", plan, 1)
    return [{"name": f"instructions {case['link']} {case['api']}", "value": sum(case["stages"].values()), "better": "less", "mode": "any"}
            for case in cases]


def measure_all(programs, cores, rounds):
    counted = instructions()  # first, because its build may fail
    figures = []
    started = time.monotonic()
    for number in range(rounds):
        print(f"record: round {number + 1} of {rounds}, {time.monotonic() - started:.0f} s so far", file=sys.stderr)
        for name, group, mtu in [("raw mtu1500", "net", 1500), ("raw mtu9000", "net", 9000), ("udp mtu1500", "udp", 1500), ("inside", "inside", 9000)]:
            figures += run_lab("record", {"programs": programs, "cores": cores, "group": group, "name": name, "round": number}, 2, mtu)
    return figures + counted


def main(plan):
    print(json.dumps(measure(plan)))
    return 0
