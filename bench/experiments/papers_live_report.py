# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/performance/evaluation-live.md and its plots from what bench/papers --live measured."""
import papers_report
from compare_report import table
from papers_live_gigabit import GIGABIT_SECTIONS
from papers_live_table1 import NOTHING, bars_draw, sizes_measured, table1_lines
from papers_live_tables import JUMBO, LATER_SECTIONS, LEFT_OUT, SECTIONS

INTRODUCTION = """\
# The papers' evaluation, live

Written by `{command}` on {date}; not edited by hand. Measured in {time}: {rounds}.

This document measures what can be measured today of the evaluation in the papers on Open-MX. The hosts are two of the lab: network namespaces of one machine, joined
by a virtual cable of MTU 9000 unless a table says otherwise. Ranks run Debian's unmodified Open MPI, over Open-MX by its libfabric provider and over Open MPI's own TCP.
Simulations of the papers' own NIC and hosts are in [evaluation.md](evaluation.md), more figures of today in [notebook.md](notebook.md).

Papers: **[C]** interrupt coalescing (Open-MX coalescing, Stream), **[Q]** multiqueue, **[I]** I/OAT copy offload (Cluster 2008), **[J]** the Open-MX journal.

Measured on {machine}, with the engine of {engine}. The papers had two hosts with eight cores each, NICs and a cable of 10 Gbit/s, and Linux 2.6. Published and measured figures stand beside each
other to compare in *which direction* and *how strongly* something matters. They differ because

* a virtual cable has no rate of its own (but for the sections at 1 Gb/s), no interrupts and no DMA: the sender's processor copies a frame into the receiver's memory. Large messages travel as fast as processors copy;
* since 2008 TCP has learnt to pass whole batches of segments from one socket to the other (GSO, GRO), and a virtual cable never cuts them;
* processors copy several times as fast as a Xeon E5345, so copies by another engine gain less;
* both hosts, all ranks, helper threads and the kernel share {cores} processors."""

VERDICTS = {True: "holds", False: "**does not hold**", None: "no difference"}
DOUBT = "**The machine was not quiet: {doubt}. Do not believe single figures.**"
QUICK = "**`--quick` measures next to nothing: this shows that the parts work, and no more.**"


def introduction(figures, facts):
    time = f"about {facts['seconds'] / 60:.0f} min" if facts["seconds"] >= 60 else f"{facts['seconds']} s"
    return INTRODUCTION.format(**facts, time=time, rounds=figures.rounds())


def value_text(row, figures):
    try:
        return papers_report.figure_text(row.ours(figures))
    except KeyError:
        return NOTHING


def statement_lines(statements, figures):
    """Returns a table that says which sentences of the paper hold here."""
    rows = []
    for statement in statements:
        try:
            holds, ours = statement.judge(figures)
            rows.append([statement.text, ours, VERDICTS[holds]])
        except KeyError:
            rows.append([statement.text, NOTHING, "not measured"])
    return [*table(["the paper", "ours", ""], rows, True), ""] if rows else []


def measured(section, figures):
    """Returns whether a section has any figure."""
    return any(value_text(row, figures) != NOTHING for row in section.rows)


def section_lines(section, figures, statements=()):
    with figures.watched() as parts:
        rows = [[row.what, papers_report.figure_text(row.published), value_text(row, figures), row.unit] for row in section.rows]
        judged = statement_lines(statements, figures)
    lines = [f"## {section.title}", "", rounds_line(figures, parts), "", *table(["", "published", "ours", "unit"], rows, True), "", *(f"* {note}" for note in section.notes), ""]
    return lines + judged + [line for plot in section.plots if any(points_of(curve, figures) for curve in plot.wanted.values()) for line in (f"![{plot.title}](evaluation/{plot.name}.svg)", "")]


def rounds_line(figures, parts):
    text = figures.rounds(parts)
    return f"{text[0].upper()}{text[1:]}."


def document(figures, facts):
    lines = [introduction(figures, facts), ""]
    lines += [QUICK, ""] if facts["quick"] else []
    lines += [DOUBT.format(**facts), ""] if facts["doubt"] else []
    absent = []
    if sizes_measured(figures):
        lines += table1_lines(figures, rounds_line(figures, {(JUMBO, "imb2"), (JUMBO, "imb4")}))
    else:
        absent.append("[J] Table 1")
    for section, statements in (*((section, ()) for section in SECTIONS), *GIGABIT_SECTIONS, *((section, ()) for section in LATER_SECTIONS)):
        if measured(section, figures):
            lines += section_lines(section, figures, statements)
        else:
            absent.append(section.title)
    lines += ["## What is not here", "", *(f"* Not measured this time: {title}" for title in absent), *(f"* {text}" for text in LEFT_OUT), ""]
    return "\n".join(lines)


# --- plots ---

def points_of(function, figures):
    try:
        return function(figures)
    except KeyError:
        return []


def draw(program, figures, folder):
    for size in sizes_measured(figures):
        bars_draw(program, figures, size, folder)
    for section in (*SECTIONS, *(section for section, _ in GIGABIT_SECTIONS), *LATER_SECTIONS):
        for plot in section.plots:
            plot.curves = {name: points for name, function in plot.wanted.items() if (points := points_of(function, figures))}
            if plot.curves:
                papers_report.plot_draw(program, plot, folder)
