# SPDX-License-Identifier: BSD-3-Clause
"""Functions that the benchmarks share: they find two cores and a quiet machine, run a lab, and run a server with its client."""
import argparse
import contextlib
import ctypes
import importlib.machinery
import importlib.util
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time

BENCH = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOT = os.path.dirname(BENCH)
LAB = os.path.join(ROOT, "lab", "lab")
sys.path.insert(0, os.path.dirname(LAB))

from omxlab.arguments import mark_fault, size  # noqa: E402,F401  (the path must be set first; benchmarks use both)

DEFAULT_BUILD = os.path.join(ROOT, "build", "release")
EXIT_STATUS = """\
Settings of Open-MX (OMX_...) are taken from the environment. Figures mean something
only on a machine that does nothing else.
exit status: 0 measured, 1 failed (where there is --check, with it: or a target was missed), 2 wrong usage,
77 not measured: this user or machine cannot run the lab, or others kept the machine too busy
"""

FAILED, USAGE, UNABLE, INTERRUPTED = 1, 2, 77, 130
WRONG_DATA = 3  # of a part inside the lab: no busy machine excuses it
PATIENCE_S = 120  # for one program
END_PATIENCE_S = 10  # for a server whose client is done
LOOK_S = 1.0  # for measuring the load of the machine
PR_SET_PDEATHSIG = 1
BUSY_CORES = 0.2  # used by other processes: more than the timers and daemons of a quiet machine


class MeasurementFailed(Exception):
    """Carries a sentence for the user. If `measuring` is set, a busy machine may be the cause."""

    def __init__(self, sentence, status=FAILED, measuring=False):
        super().__init__(sentence)
        self.status = status
        self.measuring = measuring


doubts = []  # reasons why figures do not count, found since this program began


def run_main(name, main):
    """Returns the status of main() and prints a failure as one sentence. If the machine was busy, the failure does not count."""
    try:
        return main()
    except MeasurementFailed as failure:
        if failure.measuring and (doubts or doubt_now()):
            print(f"{name}: not measured, because {doubts[-1]}: {failure}", file=sys.stderr)
            return UNABLE
        print(f"{name}: {failure}", file=sys.stderr)
        return failure.status
    except KeyboardInterrupt:
        return INTERRUPTED  # the lab has ended, too


# --- before a measurement ---

def two_cores():
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise MeasurementFailed(f"both ends poll, which needs two cores; this process may use {len(cores)}",
                                UNABLE)
    return cores[:2]


def processor():
    """Returns the name of the processor's model."""
    with open("/proc/cpuinfo", encoding="utf-8") as facts:
        for row in facts:
            if row.startswith("model name"):
                return row.split(":", 1)[1].strip()
    return platform.machine()


def cores_in_use(seconds=LOOK_S):
    """Returns how many processors are busy, on average. The load average would still count a build that has ended."""
    def look():
        with open("/proc/stat", encoding="ascii") as stat:
            ticks = [int(field) for field in stat.readline().split()[1:9]]
        return sum(ticks) - ticks[3] - ticks[4]  # without idle time and time waiting for a disk

    before, started = look(), time.monotonic()
    time.sleep(seconds)
    ticks_per_s = (look() - before) / (time.monotonic() - started)
    return ticks_per_s / os.sysconf("SC_CLK_TCK")


def doubt_now():
    """Returns why figures measured now do not count; "" on a quiet machine."""
    busy = cores_in_use()
    if busy < BUSY_CORES:
        return ""
    doubts.append(f"the machine is busy (others use {busy:.1f} processors)")
    return doubts[-1]


def doubt_if_busy(name):
    """Returns doubt_now() and prints it."""
    doubt = doubt_now()
    if doubt:
        print(f"{name}: {doubt}: do not believe the figures", file=sys.stderr)
    return doubt


