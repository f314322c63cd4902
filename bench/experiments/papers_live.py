# SPDX-License-Identifier: BSD-3-Clause
"""bench/papers --live: measures between two hosts of a lab what can be measured today of the papers' evaluation."""
import argparse
import datetime
import json
import math
import os
import platform
import shlex
import subprocess
import sys
import time

import bench_build
import bench_run
import papers_live_measure
import papers_live_report
import plotting
from bench_run import MeasurementFailed
from papers_live_tables import JUMBO, LARGEST, PLAIN, Figures

DESCRIPTION = """\
Measures between two hosts of a lab what can be measured today of the papers' tables and
figures: the IMB operations over Open-MX and TCP with Debian's Open MPI on 2 and 4 ranks,
copies by engine, MTUs, the wire format of MX, blocks in flight, wake-ups. Contenders take
turns, several rounds, as many as time permits; writes docs/performance/evaluation-live.md with plots,
the published figures beside ours.
"""
SCRIPT = "experiments/papers_live_measure.py"
MOST_ROUNDS, MINUTES = 5, 24
GRACE_MINUTES = 2  # a part that would begin later than this, on a busy machine, is left out
# The parts of one round, for each cable.
PARTS = ((JUMBO, ("imb2", "imb4", "pingpong", "copies", "pieces", "busy", "local", "table2", "alltoall", "wire", "blocks", "sort")),
         (PLAIN, ("pingpong", "table2", "alltoall", "strategies")), (LARGEST, ("pingpong",)))
QUICK_PARTS = PARTS[:2]
PROGRAMS = {"omx": "tools/omx", "copy": "bench/omx_copy_bench"}
MPI_PROGRAMS = {"mpi": "mpi_collectives", "is": "mpi_is"}
OUTPUT = os.path.join(bench_run.ROOT, "docs", "performance")


