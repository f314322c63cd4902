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
With --parts one measures in pieces, for instance whenever a machine is quiet: beside the document in
docs with
  bench/papers --live --parts wire --rounds 1 --output /tmp/papers
or for a document of all rounds so far with --add.
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
# For each part what it belongs to, and how many seconds a round of it took on two busy processors, on all its cables.
ABOUT = {
    "imb2": ("[J] Table 1, [I] Fig. 12, 2 ranks", 37), "imb4": ("[J] Table 1, [I] Fig. 12, 4 ranks", 75),
    "pingpong": ("[J] Fig. 9 and 12, [I] Fig. 11", 33), "copies": ("[I] Fig. 3 and 8, [J] Fig. 10", 7), "medium": ("[I] IV-C", 3),
    "buffers": ("[I] Fig. 11, registration cache", 6), "pieces": ("[I] Fig. 7", 1), "busy": ("[I] Fig. 9, [J] Fig. 11", 21), "local": ("[I] Fig. 10", 5),
    "table2": ("[J] Table 2, ping-pong", 6), "alltoall": ("[J] Table 2, Alltoall", 6), "wire": ("[J] Fig. 13", 12), "blocks": ("[J] Fig. 14", 18),
    "sort": ("[J] Table 3, IS", 2), "strategies": ("[C] Fig. 5 and 6, Tables I and II", 68), "gigabit": ("[J] Fig. 9(a) and 12(a)", 19),
    "tuning": ("[J] Fig. 9(a) and 12(a), tuned and not", 59), "gigabit_blocks": ("[J] Fig. 14 at 1 Gb/s", 34),
}
PARTS_TEXT = "parts of a round, seconds, what they belong to:\n" + "".join(f"  {name:<15}{ABOUT[name][1]:>4}  {ABOUT[name][0]}\n" for name in NAMES)
WHOLE = ("imb2", "imb4", "sort")  # parts that transfer, and check, data of every operation that can be spoiled
# How the lab makes a cable. A port of a switch sends two frames at once at most, where the limit of a cable lets 128 kB pass, and queues
# the longest message, as the sender of the papers' cable without a switch did.
CABLES = {cable: ("--topology", "bridge", "--rate", "1gbit", "--port-queue", "6M") for cable in (GIGABIT, PLAIN_GIGABIT)}
PROGRAMS = {"omx": "tools/omx", "copy": "bench/omx_copy_bench", "floor": "bench/omx_floor"}
MPI_PROGRAMS = {"mpi": "mpi_collectives", "is": "mpi_is"}
IN_PIECES = "bench/papers --live --parts NAME,.. --add FILE"
ENGINE = ("src", "include")  # folders with the sources of what is measured
OUTPUT = os.path.join(bench_run.ROOT, "docs", "performance")


