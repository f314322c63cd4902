# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions, system calls and cache lines of a lone message, inside a host of a lab (bench/stages)."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

from bench_run import ROOT, MeasurementFailed, in_host

LINKS = {
    "raw": {"OMX_LOCAL": "0"},
    "udp": {"OMX_LOCAL": "0", "OMX_LINK": "udp"},
    "local": {"OMX_LOCAL": "1"},
}
APIS = ["mx", "tagged", "inject"]
SHORT, LONG = 500, 2500  # rounds: what a long run has more than a short one is of its rounds only
LINE = 64
SETTLED = 40  # rounds after which memory accesses repeat
TRACED = 60
CABLE = """
ip link add o0 type veth peer name o1
ip link set o0 mtu 9000 up; ip link set o1 mtu 9000 up
ip addr add 10.77.0.1/24 dev o0; ip addr add 10.77.1.1/24 dev o1
ip link set lo up
"""

# The stage of a source file is that of the longest folder here that it is in.
STAGES = {
    "bench/": "the program itself",
    "src/mx/": "MX API",
    "src/libfabric/": "libfabric provider",
    "src/runtime/": "driving the endpoint (src/runtime)",
    "src/config/": "driving the endpoint (src/runtime)",
    "src/protocol/": "protocol: interface",
    "src/protocol/events/": "protocol: events",
    "src/protocol/actions/": "protocol: actions",
    "src/protocol/state/": "protocol: state",
    "src/wire/": "frames' headers (src/wire)",
    "src/link/": "rings and sockets (src/link)",
    "src/netdev/": "rings and sockets (src/link)",
    "src/local/": "shared memory (src/local)",
    "src/copy/": "copying (src/copy)",
    "src/base/": "clock, locks, containers (src/base)",
}


def stage_of(path):
    """Returns the stage of a file of this project, and none of other files."""
    path = os.path.relpath(os.path.normpath(path), ROOT) if path.startswith("/") else path
    found = [folder for folder in STAGES if path.startswith(folder)]
    return STAGES[max(found, key=len)] if found else None


def read_callgrind(text):
    """Returns instructions by stage and by function. Inlined lines count for the file that they are in; those of other
    projects' headers for the file of the function that they were inlined into, or else for its library."""
    names = {"file": {}, "fn": {}, "ob": {}}

    def name(kind, value):
        number, _, text = value.partition(" ")
        if not number.startswith("("):
            return value
        if text:
            names[kind][number] = text
        return names[kind].get(number, "?")

    stages, functions = collections.Counter(), collections.Counter()
    library = file = of_function = function = "?"
    inclusive = False
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and key == "ob":
            library = name("ob", value)
        elif equals and key == "fl":
            file = of_function = name("file", value)
        elif equals and key in ("fi", "fe"):
            file = name("file", value)
        elif equals and key == "fn":
            function = name("fn", value)
            file = of_function
        elif equals and key in ("cfi", "cfl"):
            name("file", value)
        elif equals and key == "cob":
            name("ob", value)
        elif equals and key == "cfn":
            name("fn", value)
        elif equals and key == "calls":
            inclusive = True  # the next line counts what was called, which is also counted there
        elif re.match(r"[-+*0-9]", line):
            if not inclusive:
                cost = int(line.split()[-1])
                stages[stage_of(file) or stage_of(of_function) or os.path.basename(library)] += cost
                functions[function] += cost
            inclusive = False
    return stages, functions


def read_lackey(lines, mark):
    """Returns the median number of distinct cache lines that a round reads or writes, and executes, after things have settled."""
    data, code, rounds = set(), set(), []
    store = f" S {mark:08x}"
    for line in lines:
        if line.startswith(store):
            rounds.append((len(data), len(code)))
            data.clear()
            code.clear()
        if len(rounds) < SETTLED:
            continue  # what comes before is long, and does not count
        if line[1:2] in ("L", "S", "M") or line.startswith("I"):
            first, _, size = line[3:].partition(",")
            if not size.strip().isdigit():
                continue
            into = code if line.startswith("I") else data
            start = int(first, 16)
            into.update(range(start // LINE, (start + max(int(size), 1) - 1) // LINE + 1))
    settled = sorted(rounds[SETTLED:])
    if not settled:
        raise MeasurementFailed("the trace of memory accesses shows no rounds")
    return {"data_lines": sorted(row[0] for row in settled)[len(settled) // 2] / 2,
            "code_lines": sorted(row[1] for row in settled)[len(settled) // 2] / 2}


class Case:
    """One link and one API."""

    def __init__(self, plan, link, api, folder):
        self.plan, self.api, self.folder = plan, api, folder
        self.settings = {**LINKS[link], "OMX_INTERFACES": "o0,o1"}
        if "provider" in plan["programs"]:
            self.settings["FI_PROVIDER_PATH"] = os.path.dirname(plan["programs"]["provider"])

    def command(self, tool, rounds):
        lone = [self.plan["programs"]["lone"], "--rounds", str(rounds), "--bytes", str(self.plan["bytes"]), "--api", self.api]
        return in_host("h1", [*tool, *lone], self.settings)

    def run(self, tool, rounds, **options):
        done = subprocess.run(self.command(tool, rounds), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False, **options)
        if done.returncode:
            raise MeasurementFailed(f"this failed: {' '.join(done.args)}: {done.stderr[-500:]}")
        return done

    def callgrind(self, rounds):
        out = os.path.join(self.folder, "callgrind")
        self.run(["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}"], rounds)
        # The first thread is the program's; another one, for progress, sleeps.
        with open(f"{out}-01", encoding="utf-8") as counted:
            return read_callgrind(counted.read())

    def instructions(self):
        short, long = self.callgrind(SHORT), self.callgrind(LONG)
        messages = 2 * (LONG - SHORT)
        stages, functions = ({name: (more - less[name]) / messages for name, more in counts.items()}
                             for less, counts in zip(short, long))
        most = sorted(functions.items(), key=lambda entry: -entry[1])[:self.plan["functions"]]
        return {"stages": {name: count for name, count in stages.items() if count >= 0.5}, "functions": dict(most)}

    def system_calls(self):
        def counted(rounds):
            out = os.path.join(self.folder, "strace")
            self.run(["strace", "-c", "-U", "name,calls", "-o", out], rounds)
            with open(out, encoding="utf-8") as table:
                rows = [line.split() for line in table]
            return collections.Counter({row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit() and row[0] != "total"})

        short, long = counted(SHORT), counted(LONG)
        calls = {name: (long[name] - short[name]) / (2 * (LONG - SHORT)) for name in long}
        return {name: count for name, count in calls.items() if count >= 0.01}

    def cache_lines(self):
        out = os.path.join(self.folder, "lackey")
        done = self.run(["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={out}"], TRACED)
        mark = int(re.search(r"mark (0x[0-9a-f]+)", done.stdout).group(1), 16)
        with open(out, encoding="utf-8", errors="replace") as trace:
            lines = read_lackey(trace, mark)
        os.unlink(out)
        return lines


def main(plan):
    done = subprocess.run(in_host("h1", ["sh", "-ec", CABLE]), capture_output=True, text=True, check=False)
    if done.returncode:
        raise MeasurementFailed(f"no cable for both endpoints: {done.stderr.strip()}")
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for link in plan["links"]:
            for api in plan["apis"]:
                print(f"stages: {link}, {api}", file=sys.stderr)
                case = Case(plan, link, api, folder)
                cases.append({"link": link, "api": api, **case.instructions(), "system_calls": case.system_calls(), **case.cache_lines()})
    print(json.dumps(cases))
    return 0
