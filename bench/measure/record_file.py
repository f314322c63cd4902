# SPDX-License-Identifier: BSD-3-Clause
"""The file of bench/record: a line of JSON for each run. Lines are only appended."""
import datetime
import json
import os
import platform
import subprocess

from bench_run import ROOT, MeasurementFailed, processor

SHOWN = "docs/performance/record.jsonl"
DEFAULT = os.path.join(ROOT, SHOWN)
LEAST_COMMIT = 7  # characters that name a commit


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def heading(note, doubt):
    """Returns what identifies a run: the sources, the machine, the time."""
    # The record itself is not part of what is measured.
    changed = [line for line in git("status", "--porcelain").splitlines() if not line.endswith(SHOWN)]
    return {
        "commit": git("rev-parse", "HEAD"),
        "subject": git("log", "-1", "--format=%s"),
        "changed": bool(changed),
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {"cpu": processor(), "cores": os.cpu_count(), "kernel": platform.release(), "arch": platform.machine()},
        "settings": {name: value for name, value in sorted(os.environ.items()) if name.startswith("OMX_")},
        "note": note,
        "doubt": doubt,
    }


def append(path, run):
    with open(path, "a", encoding="utf-8") as out:
        out.write(json.dumps(run, separators=(",", ":")) + "\n")


def parsed(path, number, line):
    """Returns the run of a line; its figures have the form that comparisons expect."""
    try:
        run = json.loads(line)
        for figure in run["figures"]:
            if not (isinstance(figure["name"], str) and figure["value"] > 0 and figure["mode"] in ("fast", "slow", "any")
                    and figure["better"] in ("less", "more")):
                raise ValueError
        run["machine"]["cpu"], run["commit"], run["time"], run["changed"], run["doubt"], run["settings"]  # must be there
    except (ValueError, KeyError, TypeError):
        raise MeasurementFailed(f"line {number} of {path} is no run of bench/record: remove it") from None
    return run


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as reason:
        raise MeasurementFailed(f"{path} cannot be read ({reason.strerror}): measure first, or name another file with --file") from None
    return [parsed(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def name_of(run):
    return (run["commit"][:10] or "no commit") + (" and changes" if run["changed"] else "")


def chosen(runs, name):
    """Returns the runs that the name means: one by its number, or all of a commit on the machine of the last of them."""
    if name.isdigit() and len(name) < LEAST_COMMIT:
        if not 1 <= int(name) <= len(runs):
            raise MeasurementFailed(f"there is no run {name}: the file has {len(runs)} (--list shows them)")
        return [runs[int(name) - 1]]
    commit = git("rev-parse", "--verify", "--quiet", name + "^{commit}") or name
    found = [run for run in runs if len(commit) >= LEAST_COMMIT and run["commit"].startswith(commit) and not run["changed"]]
    if not found:
        raise MeasurementFailed(f"no run of the commit {name} is in the file, changed sources not counted (--list shows all)")
    return [run for run in found if run["machine"] == found[-1]["machine"]]


def listing(runs):
    lines = [f"{number:>3}  {run['time']}  {name_of(run):<24} {run['machine']['cpu']}, {run['machine']['cores']} processors"
             + (f": {run['note']}" if run["note"] else "") + (f" (in doubt: {run['doubt']})" if run["doubt"] else "")
             for number, run in enumerate(runs, 1)]
    return "\n".join(lines) or "no run"