def script_module(name):
    """Loads a script of bench/ as a module."""
    loader = importlib.machinery.SourceFileLoader(f"bench_{name}", os.path.join(BENCH, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def end_with_parent():
    """Makes a child process end with its parent. The lab therefore ends even if this script is killed with SIGKILL."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def run_lab(script, plan, hosts, mtu=None, *options):
    """Runs a script below bench/ with --inside PLAN, beside the hosts of a lab. Returns the JSON that it prints."""
    cable = ["--mtu", str(mtu)] if mtu else []
    command = [LAB, "run", "--hosts", str(hosts), *cable, *options, "--",
               sys.executable, os.path.join(BENCH, script), "--inside", json.dumps(plan)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, preexec_fn=end_with_parent)
    if done.returncode != 0:
        status = done.returncode if done.returncode in (USAGE, UNABLE) else FAILED
        raise MeasurementFailed(f"the lab ended with status {done.returncode}, for the reason above", status,
                                measuring=status == FAILED and done.returncode != WRONG_DATA)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise MeasurementFailed("the part that runs in the lab printed no figures") from None


def lab_needed():
    """Fails with the lab's message if this user or machine cannot run a lab."""
    done = subprocess.run([LAB, "run", "--hosts", "2", "--", "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          preexec_fn=end_with_parent)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise MeasurementFailed(said[-1] if said else f"the lab ended with status {done.returncode}",
                                UNABLE if done.returncode == UNABLE else FAILED)


def parts_of(parser, options, known):
    """Returns the chosen parts. An unknown part and a number of rounds below 1 are wrong usage."""
    unknown = [part for part in options.parts if part not in known]
    if unknown:
        parser.error(f"no part {unknown[0]}: there are {', '.join(known)}")
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    return options.parts or known


def print_rounds(rounds, width, digits):
    """Prints the median of each figure, with minimum and maximum."""
    for name in rounds[0]:
        values = [figures[name] for figures in rounds]
        print(f"{name:<{width}} {statistics.median(values):>10.{digits}f}   "
              f"({min(values):.{digits}f} .. {max(values):.{digits}f})")


def writable(folder, *files):
    """Checks before any run that results can be written: creates `folder` and tries the named files."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as reason:
        raise MeasurementFailed(f"{folder} cannot be made: {reason.strerror}") from None
    if fault := write_fault([folder], *files):
        raise MeasurementFailed(fault)


def write_fault(folders, *files):
    """Returns why results cannot be written to these folders and files, or None. Files that are not named (None) are skipped."""
    for place in [*folders, *(os.path.dirname(os.path.abspath(file)) for file in files if file)]:
        if not os.path.isdir(place):
            return f"there is no folder {place}: make it, or name another"
        if not os.access(place, os.W_OK | os.X_OK):
            return f"nothing can be written to {place}: name another folder"
    for file in filter(None, files):
        if os.path.isdir(file) or os.path.exists(file) and not os.access(file, os.W_OK):
            return f"{file} cannot be written: name another file"
    return None


def add_json(parser, what="the figures of all rounds", how=""):
    """Adds --json to the options of a bench. A file that cannot be written is refused before anything is measured."""
    parser.add_argument("--json", type=result_file, metavar="FILE", help=f"write {what} there as well{how}")


def result_file(path):
    """A type for argparse: a file that can be written."""
    if fault := write_fault([], path):
        raise argparse.ArgumentTypeError(fault)
    return path


def write_json(path, document):
    """Writes the document for --json; does nothing without it."""
    if not path:
        return
    with open(path, "w", encoding="utf-8") as out:
        json.dump(document, out, indent=1)
        out.write("\n")


def write_json_lines(path, rows):
    """Writes a line for each row; does nothing without --json."""
    if not path:
        return
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


def verdict(check, holds, doubt):
    """Returns the exit status after figures and targets were printed."""
    if not check:
        return 0
    if doubt:
        raise MeasurementFailed(f"--check: the targets cannot be judged: {doubt}")
    return 0 if all(holds) else FAILED


# --- inside the lab ---

def measure_rounds(name, bench, plan):
    """Runs all rounds of a bench. Prints the figures of its parts for run_lab."""
    rounds = []
    for number in range(plan["rounds"]):
        print(f"{name}: round {number + 1} of {plan['rounds']}", file=sys.stderr)
        figures = {}
        for part in plan["parts"]:
            figures.update(getattr(bench, part)())
        rounds.append(figures)
    print(json.dumps(rounds))
    return 0


def in_host(host, command, settings=None):
    """Returns the command that runs on a host. `settings` are OMX_ variables of this program only."""
    prefix = ["env", *(f"{name}={value}" for name, value in settings.items())] if settings else []
    return [os.environ["LAB"], "exec", host, "--", *prefix, *command]


@contextlib.contextmanager
def serving(command, ready=None, settle_s=0.0):
    """Runs a server until the end of the block. `ready` is a word that the server prints when it is ready; without it, settle_s passes."""
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        if ready and ready not in server.stdout.readline():
            raise MeasurementFailed(f"the server did not start: {' '.join(command)}")
        time.sleep(settle_s)
        yield server
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def run_client(command, chatty=False):
    """Returns what the client prints. stderr of a chatty client is shown only if the client fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False,
                              stderr=subprocess.PIPE if chatty else None, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise MeasurementFailed(f"no result within {PATIENCE_S} s: {' '.join(command)}") from None
    if done.returncode != 0:
        print(done.stderr or "", end="", file=sys.stderr)
        raise MeasurementFailed(f"this command failed: {' '.join(command)}")
    return done.stdout


def run_pair(server, client, ready=None, settle_s=0.0):
    """Runs a client and a server that ends with its client. Returns what the client prints."""
    with serving(server, ready, settle_s) as process:
        text = run_client(client)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_PATIENCE_S)
        return text


def json_rows(text):
    """Returns JSON objects, one on each line, by size."""
    return {row["size"]: row for row in map(json.loads, text.splitlines())}


def perf_rows(text):
    """Returns the results of omx perf --json by size."""
    return {row["size"]: row for row in json.loads(text)["results"]}


def listed(sizes):
    return ",".join(str(size) for size in sizes)