def machine_text():
    """Returns what the document says about this machine."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        lines = [line.partition(":")[::2] for line in file if ":" in line]
    facts = {name.strip(): value.strip() for name, value in lines}
    kind = "a virtual machine" if "hypervisor" in facts.get("flags", "").split() else "a machine"
    model = facts.get("model name", platform.machine())
    return f"{kind} with {len(os.sched_getaffinity(0))} processors ({model}), Linux {platform.release()}"


def engine_text(build):
    """Returns the newest commit that changed the sources of a build, or "unknown"."""
    try:
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
            (source,) = [line.partition("=")[2].strip() for line in file if line.startswith("CMAKE_HOME_DIRECTORY:")]
        commit, changed = (subprocess.run(["git", "-C", source, *command, "--", *ENGINE], capture_output=True, text=True, check=True).stdout.strip()
                           for command in (("log", "-1", "--format=%h"), ("status", "--porcelain")))
    except (OSError, ValueError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit} with changes" if changed else commit or "unknown"


def find_tools(build):
    """Builds what is needed. Returns (programs, the provider's folder)."""
    bench_build.tools_needed({"mpirun.openmpi": "openmpi-bin", "mpicc.openmpi": "libopenmpi-dev", "taskset": "util-linux"})
    programs = bench_build.built(build, {**PROGRAMS, "provider": bench_build.PROVIDER}, lab=False)
    provider = os.path.dirname(programs.pop("provider"))
    for name, program in MPI_PROGRAMS.items():
        programs[name] = os.path.join(os.path.abspath(build), "bench", program)
        source = os.path.join(bench_run.BENCH, "jobs", f"{program}.c")
        if not os.access(os.path.dirname(programs[name]), os.W_OK):
            if not os.access(programs[name], os.X_OK):
                raise MeasurementFailed(f"{programs[name]} is missing, and this user cannot build it there: name another folder with --build")
            continue
        made = subprocess.run(["mpicc.openmpi", "-O2", "-Wall", "-Wextra", source, "-o", programs[name]], check=False)
        if made.returncode:
            raise MeasurementFailed(f"mpicc.openmpi could not build {source}, for the reason above")
    return programs, provider


def skipping_program(folder):
    """Returns the omx of a build whose copy engine skips copies. Makes that build if it is missing."""
    folder = os.path.realpath(folder or os.path.join(bench_run.ROOT, "build", "prediction"))
    program = os.path.join(folder, "tools", "omx")
    place = folder
    while not os.path.exists(place):
        place = os.path.dirname(place)
    if os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK):
        print("papers: making the build that skips copies", file=sys.stderr)
        bench_build.run_build(folder, ["omx"], "--preset", "prediction")
    elif not os.access(program, os.X_OK):
        raise MeasurementFailed(f"{folder} cannot be written by this user: name another folder with --prediction-build, or leave that build out with --no-prediction")
    return program


def output_writable(folder):
    """Makes the folder of --output, or says that it cannot be used."""
    try:
        bench_run.writable(folder)
    except MeasurementFailed as reason:
        text = str(reason)
        raise MeasurementFailed(f"{text} with --output" if text.endswith("name another folder") else f"{text}: name another folder with --output") from None


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
        papers_live_report.introduction(Figures(figures), facts)
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
    if known["engine"] != facts["engine"]:
        raise MeasurementFailed(f"--add: the file has figures of engine {known['engine']}, and this is {facts['engine']}: name another file")
    days = sorted({*known["date"].split(" to "), facts["date"]})
    return {**facts, "date": days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
            "seconds": known["seconds"] + facts["seconds"], "doubt": known["doubt"] or facts["doubt"]}, figures


def figures_keep(path, facts, figures):
    """Writes what --add and --again read, with a line for each round of a part."""
    lines = {}
    for row in figures:
        lines.setdefault(tuple(row[:3]), []).append(json.dumps(row))
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(f'{{"facts": {json.dumps(facts)},\n"figures": [\n')
        file.write(",\n".join(", ".join(rows) for rows in lines.values()) + "\n]}\n")
    os.replace(f"{path}.new", path)


def make_parser():
    parser = argparse.ArgumentParser(prog="papers --live", description=DESCRIPTION, epilog=f"{PARTS_TEXT}\n{bench_run.EXIT_STATUS}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--live", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="one short round of one size, which shows only that everything works; needs --output")
    parser.add_argument("--output", metavar="DIR", help="where the document and the folder evaluation go (default: docs/performance)")
    parser.add_argument("--rounds", type=int, metavar="N", help=f"at most (default {MOST_ROUNDS}, with --quick 1)")
    parser.add_argument("--minutes", type=float, default=MINUTES, metavar="M", help=f"start no round that would end later, but at least one (default {MINUTES})")
    parser.add_argument("--no-prediction", action="store_true", help="without the build that skips copies (--quick implies it)")
    parser.add_argument("--prediction-build", metavar="DIR", help="folder of that build (default: build/prediction; made when it is missing), which only the part copies needs")
    parser.add_argument("--parts", metavar="NAME,..", type=lambda text: text.split(","), help="measure these only, see below; needs --output, or --add with figures of the others")
    parser.add_argument("--add", metavar="FILE", help="add the rounds to those in FILE, which is made if it is missing, and write the document from all of them; all must be of one engine")
    bench_run.add_json(parser)
    parser.add_argument("--again", metavar="FILE", help="measure nothing, but write the document from a file that --json or --add wrote")
    bench_build.add_options(parser)
    parser.add_argument("--spoil", metavar="OPERATION", help="change a byte that this operation transfers: the check must find it, and this command must fail")
    return parser


