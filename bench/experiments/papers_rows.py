# SPDX-License-Identifier: BSD-3-Clause
"""Rows and tables of the papers' evaluation, and arguments of omx_papers that several tables use.

A Row is one published figure. With counted=False it repeats the figure above it in other words or under another
assumption. `ours` is a function of run(arguments of omx_papers) -> its result.
"""
from dataclasses import dataclass
from typing import Callable, Optional

MIB, KIB = 1 << 20, 1 << 10
EIGHT = ("--cores", *map(str, range(8)))
WAYS = {"RR": ("--interrupts", "round-robin"), "bound": ("--interrupts", "bound"), "queues": ("--interrupts", "queues")}
LOSS = ("--set", "flow_control=0")
MX_WIRE = ("--mode", "mxoe", "--mtu", "9000")  # frames of 4 kB, as MX sends them
TUNED = ("--strategy", "off", "--interrupts", "bound", "--cores", 2)
FITTED = "fitted"  # a parameter was fitted to this figure
CHOSEN = "used to choose"  # the figure decided what the text leaves open
USES = ("", FITTED, CHOSEN)
CHOICE = "a choice"  # a prediction of an experiment whose setting the text leaves open
SHORT, MEDIUM, LARGE, SEVERAL, COUNTS = "short messages", "medium messages", "large messages", "several processes", "counts and loads"
CLASSES = (SHORT, MEDIUM, LARGE, SEVERAL, COUNTS)


@dataclass
class Row:
    what: str
    published: Optional[float]  # None: the papers have no figure
    unit: str
    ours: Callable
    use: str = ""  # how the figure was used to build the model; then it proves nothing
    bound: str = ""  # "<", ">": the paper says less, or more, than that
    alike: bool = True  # False: the two count different things, so there is no error
    counted: bool = True  # False: it repeats the row above
    digits: Optional[int] = None  # decimals; None: three significant figures
    null: Optional[float] = None  # the paper's figure if nothing changed; None: the paper has none to compare with
    gain: bool = False  # the figure is a ratio, which can be compared as a gain, too
    choice: bool = False
    of: str = ""  # one of CLASSES; empty: that of the table


@dataclass
class Table:
    title: str
    rows: list
    notes: tuple = ()  # sentences; they explain known deviations
    apart: bool = False  # not in the summary
    of: str = SHORT  # one of CLASSES


def is_prediction(row):
    """Returns whether the figure counts: published, of the same kind, and not used for the model."""
    return row.published is not None and row.counted and row.alike and not row.bound and not row.use


def class_of(one, row):
    return row.of or one.of


def is_ratio(row):
    return row.gain and row.published not in (None, 1)


def pingpong(*arguments):
    return ("pingpong", *arguments)


def us(*arguments):
    return lambda run: run(*arguments)["us"]


def rate(*arguments):
    return lambda run: run(*arguments)["rate"]


def per_message(key, *arguments):
    def ours(run):
        result = run(*arguments)
        return result[key] / result["messages"]
    return ours


def over(one, other):
    """Returns the ratio of two results."""
    return lambda run: one(run) / other(run)


def mean(functions):
    functions = list(functions)
    return lambda run: sum([function(run) for function in functions]) / len(functions)


def mib_per_s(size, *arguments):
    return lambda run: size / MIB / run("pingpong", "--size", size, *arguments)["us"] * 1e6


def as_gain(published, what, ratio):
    """Makes a row for a ratio as the paper writes it, in percent. Its error is shown but not counted again."""
    return Row(what, published, "%", lambda run: (ratio(run) - 1) * 100, counted=False, null=0)


def copied(how, size=4 * MIB, *more):
    return mib_per_s(size, "--iterations", 3, "--copies", how, *(more or (*TUNED, *MX_WIRE)))
