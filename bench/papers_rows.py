# SPDX-License-Identifier: BSD-3-Clause
"""What the tables of the papers' evaluation consist of, and arguments of omx_papers that several of them use.

A Row is one published figure. `ours` is a function of run(arguments of omx_papers) -> its result; `input` says
that a parameter of the model was made from this very figure, which therefore proves nothing.
"""
from dataclasses import dataclass
from typing import Callable, Optional

EIGHT = ("--cores", *map(str, range(8)))
WAYS = {"RR": ("--interrupts", "round-robin"), "bound": ("--interrupts", "bound"), "queues": ("--interrupts", "queues")}
LOSS = ("--set", "flow_control=0")


@dataclass
class Row:
    what: str
    published: Optional[float]  # None: the papers have no figure
    unit: str
    ours: Callable
    input: bool = False
    bound: str = ""  # "<", ">": the paper says less, or more, than that
    alike: bool = True  # False: the two count different things, so there is no error
    counted: bool = True  # False: the row above in other words
    digits: Optional[int] = None  # behind the point; None: three figures


@dataclass
class Table:
    title: str
    rows: list
    notes: tuple = ()  # sentences; why we differ where we know it
    apart: bool = False  # counted apart in the summary