def main(arguments):
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.quick and not options.output:
        parser.error("--quick measures too little for docs: name another folder with --output")
    unknown = [name for name in options.parts or [] if name not in NAMES]
    if unknown:
        parser.error(f"--parts: no part {unknown[0]}: there are {', '.join(NAMES)}")
    if options.parts and not options.output and not (options.add and os.path.exists(options.add)):
        parser.error("--parts alone would replace the document in docs by these parts: name a file that has figures of the others with --add, or another folder with --output")
    options.rounds = options.rounds if options.rounds is not None else 1 if options.quick else MOST_ROUNDS
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    spoiling = [name for name in papers_live_measure.OPERATIONS if name != "barrier"]  # a barrier transfers no data
    if options.spoil and options.spoil not in spoiling:
        parser.error(f"--spoil: no operation {options.spoil} that brings data: there are {', '.join(spoiling)}")
    if not math.isfinite(options.minutes) or options.minutes <= 0:
        parser.error("--minutes must be a number above 0")
    parts = options.parts or NAMES
    if options.spoil and not set(parts) & {*WHOLE, options.spoil}:
        parser.error(f"--spoil: none of these parts checks {options.spoil}: name one of {', '.join(WHOLE)} with --parts")
    skipping = "copies" in parts and not options.no_prediction and not options.quick
    if options.prediction_build and not skipping:
        parser.error("--prediction-build is for the part copies only, without --quick and --no-prediction")
    gnuplot = plotting.gnuplot_find()
    known = measured_before(options.again, "--again") if options.again else None
    before = measured_before(options.add, "--add") if options.add and os.path.exists(options.add) else None
    options.turn = 1 + max(row[0] for row in before[1]) if before else 0
    output_writable(options.output or OUTPUT)
    bench_run.writable(options.output or OUTPUT, options.add)
    if known:
        return write(gnuplot, options.output or OUTPUT, *known)
    cores = bench_run.two_cores()
    bench_run.lab_needed()  # before anything is compiled
    programs, provider = find_tools(options.build)
    if skipping:
        programs["skipping"] = skipping_program(options.prediction_build)
    if options.prepare:
        return 0
    started = time.monotonic()
    plan = {"programs": programs, "provider": provider, "cores": cores,
            "extent": papers_live_measure.QUICK if options.quick else papers_live_measure.FULL,
            "spoil": ["--spoil", options.spoil] if options.spoil else []}
    measured, doubt = rounds_measured(options, plan)
    facts = {"command": IN_PIECES if options.add else shlex.join(["bench/papers", *arguments]), "date": datetime.date.today().isoformat(), "machine": machine_text(),
             "cores": len(os.sched_getaffinity(0)), "engine": engine_text(options.build),
             "seconds": round(time.monotonic() - started), "doubt": doubt, "quick": options.quick}
    if not measured:
        raise MeasurementFailed("no part was measured, for the reasons above", measuring=True)
    measured = [[*row[:5], float(f"{row[5]:.6g}")] for row in measured]  # what the file keeps, so that --again writes the same document
    if before:
        facts, measured = added(facts, measured, before)
    if options.add:
        figures_keep(options.add, facts, measured)
    bench_run.write_json(options.json, {"facts": facts, "figures": measured})
    return write(gnuplot, options.output or OUTPUT, facts, measured)
