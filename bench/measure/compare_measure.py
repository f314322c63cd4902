# SPDX-License-Identifier: BSD-3-Clause
"""The part of bench/compare that runs inside the lab and measures.

Every measurement starts one server on h2 and one client on h1 and ends both. So no more
programs poll than there are cores.
"""
import json
import sys
import time

from bench_run import MeasurementFailed, in_host, json_rows, listed, perf_rows, run_client, run_pair

KIB, MIB = 1024, 1024 * 1024
SERVER, CLIENT = "h2", "h1"
SERVER_MAC, SERVER_IP = "02:4f:4d:58:00:02", "10.77.0.2"
INTERFACE = "eth0"
# Room for a message in a frame of the floor: the MTU and the Ethernet header less the header of a data frame.
FLOOR_HEADER = 32 - 14

QUICK = {
    "small": [0, 8, 32, 1024, 4096], "small_iterations": 4000,
    "large": [64 * KIB, 4 * MIB], "large_iterations": 40,
    "streams": [64 * KIB, MIB, 4 * MIB], "seconds": 0.25,
}
FULL = {
    "small": [0, 1, 8, 32, 64, 128, 512, KIB, 4 * KIB], "small_iterations": 10000,
    "large": [16 * KIB, 32 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB], "large_iterations": 100,
    "streams": [64 * KIB, MIB, 4 * MIB], "seconds": 0.6,
}
RATE_SIZE = 8
# A stream goes through as much memory as the floor's stream, because the distance of memory from the
# processor matters.
STREAM_BYTES = 4 * MIB


