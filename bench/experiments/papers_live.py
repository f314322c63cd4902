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
from papers_live_tables import GIGABIT, JUMBO, LARGEST, PLAIN, PLAIN_GIGABIT, Figures

DESCRIPTION = """\
Measures between two hosts of a lab what can be measured today of the papers' tables and
figures: the IMB operations over Open-MX and TCP with Debian's Open MPI on 2 and 4 ranks,
bare frames, copies by engine, MTUs, a cable of 1 Gb/s, memory seen before and new memory, the wire
format of MX, blocks in flight, wake-ups. Contenders take turns, several rounds, as many as time
permits; writes docs/performance/evaluation-live.md with plots, the published figures beside ours.
With --parts and --add one measures in pieces, for instance whenever a machine is quiet.
"""
SCRIPT = "experiments/papers_live_measure.py"
MOST_ROUNDS, MINUTES = 5, 24
GRACE_MINUTES = 2  # a part that would begin later than this, on a busy machine, is left out
# The parts of one round, for each cable.
PARTS = ((JUMBO, ("imb2", "imb4", "pingpong", "copies", "medium", "buffers", "pieces", "busy", "local", "table2", "alltoall", "wire", "blocks", "sort")),
         (PLAIN, ("pingpong", "table2", "alltoall", "strategies")), (LARGEST, ("pingpong",)), (GIGABIT, ("gigabit", "tuning", "gigabit_blocks")),
         (PLAIN_GIGABIT, ("gigabit", "tuning")))
QUICK_PARTS = PARTS[:2] + PARTS[3:]
NAMES = sorted({name for _, names in PARTS for name in names})
# How the lab makes a cable. A port of a switch sends two frames at once at most, where the limit of a cable lets 128 kB pass, and queues
# the longest message, as the sender of the papers' cable without a switch did.
CABLES = {cable: ("--topology", "bridge", "--rate", "1gbit", "--port-queue", "6M") for cable in (GIGABIT, PLAIN_GIGABIT)}
PROGRAMS = {"omx": "tools/omx", "copy": "bench/omx_copy_bench", "floor": "bench/omx_floor"}
MPI_PROGRAMS = {"mpi": "mpi_collectives", "is": "mpi_is"}
IN_PIECES = "bench/papers --live --parts NAME,.. --add FILE"
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
    """Measures as many rounds as time permits, at least one. Returns ([round, cable, part, contender, x, figure], doubt)."""
    figures, number, longest, doubt = [], 0, 0.0, ""
    begun = time.monotonic()
    deadline = begun + (options.minutes + GRACE_MINUTES) * 60
    parts = QUICK_PARTS if options.quick else PARTS
    while number < options.rounds and (number == 0 or time.monotonic() - begun + longest < options.minutes * 60):
        started = time.monotonic()
        print(f"papers: round {number + 1} of {options.rounds}, if time permits", file=sys.stderr)
        for cable, known in parts:
            names = [name for name in known if name in (options.parts or NAMES)]
            if not names:
                continue
            doubt = doubt or bench_run.doubt_if_busy("papers")
            print(f"papers: MTU {cable}", file=sys.stderr)
            mtu = int(str(cable).split()[0])
            measured = bench_run.run_lab(SCRIPT, {**plan, "parts": names, "turn": options.turn + number, "deadline": deadline}, 2, mtu,
                                         *CABLES.get(cable, ()))
            figures += [[number, cable, *row] for row in measured]
        longest = max(longest, time.monotonic() - started)
        number += 1
    return figures, doubt or bench_run.doubt_if_busy("papers")


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


def measured_before(path, option):
    """Returns (facts, figures) of a file that --json or --add wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        facts, figures = known["facts"], known["figures"]
        papers_live_report.INTRODUCTION.format(**facts)
        Figures(figures)
    except OSError as reason:
        raise MeasurementFailed(f"{option}: {path} cannot be read: {reason.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MeasurementFailed(f"{option}: {path} is not a file that --json or --add wrote") from None
    if not figures:
        raise MeasurementFailed(f"{option}: {path} has no figures")
    return facts, figures


def added(facts, figures, before):
    """Returns facts and figures of all rounds: those measured before, and the new ones with numbers behind them."""
    known, old = before
    if known["machine"] != facts["machine"] or known["quick"] != facts["quick"]:
        raise MeasurementFailed("--add: the file has figures of another machine or kernel, or of --quick: name another file")
    first = 1 + max(row[0] for row in old)
    figures = old + [[row[0] + first, *row[1:]] for row in figures]
    days = sorted({*known["date"].split(" to "), facts["date"]})
    return {**facts, "date": days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}", "rounds": rounds_text(figures),
            "minutes": str(int(known["minutes"]) + int(facts["minutes"])), "doubt": known["doubt"] or facts["doubt"]}, figures


def figures_keep(path, facts, figures):
    """Writes what --add and --again read, with a line for each round of a part."""
    lines = {}
    for row in figures:
        lines.setdefault(tuple(row[:3]), []).append(json.dumps([*row[:5], float(f"{row[5]:.6g}")]))
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(f'{{"facts": {json.dumps(facts)},\n"figures": [\n')
        file.write(",\n".join(", ".join(rows) for rows in lines.values()) + "\n]}\n")
    os.replace(f"{path}.new", path)


def rounds_text(figures):
    """Says how many rounds the parts have."""
    rounds = {}
    for number, cable, part, *_ in figures:
        rounds.setdefault((cable, part), set()).add(number)
    counts = sorted({len(numbers) for numbers in rounds.values()})
    if counts == [1]:
        return "One round"
    return f"Medians of {counts[0]} rounds" if len(counts) == 1 else f"Medians of {counts[0]} to {counts[-1]} rounds, by part"


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
    parser.add_argument("--parts", metavar="NAME,..", type=lambda text: text.split(","), help=f"measure these only: {', '.join(NAMES)}")
    parser.add_argument("--add", metavar="FILE", help="add the rounds to those in FILE, which is made if it is missing, and write the document from all of them")
    parser.add_argument("--json", metavar="FILE", help="write the figures of all rounds there as well")
    parser.add_argument("--again", metavar="FILE", help="measure nothing, but write the document from a file that --json or --add wrote")
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
    unknown = [name for name in options.parts or [] if name not in NAMES]
    if unknown:
        parser.error(f"--parts: no part {unknown[0]}: there are {', '.join(NAMES)}")
    gnuplot = plotting.gnuplot_find()
    known = measured_before(options.again, "--again") if options.again else None
    before = measured_before(options.add, "--add") if options.add and os.path.exists(options.add) else None
    options.turn = 1 + max(row[0] for row in before[1]) if before else 0
    bench_run.writable(options.output or OUTPUT, options.json, options.add)
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
    measured, doubt = rounds_measured(options, plan)
    facts = {"command": IN_PIECES if options.add else shlex.join(["bench/papers", *arguments]), "date": datetime.date.today().isoformat(), "machine": machine_text(),
             "cores": len(os.sched_getaffinity(0)), "rounds": rounds_text(measured), "minutes": f"{(time.monotonic() - started) / 60:.0f}", "doubt": doubt, "quick": options.quick}
    if not measured:
        raise MeasurementFailed("no part was measured, for the reasons above", measuring=True)
    if before:
        facts, measured = added(facts, measured, before)
    if options.add:
        figures_keep(options.add, facts, measured)
    bench_run.write_json(options.json, {"facts": facts, "figures": measured})
    return write(gnuplot, options.output or OUTPUT, facts, measured)