def machine_text():
    """Returns what the document says about this machine."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        lines = [line.partition(":")[::2] for line in file if ":" in line]
    facts = {name.strip(): value.strip() for name, value in lines}
    kind = "a virtual machine" if "hypervisor" in facts.get("flags", "").split() else "a machine"
    model = facts.get("model name", platform.machine())
    return f"{kind} with {len(os.sched_getaffinity(0))} processors ({model}), Linux {platform.release()}"


def find_tools(build):
    """Builds what is needed. Returns (programs, the provider's folder)."""
    bench_build.tools_needed({"mpirun.openmpi": "openmpi-bin", "mpicc.openmpi": "libopenmpi-dev", "taskset": "util-linux"})
    programs = bench_build.built(build, {**PROGRAMS, "provider": bench_build.PROVIDER}, lab=False)
    provider = os.path.dirname(programs.pop("provider"))
    for name, program in MPI_PROGRAMS.items():
        programs[name] = os.path.join(os.path.abspath(build), "bench", program)
        source = os.path.join(bench_run.BENCH, "jobs", f"{program}.c")
        made = subprocess.run(["mpicc.openmpi", "-O2", "-Wall", "-Wextra", source, "-o", programs[name]], check=False)
        if made.returncode:
            raise MeasurementFailed(f"mpicc.openmpi could not build {source}, for the reason above")
    return programs, provider


def rounds_measured(options, plan):
    """Measures as many rounds as time permits, at least one. Returns (rounds, [round, MTU, part, contender, x, figure], doubt)."""
    figures, number, longest, doubt = [], 0, 0.0, ""
    begun = time.monotonic()
    deadline = begun + (options.minutes + GRACE_MINUTES) * 60
    parts = QUICK_PARTS if options.quick else PARTS
    while number < options.rounds and (number == 0 or time.monotonic() - begun + longest < options.minutes * 60):
        started = time.monotonic()
        print(f"papers: round {number + 1} of {options.rounds}, if time permits", file=sys.stderr)
        for mtu, names in parts:
            doubt = doubt or bench_run.doubt_if_busy("papers")
            print(f"papers: MTU {mtu}", file=sys.stderr)
            measured = bench_run.run_lab(SCRIPT, {**plan, "parts": names, "turn": number, "deadline": deadline}, 2, mtu)
            figures += [[number, mtu, *row] for row in measured]
        longest = max(longest, time.monotonic() - started)
        number += 1
    return number, figures, doubt or bench_run.doubt_if_busy("papers")


def write(gnuplot, output, facts, measured):
    figures = Figures(measured)
    folder = os.path.join(output, "evaluation")
    os.makedirs(folder, exist_ok=True)
    papers_live_report.draw(gnuplot, figures, folder)
    path = os.path.join(output, "evaluation-live.md")
    with open(f"{path}.new", "w", encoding="utf-8") as file:  # so that no reader sees half a document
        file.write(papers_live_report.document(figures, facts))
    os.replace(f"{path}.new", path)
    print(path)
    return 0


def measured_before(path):
    """Returns (facts, figures) of a file that --json wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        facts, figures = known["facts"], known["figures"]
        papers_live_report.INTRODUCTION.format(**facts)
        Figures(figures)
    except OSError as reason:
        raise MeasurementFailed(f"--again: {path} cannot be read: {reason.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MeasurementFailed(f"--again: {path} is not a file that --json wrote") from None
    if not figures:
        raise MeasurementFailed(f"--again: {path} has no figures")
    return facts, figures


def make_parser():
    parser = argparse.ArgumentParser(prog="papers --live", description=DESCRIPTION, epilog=bench_run.EXIT_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--live", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="one short round of one size, which shows only that everything works; needs --output")
    parser.add_argument("--output", metavar="DIR", help="where the document and the folder evaluation go (default: docs/performance)")
    parser.add_argument("--rounds", type=int, metavar="N", help=f"at most (default {MOST_ROUNDS}, with --quick 1)")
    parser.add_argument("--minutes", type=float, default=MINUTES, metavar="M", help=f"start no round that would end later (default {MINUTES})")
    parser.add_argument("--no-prediction", action="store_true", help="without the build that skips copies (--quick implies it)")
    parser.add_argument("--prediction-build", metavar="DIR", help="folder of that build (default: build/prediction; made when it is missing)")
    parser.add_argument("--json", metavar="FILE", help="write the figures of all rounds there as well")
    parser.add_argument("--again", metavar="FILE", help="measure nothing, but write the document from a file that --json wrote")
    bench_build.add_options(parser)
    parser.add_argument("--spoil", metavar="OPERATION", help="change a byte that this operation transfers: the check must find it, and this command must fail")
    return parser


def main(arguments):
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.quick and not options.output:
        parser.error("--quick measures too little for docs: name another folder with --output")
    options.rounds = options.rounds if options.rounds is not None else 1 if options.quick else MOST_ROUNDS
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    spoiling = [name for name in papers_live_measure.OPERATIONS if name != "barrier"]  # a barrier transfers no data
    if options.spoil and options.spoil not in spoiling:
        parser.error(f"--spoil: no operation {options.spoil} that brings data: there are {', '.join(spoiling)}")
    if not math.isfinite(options.minutes) or options.minutes <= 0:
        parser.error("--minutes must be a number above 0")
    gnuplot = plotting.gnuplot_find()
    known = measured_before(options.again) if options.again else None
    bench_run.writable(options.output or OUTPUT, options.json)
    if known:
        return write(gnuplot, options.output or OUTPUT, *known)
    cores = bench_run.two_cores()
    bench_run.lab_needed()  # before anything is compiled
    programs, provider = find_tools(options.build)
    if not options.no_prediction and not options.quick:
        programs["skipping"] = bench_run.script_module("offload").skipping_program(options.prediction_build)
    if options.prepare:
        return 0
    started = time.monotonic()
    plan = {"programs": programs, "provider": provider, "cores": cores,
            "extent": papers_live_measure.QUICK if options.quick else papers_live_measure.FULL,
            "spoil": ["--spoil", options.spoil] if options.spoil else []}
    rounds, measured, doubt = rounds_measured(options, plan)
    facts = {"command": shlex.join(["bench/papers", *arguments]), "date": datetime.date.today().isoformat(), "machine": machine_text(),
             "cores": len(os.sched_getaffinity(0)), "rounds": f"Medians of {rounds} rounds" if rounds > 1 else "One round",
             "minutes": f"{(time.monotonic() - started) / 60:.0f}", "doubt": doubt, "quick": options.quick}
    bench_run.write_json(options.json, {"facts": facts, "figures": measured})
    return write(gnuplot, options.output or OUTPUT, facts, measured)
