#!/usr/bin/python3 -ES
# SPDX-License-Identifier: BSD-3-Clause
"""Tries Open-MX with the drivers of the NICs that QEMU emulates, feature by feature, and prints a table.

Exit status: 0 all works, is refused with a reason, or is known to fail; 1 something else fails; 77 no guests can be had.
"""
import argparse
import json
import pathlib
import signal
import sys
import time

sys.dont_write_bytecode = True

import features_links  # noqa: E402,F401  (each registers its trials)
import features_faults  # noqa: E402,F401
import features_xdp  # noqa: E402,F401
import features_host  # noqa: E402,F401
import table  # noqa: E402
from guests import ROOT, UNABLE, Absent, Failure, Guests, Unable  # noqa: E402
from known_faults import KNOWN  # noqa: E402
from trial import FEATURES, Refused  # noqa: E402

MODELS = ("e1000e", "igb", "virtio-net", "vmxnet3", "e1000", "rtl8139")
# What depends on the age of a driver, and the models whose drivers have come to have it.
NEWER_FEATURES = ("info", "xdp_native", "xdp_zerocopy", "steer_native")
NEWER_MODELS = ("igb", "virtio-net", "vmxnet3")
DOCUMENT = ROOT / "docs/reference/compatibility.md"


def try_feature(guests, trial):
    """Returns the outcome of one trial: works, refused or fails, and why."""
    began = time.monotonic()
    try:
        outcome, why = "works", trial.function(guests)
    except Refused as reason:
        outcome, why = "refused", str(reason)
    except Absent as reason:
        outcome, why = "not tried", str(reason)
    except Failure as reason:
        outcome, why = "fails", str(reason)
    except Exception as reason:  # noqa: BLE001  (a trial that stumbles must not end the others)
        outcome, why = "fails", f"{type(reason).__name__}: {reason}"
    seconds = time.monotonic() - began
    print(f"  {outcome:8}{trial.name} ({seconds:.0f} s){': ' + why if why else ''}", flush=True)
    return {"outcome": outcome, "why": why, "seconds": round(seconds)}


class Pair:
    """Two guests with a model, started when they are needed."""

    def __init__(self, model, kernel, build):
        self.model = model
        self.kernel = kernel
        self.build = build
        self.guests = None
        self.facts = None

    def up(self):
        if self.guests is None:
            kernel = ("--kernel", self.kernel) if self.kernel else ()
            # Two NICs, for bonds and rails.
            self.guests = Guests("--nic", f"{self.model},{self.model}", *kernel, build=self.build).__enter__()
            self.facts = self.facts or guest_facts(self.guests)
        return self.guests

    def down(self):
        if self.guests is not None:
            self.guests.__exit__()
        self.guests = None


def try_twice(pair, trial):
    """Tries once more in fresh guests what fails, as other tests do. A first failure is printed all the same."""
    result = try_feature(pair.up(), trial)
    if result["outcome"] == "fails" and (pair.model, trial.name) not in KNOWN:
        pair.down()
        print("  once more, in fresh guests:", flush=True)
        result = try_feature(pair.up(), trial)
    if result["outcome"] == "fails":
        pair.down()  # whatever it left behind must not spoil the next
    return result


def try_model(model, kernel, build, chosen, end):
    print(f"{model}{f', kernel of {kernel}' if kernel else ''}:", flush=True)
    results, pair = {}, Pair(model, kernel, build)
    try:
        for trial in chosen:
            if time.monotonic() > end:
                results[trial.name] = {"outcome": "fails", "why": "not tried, because the time was over", "seconds": 0}
            else:
                results[trial.name] = try_twice(pair, trial)
    except Failure as reason:  # of the start
        print(f"  {reason}", flush=True)
        for trial in chosen:
            results.setdefault(trial.name, {"outcome": "fails", "why": str(reason), "seconds": 0})
    finally:
        pair.down()
    return {"facts": pair.facts, "results": results}


def guest_facts(guests):
    machine = guests.do("list").stdout
    return {"driver": guests.good("h1", "basename $(readlink -f /sys/class/net/eth0/device/driver)").strip(),
            "kernel": guests.good("h1", "uname -r").strip(),
            "qemu": machine.partition("QEMU ")[2].partition(",")[0]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release"), help="build folder (default build/release)")
    parser.add_argument("--models", default=",".join(MODELS), help="these of all models")
    parser.add_argument("--features", default="", help="only these, by the names that a run prints")
    parser.add_argument("--kernel", help="Debian release of the kernel, as of lab vm up")
    parser.add_argument("--newer", metavar="RELEASE", help="then AF_XDP and steering once more with the kernel of this release, "
                        "with the models whose drivers have come to have it")
    parser.add_argument("--minutes", type=float, default=40, help="what was not tried by then has failed (default 40)")
    parser.add_argument("--json", help="keep the outcome in this file, and what it has of other models and features")
    parser.add_argument("--write", action="store_true", help=f"write the table into {DOCUMENT.relative_to(ROOT)}, if nothing fails for no known reason")
    options = parser.parse_args()
    names = [name for name in options.features.split(",") if name]
    unknown = [name for name in names if name not in [trial.name for trial in FEATURES]] + [
        name for name in options.models.split(",") if name not in MODELS]
    if unknown:
        parser.error(f"there is no {unknown[0]}: models are {', '.join(MODELS)}; features are "
                     f"{', '.join(trial.name for trial in FEATURES)}")
    return options, [trial for trial in FEATURES if not names or trial.name in names]


def main():
    options, chosen = parse()
    options.bin = pathlib.Path(options.bin).resolve()
    if not (options.bin / "tests/soak/omx_soak").exists():
        print(f"{options.bin} has no omx_soak: build it first: cmake --build {options.bin} --target omx omx_soak omx_libfabric")
        return 1
    # A test runner's SIGTERM ends the guests, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    known = json.loads(pathlib.Path(options.json).read_text()) if options.json and pathlib.Path(options.json).exists() else {}
    end = time.monotonic() + options.minutes * 60
    models = options.models.split(",")
    passes = [(options.kernel, model, chosen) for model in models]
    if options.newer:
        passes += [(options.newer, model, [trial for trial in chosen if trial.name in NEWER_FEATURES])
                   for model in models if model in NEWER_MODELS]
    try:
        for kernel, model, trials in passes:
            new = try_model(model, kernel, options.bin, trials, end)
            old = known.setdefault(kernel or "", {}).setdefault(model, {"facts": None, "results": {}})
            old["facts"] = new["facts"] or old["facts"]
            old["results"].update(new["results"])
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps(known, indent=1) + "\n")
    except Unable as reason:
        print(f"skipped: {reason}")
        return UNABLE
    text = table.render(known, FEATURES)
    print(text)
    surprises = table.surprises(known)
    if surprises:
        print("\n".join(["fails for no known reason:", *surprises]))
        return 1
    if options.write:
        table.write(DOCUMENT, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