class Bench:
    """Runs one server and one client for each measurement."""

    def __init__(self, plan):
        self.programs = plan["programs"]
        self.client_core, self.server_core = (str(core) for core in plan["cores"])

    @staticmethod
    def run(server, client):
        return run_pair(in_host(SERVER, server), in_host(CLIENT, client))

    # --- Open-MX ---

    def omx(self, test, sizes, *options, hosts=(SERVER, CLIENT), peer=SERVER_MAC, settings=None):
        program = self.programs["omx"]
        text = run_pair(
            in_host(hosts[0], [program, "perf", "--once", "--cpu", self.server_core], settings),
            in_host(hosts[1], [program, "perf", peer, "--cpu", self.client_core, "--json",
                               "--test", test, "--sizes", listed(sizes), *options], settings),
            ready="waiting")
        return perf_rows(text)

    def omx_pingpong(self, sizes, iterations):
        rows = self.omx("pingpong", sizes, "--iterations", str(iterations))
        return {size: row["median_us"] for size, row in rows.items()}

    def omx_stream(self, sizes, seconds):
        rows = {}
        for size in sizes:
            window = str(max(STREAM_BYTES // size, 1))
            rows |= self.omx("stream", [size], "--window", window, "--min-time", str(seconds))
        return {size: row["gbit_per_s"] for size, row in rows.items()}

    def omx_rate(self, seconds):
        rows = self.omx("rate", [RATE_SIZE], "--min-time", str(seconds))
        return {size: row["million_per_s"] for size, row in rows.items()}

    # --- the floor ---

    def floor(self, test, *options):
        program = self.programs["floor"]
        text = self.run(
            [program, test, "server", "--interface", INTERFACE, "--cpu", self.server_core],
            [program, test, "client", "--interface", INTERFACE, "--cpu", self.client_core,
             "--peer", SERVER_MAC, "--repeats", "1", *options])
        return json_rows(text)

    def floor_pingpong(self, sizes, iterations):
        rows = self.floor("pingpong", "--sizes", listed(sizes), "--iterations", str(iterations))
        return {size: row["median_us"] for size, row in rows.items()}

    def floor_stream(self, sizes, seconds):
        """Returns the rates of messages that bare frames put into their place. 64 KiB are two frames of MTU 65535."""
        rows = self.floor("stream", "--messages", "--sizes", listed(sizes), "--seconds", str(seconds))
        return {size: row["gbps"] for size, row in rows.items()}

    def floor_bytes(self, sizes, seconds):
        """Returns the rate of full frames without messages: the same bound for every size."""
        (row,) = self.floor("stream", "--seconds", str(seconds)).values()
        return {size: row["gbps"] for size in sizes}

    def floor_rate(self, seconds):
        rows = self.floor("stream", "--sizes", str(RATE_SIZE), "--seconds", str(seconds))
        return {size: row["mps"] for size, row in rows.items()}

    # --- TCP ---

    def tcp(self, test, sizes, *options):
        program = self.programs["tcp"]
        text = self.run(
            [program, "server", "--cpu", self.server_core],
            [program, test, "--peer", SERVER_IP, "--cpu", self.client_core, "--repeats", "1",
             "--sizes", listed(sizes), *options])
        return json_rows(text)

    def tcp_pingpong(self, sizes, iterations):
        """Returns half round trips. TCP has no empty messages, so one byte stands for none."""
        carried = sorted({max(size, 1) for size in sizes})
        rows = self.tcp("pingpong", carried, "--iterations", str(iterations),
                        "--warm-up", str(max(iterations // 10, 5)))
        return {size: rows[max(size, 1)]["median_us"] for size in sizes}

    def tcp_stream(self, sizes, seconds):
        rows = self.tcp("stream", sizes, "--seconds", str(seconds))
        return {size: row["gbps"] for size, row in rows.items()}

    def tcp_rate(self, seconds):
        rows = self.tcp("stream", [RATE_SIZE], "--seconds", str(seconds))
        return {size: row["mps"] for size, row in rows.items()}


def measurements(bench, extent, mtu):
    """Returns one round as (kind, contender, function), in an order that interleaves the contenders."""
    in_frame = [size for size in extent["small"] if size <= mtu - FLOOR_HEADER]
    small, large = extent["small"], extent["large"]
    few, many = extent["large_iterations"], extent["small_iterations"]
    streams, seconds = extent["streams"], extent["seconds"]
    return [
        [("pingpong", "omx", lambda: bench.omx_pingpong(small, many)),
         ("pingpong", "floor", lambda: bench.floor_pingpong(in_frame, many)),
         ("pingpong", "tcp", lambda: bench.tcp_pingpong(small, many))],
        [("pingpong", "omx", lambda: bench.omx_pingpong(large, few)),
         ("pingpong", "tcp", lambda: bench.tcp_pingpong(large, few))],
        [("stream", "omx", lambda: bench.omx_stream(streams, seconds)),
         ("stream", "floor", lambda: bench.floor_stream(streams, seconds)),
         ("stream", "bytes", lambda: bench.floor_bytes(streams, seconds)),
         ("stream", "tcp", lambda: bench.tcp_stream(streams, seconds))],
        [("rate", "omx", lambda: bench.omx_rate(seconds)),
         ("rate", "floor", lambda: bench.floor_rate(seconds)),
         ("rate", "tcp", lambda: bench.tcp_rate(seconds))],
    ]


def host_mtu():
    return int(run_client(in_host(CLIENT, ["cat", f"/sys/class/net/{INTERFACE}/mtu"])))


def measure(plan):
    bench = Bench(plan)
    mtu = host_mtu()
    groups = measurements(bench, QUICK if plan["quick"] else FULL, mtu)
    figures = []  # [kind, contender, size, figure] of all rounds
    started = time.monotonic()
    rounds = 0
    for number in range(plan["rounds"]):
        # On a busy machine a round may take long.
        if rounds and plan["budget_s"] and time.monotonic() - started > plan["budget_s"]:
            break
        most = "as time permits, at most" if plan["budget_s"] else "of"
        print(f"compare: MTU {mtu}, round {number + 1} {most} {plan['rounds']}", file=sys.stderr)
        for group in groups:
            # Each contender is first in turn.
            turn = number % len(group)
            for kind, contender, function in group[turn:] + group[:turn]:
                try:
                    measured = function()
                except MeasurementFailed as failure:
                    if contender == "omx":
                        raise
                    # A failure of another contender must not hide the remaining figures.
                    print(f"compare: {contender} left out: {failure}", file=sys.stderr)
                    continue
                figures += [[kind, contender, size, figure]
                            for size, figure in measured.items()]
        rounds += 1
    return {"rounds": rounds, "figures": figures}


def main(plan):
    print(json.dumps(measure(plan)))
    return 0
