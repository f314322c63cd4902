#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The part of bench/papers --live that runs inside the lab: measures one round of what the papers measured.

Each part returns [contender, x, figure]. papers_live_tables.py computes the tables from these figures.
"""
import json
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
BENCH = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(BENCH, "measure"))

import bench_run  # noqa: E402  (the path must be set first)
from bench_run import MeasurementFailed, in_host, listed, perf_rows, run_client, run_pair, serving  # noqa: E402
from compare_measure import CLIENT, FLOOR_HEADER, KIB, MIB, SERVER, SERVER_MAC, Bench  # noqa: E402

LOCAL_MAC = "02:4f:4d:58:00:01"  # MAC address of h1
JUMBO = 9000  # MTU
PIN = bench_run.script_module("mpi").PIN
OFFLOAD = bench_run.script_module("offload")
STRATEGIES = bench_run.script_module("moderation").STRATEGIES
FRAMES, RING = OFFLOAD.FRAMES, OFFLOAD.RING
HELPER = {**RING, "OMX_COPY_ENGINE": "thread", "OMX_COPY_MIN_PIECE": "1K"}
MXOE = {"OMX_WIRE_MODE": "mxoe"}
ALONE = {**MXOE, "OMX_EXTENSION": "0"}  # makes a host look like one with native MX
TIMER_US = "75"  # the delay of the papers' NIC
ASLEEP = {"OMX_SPIN_US": "0", "OMX_PROGRESS": "off", "OMX_MODERATION_US": TIMER_US}
UNTUNED = {**ASLEEP, "OMX_MODERATION": "timer"}
MESSAGE = 234_000  # bytes, [C] Table II
OPERATIONS = ("sendrecv", "exchange", "allreduce", "reduce", "reduce_scatter", "allgather", "allgatherv", "gather", "gatherv",
              "scatter", "scatterv", "alltoall", "alltoallv", "bcast", "barrier")
MEDIUM = {**HELPER, "OMX_COPY_MEDIUM": "1"}
PINNED = {"OMX_ZEROCOPY": "1"}  # the kernel pins the sender's pages for each call
OFFLOADED = (128 * KIB, 4 * MIB)  # the sizes of [I] Fig. 12
DELIVERED_WRONG = "wrong data"  # as bench/jobs/mpi_collectives.c prints it


def sizes_up_to(least, most):
    return [1 << bit for bit in range(least.bit_length() - 1, most.bit_length())]


# Extent of one round. `ms` and `seconds` are for one figure, if it does not take longer by itself.
FULL = {
    "imb_sizes": [16, 4 * KIB, 64 * KIB, 128 * KIB, 4 * MIB], "imb_ms": 60, "floor_iterations": 5000, "pingpong_sizes": [0, 1, *sizes_up_to(4, 4 * MIB)],
    "pingpong_ms": 50, "large_sizes": sizes_up_to(32 * KIB, 4 * MIB), "seconds": 0.15, "busy_sizes": [64 * KIB, 256 * KIB, MIB, 4 * MIB],
    "busy_seconds": 0.8, "blocks": [1, 2, 4, 8, 16], "gigabit_blocks": [1, 4, 16], "wire_sizes": sizes_up_to(KIB, 4 * MIB), "piece_repeats": 3,
    "strategy_sizes": [0, 128, KIB, 4 * KIB, 16 * KIB, 32 * KIB, 128 * KIB, MIB], "rate_sizes": [0, 32 * KIB, MIB], "messages": 800, "keys": 23,
    "medium_sizes": sizes_up_to(4 * KIB, 32 * KIB), "buffer_sizes": [64 * KIB, 256 * KIB, MIB, 4 * MIB],
    "gigabit_sizes": [0, 1, KIB, *sizes_up_to(4 * KIB, 4 * MIB)], "patience_s": 60,
}
QUICK = {
    **FULL, "imb_sizes": [4 * KIB], "imb_ms": 5, "floor_iterations": 200, "pingpong_sizes": [4 * KIB], "pingpong_ms": 5, "large_sizes": [4 * MIB],
    "seconds": 0.02, "busy_sizes": [4 * MIB], "busy_seconds": 0.1, "blocks": [4], "gigabit_blocks": [4], "wire_sizes": [4 * MIB], "piece_repeats": 1,
    "strategy_sizes": [128], "rate_sizes": [0], "messages": 20, "keys": 16, "medium_sizes": [32 * KIB], "buffer_sizes": [MIB],
    "gigabit_sizes": [64 * KIB],
}


class LeftOut(MeasurementFailed):
    """Means that one contender could not be measured. Others still can."""


class WrongData(MeasurementFailed):
    """Means that data arrived damaged, so no figure counts."""


class Live(Bench):
    def __init__(self, plan):
        super().__init__(plan)
        self.plan, self.extent = plan, plan["extent"]

    # --- MPI ---

    def collectives(self, ranks, transport, settings, sizes, operations, ms, *options):
        """Returns {(operation, size): us}."""
        return self.mpi(ranks, transport, settings, "mpi", "--sizes", listed(sizes), "--operations", ",".join(operations), "--ms", str(ms), *options)

    def mpi(self, ranks, transport, settings, program, *options):
        """Runs an MPI program. Returns {(operation, size): us}. Two ranks have a core each; more ranks share their host's core."""
        cores = listed((self.client_core, self.server_core) * (ranks // 2))
        command = ["env", *(f"{name}={value}" for name, value in settings.items()), os.environ["LAB"], "mpirun", "-n", str(ranks),
                   "--transport", transport, "--provider-path", self.plan["provider"], "--", "--timeout", str(self.extent["patience_s"]),
                   "sh", "-c", PIN, "sh", cores, self.programs[program], *options, *self.plan["spoil"]]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                  timeout=self.extent["patience_s"] + 20)
        except subprocess.TimeoutExpired:
            raise LeftOut(f"no end within {self.extent['patience_s'] + 20} s") from None
        lines = [line for line in done.stdout.splitlines() if line.startswith("{") and line.endswith("}")]
        if done.returncode:
            wrong = [line for line in done.stderr.splitlines() if DELIVERED_WRONG in line]
            if wrong:
                raise WrongData(f"{transport} with {settings or 'no settings'} did not deliver what was sent: {wrong[0]}",
                                bench_run.WRONG_DATA)
            reason = f"mpirun ended with status {done.returncode}; it said: {done.stderr.strip()[-300:]}"
            if not lines:
                raise LeftOut(reason)
            print(f"papers: {transport}, {ranks} ranks: only {len(lines)} figures: {reason}", file=sys.stderr)
        return {(row["operation"], row["size"]): row["us"] for row in map(json.loads, lines)}

    def imb(self, ranks, contenders):
        for name, (transport, settings, sizes) in contenders.items():
            yield name, lambda t=transport, s=settings, z=sizes: [
                [f"{operation} {size}", us] for (operation, size), us in self.collectives(ranks, t, s, z, OPERATIONS, self.extent["imb_ms"]).items()]

    def imb_contenders(self):
        sizes = self.extent["imb_sizes"]
        large = [size for size in OFFLOADED if size in sizes] or sizes
        return {"omx": ("omx", {}, sizes), "frames": ("omx", FRAMES, sizes), "tcp": ("tcp", {}, sizes), "processor": ("omx", RING, large), "helper": ("omx", HELPER, large)}

    def imb2(self):
        yield from self.imb(2, self.imb_contenders())
        yield "bare", lambda: list(self.bare(self.extent["imb_sizes"]))

    def bare(self, sizes):
        """Measures what messages take as bare frames: half a round trip if one frame holds them, else their part of a stream."""
        wanted = sorted({0, *sizes, *(size // 2 for size in sizes)})  # a Reduce_scatter of two ranks sends halves
        short = [size for size in wanted if size <= JUMBO - FLOOR_HEADER]
        for size, us in self.floor_pingpong(short, self.extent["floor_iterations"]).items():
            yield [size, us]
        for size, gbps in self.floor_stream([size for size in wanted if size not in short], self.extent["seconds"]).items():
            yield [size, size * 8e-3 / gbps]

    def imb4(self):
        return self.imb(4, self.imb_contenders())

    def pingpong(self):
        for name, (transport, settings) in {"omx": ("omx", {}), "frames": ("omx", FRAMES), "processor": ("omx", RING),
                                            "helper": ("omx", HELPER), "tcp": ("tcp", {})}.items():
            yield name, lambda t=transport, s=settings: [[size, us] for (_, size), us in self.collectives(
                2, t, s, self.extent["pingpong_sizes"], ["pingpong"], self.extent["pingpong_ms"]).items()]

    def gigabit(self):
        """Measures [J] Fig. 9(a) and 12(a)."""
        for name, (transport, settings) in {"omx": ("omx", {}), "frames": ("omx", FRAMES), "tcp": ("tcp", {})}.items():
            yield name, lambda t=transport, s=settings: [[size, us] for (_, size), us in self.collectives(
                2, t, s, self.extent["gigabit_sizes"], ["pingpong"], self.extent["pingpong_ms"]).items()]

    def buffers(self):
        """Measures [I] Fig. 11: what a registration cache would tell apart, memory seen before and new memory."""
        for name in ("omx", "tcp"):
            for how in ("same", "others", "fresh"):
                yield f"{name}, {how}", lambda n=name, h=how: self.buffers_one(n, {}, h)
        yield "omx, pinned", lambda: self.buffers_one("omx", PINNED, "same")

    def buffers_one(self, transport, settings, how):
        return [[size, us] for (_, size), us in self.collectives(
            2, transport, settings, self.extent["buffer_sizes"], ["pingpong"], self.extent["pingpong_ms"], "--buffers", how).items()]

    def alltoall(self):
        """Measures [J] Table 2, Alltoall."""
        for name, settings in (("processor", RING), ("helper", HELPER)):
            yield name, lambda s=settings: [["us", us] for us in self.collectives(
                4, "omx", s, [4 * MIB], ["alltoall"], 4 * self.extent["imb_ms"]).values()]

    def sort(self):
        """Measures [J] Table 3, IS."""
        for name in ("omx", "tcp"):
            yield name, lambda n=name: [["us", us] for us in self.mpi(4, n, {}, "is", "--keys", str(self.extent["keys"])).values()]

    # --- the library without MPI ---

    def perf(self, settings, *options, server=None, host=SERVER, mac=SERVER_MAC, program="omx"):
        program = self.programs[program]
        return perf_rows(run_pair(
            in_host(host, [program, "perf", "--once", "--cpu", self.server_core], settings if server is None else server),
            in_host(CLIENT, [program, "perf", mac, "--cpu", self.client_core, "--json", *options], settings), ready="waiting"))

    def medians(self, settings, sizes, *options, **more):
        rows = self.perf(settings, "--sizes", listed(sizes), "--min-time", str(self.extent["seconds"]), "--max-time", "2", *options, **more)
        return [[size, row["median_us"]] for size, row in rows.items()]

    def copies(self):
        """Measures [I] Fig. 3 and 8, [J] Fig. 10."""
        ways = {"bulk": ({}, "omx"), "kernel": (FRAMES, "omx"), "processor": (RING, "omx"), "helper": (HELPER, "omx")}
        if "skipping" in self.programs:
            ways["skipped"] = ({**HELPER, "OMX_COPY_ENGINE": "skip"}, "skipping")
        for name, (settings, program) in ways.items():
            yield name, lambda s=settings, p=program: self.medians(s, self.extent["large_sizes"], program=p)

    def medium(self):
        """Measures [I] IV-C: fragments of medium messages copied by the engine."""
        for name, settings in (("processor", RING), ("helper", HELPER), ("fragments", MEDIUM)):
            yield name, lambda s=settings: self.medians(s, self.extent["medium_sizes"])

    def pieces(self):
        """Measures [I] Fig. 7."""
        def measure():
            text = run_client([self.programs["copy"], "--sizes", "256,1024,4096", "--repeats", str(self.extent["piece_repeats"]),
                               "--seconds", "0.03", "--cpu", self.client_core])
            found = re.findall(r"^ +(\d+) +(\w+) +([\d.]+) \(.*?\) +([\d.]+) \(.*?\) +(\d+)$", text, re.MULTILINE)
            if not found:
                raise LeftOut("omx_copy_bench printed no figures")
            for size, engine, cached, uncached, submitting in found:
                yield from ([f"{engine} {size} cached", float(cached)], [f"{engine} {size}", float(uncached)],
                            [f"{engine} {size} ns", float(submitting)])
        yield "pieces", lambda: list(measure())

    def busy(self):
        """Measures [I] Fig. 9, [J] Fig. 11: the receiver's processor, from outside of the measured programs."""
        for name, settings in (("bulk", {}), ("kernel", FRAMES), ("processor", RING), ("helper", HELPER)):
            yield name, lambda s=settings: [row for size in self.extent["busy_sizes"] for row in self.busy_one(s, size)]

    def busy_one(self, settings, size):
        program = self.programs["omx"]
        server = in_host(SERVER, [program, "perf", "--cpu", self.server_core], {**settings, **ASLEEP})
        client = in_host(CLIENT, [program, "perf", SERVER_MAC, "--cpu", self.client_core, "--json", "--wait", "--sync", "--test", "stream",
                                  "--window", "1", "--sizes", str(size), "--min-time", str(self.extent["busy_seconds"])], settings)
        with serving(server, ready="waiting"):
            before = OFFLOAD.core_ticks(self.server_core)
            (row,) = perf_rows(run_client(client)).values()
            used = [after - was for was, after in zip(before, OFFLOAD.core_ticks(self.server_core))]
        total, idle = sum(used) or 1, used[OFFLOAD.IDLE] + used[OFFLOAD.IOWAIT]
        library = used[OFFLOAD.USER] + used[OFFLOAD.NICE]
        return [[f"{size} busy", 100 * (1 - idle / total)], [f"{size} library", 100 * library / total],
                [f"{size} rate", row["gbit_per_s"]]]

    def local(self):
        """Measures [I] Fig. 10."""
        two = {"OMX_LOCAL_DIRECT": "0"}
        for name, settings in (("one copy", {}), ("two copies", two), ("two copies, helper", {
                **two, "OMX_COPY_ENGINE": "thread", "OMX_COPY_MIN_PIECE": "1K", "OMX_COPY_MIN_WAITED": "32K"})):
            yield name, lambda s=settings: self.medians(s, self.extent["large_sizes"], host=CLIENT, mac=LOCAL_MAC)

    def table2(self):
        """Measures [J] Table 2: a ping-pong, tuned (polling) and not tuned."""
        for name, settings in (("processor", RING), ("helper", HELPER)):
            yield name, lambda s=settings: [["tuned", self.medians(s, [4 * MIB])[0][1]],
                                            ["not tuned", self.medians({**s, **UNTUNED}, [4 * MIB], "--wait")[0][1]]]

    def tuning(self):
        """Measures [J] Fig. 9(a): ping-pongs that poll, and ones that sleep and are woken by a timer."""
        for name, waiting, options in (("tuned", {}, ()), ("not tuned", UNTUNED, ("--wait",))):
            yield name, lambda w=waiting, o=options: self.medians({**FRAMES, **w}, self.extent["gigabit_sizes"], *o)

    def wire(self):
        """Measures [J] Fig. 13."""
        for name, here, there in (("omx", {}, {}), ("omx by frames", FRAMES, FRAMES), ("mxoe", MXOE, MXOE),
                                  ("mxoe, peer without our block", {**MXOE, **FRAMES}, {**ALONE, **FRAMES})):
            yield name, lambda h=here, t=there: self.medians(h, self.extent["wire_sizes"], server=t)

    def blocks(self):
        """Measures [J] Fig. 14."""
        return self.blocks_in_flight(self.extent["blocks"])

    def gigabit_blocks(self):
        return self.blocks_in_flight(self.extent["gigabit_blocks"])

    def blocks_in_flight(self, counts):
        for mode, more in (("frames of 9000 B", {}), ("packets of 4 kB", MXOE)):
            for how, waiting, options in (("tuned", {}, ()), ("not tuned", UNTUNED, ("--wait",))):
                yield f"{mode}, {how}", lambda m=more, w=waiting, o=options: [
                    [count, self.medians({**FRAMES, **m, **w, "OMX_PULL_BLOCKS": str(count)}, [4 * MIB], *o)[0][1]]
                    for count in counts]

    # --- wake-ups ---

    def strategies(self):
        """Measures [C] Fig. 5 and 6, Tables I and II."""
        for name in STRATEGIES:
            yield name, lambda n=name: self.strategy({**FRAMES, **ASLEEP, "OMX_MODERATION": n})

    def strategy(self, settings):
        figures = [[f"us {size}", us] for size, us in self.medians(settings, self.extent["strategy_sizes"], "--wait")]
        for size in self.extent["rate_sizes"]:
            (row,) = self.perf(settings, "--wait", "--test", "stream", "--sizes", str(size), "--min-time", str(2 * self.extent["seconds"]),
                               "--max-time", "2").values()
            figures.append([f"rate {size}", row["messages"] / row["seconds"]])
        return figures + self.one_message(settings)

    def one_message(self, settings):
        program = self.programs["omx"]
        server = in_host(SERVER, [program, "perf", "--cpu", self.server_core], settings)
        client = in_host(CLIENT, [program, "perf", SERVER_MAC, "--cpu", self.client_core, "--json", "--wait", "--sizes", str(MESSAGE),
                                  "--iterations", str(self.extent["messages"])], settings)
        with serving(server, ready="waiting"):
            (row,) = perf_rows(run_client(client)).values()
            counters = json.loads(run_client(in_host(SERVER, [program, "counters", "--json", "-v"])))
        seen = counters["endpoints"][0]["counters"]
        messages = seen["Messages Received"]
        return [["us one", row["median_us"]], ["wake-ups one", seen["Sleeps Ended"] / messages],
                ["frames one", seen["Link Frames Received"] / messages]]


def measure(plan):
    """Measures one round. Returns [part, contender, x, figure]."""
    bench, figures = Live(plan), []
    for part in plan["parts"]:
        started = time.monotonic()
        if started > plan["deadline"]:
            print(f"papers: {part} is left out of this round: time is up", file=sys.stderr)
            continue
        runs = list(getattr(bench, part)())
        turn = plan["turn"] % len(runs)  # each contender is first in turn
        for contender, run in runs[turn:] + runs[:turn]:
            try:
                figures += [[part, contender, x, figure] for x, figure in run()]
            except WrongData:
                raise
            except MeasurementFailed as reason:
                print(f"papers: {part}: {contender} is left out of this round: {reason}", file=sys.stderr)
        print(f"papers: {part} took {time.monotonic() - started:.0f} s", file=sys.stderr)
    return figures


def main():
    print(json.dumps(measure(json.loads(sys.argv[2]))))  # argv: --inside PLAN
    return 0


if __name__ == "__main__":
    sys.exit(bench_run.run_main("papers", main))
