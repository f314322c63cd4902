# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/performance/evaluation-live.md and its plots from what bench/papers --live measured."""
import os
import statistics

import papers_report
from compare_report import size_text, table
from papers_live_tables import LEFT_OUT, NAMES, SECTIONS, TABLE1, TABLE1_SIZES, faster, over_tcp
from plotting import gnuplot_draw

RANKS = (2, 4)
NOTHING = "–"

INTRODUCTION = """\
# The papers' evaluation, live

Written by `{command}` on {date}; not edited by hand. {rounds}, in {minutes} min.

This document measures what can be measured today of the evaluation in the papers on Open-MX. The hosts are two of the lab: network namespaces of one machine, joined
by a virtual cable of MTU 9000 unless a table says otherwise. Ranks run Debian's unmodified Open MPI, over Open-MX by its libfabric provider and over Open MPI's own TCP.
Simulations of the papers' own NIC and hosts are in [evaluation.md](evaluation.md), more figures of today in [notebook.md](notebook.md).

Papers: **[C]** interrupt coalescing (Open-MX coalescing, Stream), **[Q]** multiqueue, **[I]** I/OAT copy offload (Cluster 2008), **[J]** the Open-MX journal.

Measured on {machine}. The papers had two hosts with eight cores each, NICs and a cable of 10 Gbit/s, and Linux 2.6. Published and measured figures stand beside each
other to compare in *which direction* and *how strongly* something matters. They differ because

* a virtual cable has no rate of its own, no interrupts and no DMA: the sender's processor copies a frame into the receiver's memory. Large messages travel as fast as processors copy;
* since 2008 TCP has learnt to pass whole batches of segments from one socket to the other (GSO, GRO), and a virtual cable never cuts them;
* processors copy several times as fast as a Xeon E5345, so copies by another engine gain less;
* both hosts, all ranks, helper threads and the kernel share {cores} processors."""

DOUBT = "**The machine was not quiet: {doubt}. Do not believe single figures.**"
QUICK = "**`--quick` measures next to nothing: this shows that the parts work, and no more.**"

TABLE1_TEXT = """\
## [J] Table 1: IMB operations, Open-MX over TCP

The table shows by how many per cent an operation is faster over Open-MX (the time over TCP divided by the time over Open-MX, less 1). The paper's column has 16 processes on two nodes with I/OAT.
Our columns have 2 ranks with a processor each, and 4 ranks of which two share each host's processor and yield while they wait. Operations are timed as IMB does it
(`bench/jobs/mpi_collectives.c`), after each byte of a result was checked. Rows without published figures are operations of IMB that the paper's table does not have. *In italics*: the rounds do not
agree about which transport was faster."""

TABLE1_NOTES = (
    "With 4 ranks a part of all messages stays inside a host, where Open MPI over TCP uses its own shared memory (vader) and Open-MX its own, as in the paper. Each rank is the root in turn.",
    "16 B: latency decides. The papers' TCP had 13.2 us to Open-MX's 7.3; the next section has today's.",
    "64 KiB is the largest message that Open-MX sends without asking here, and what the kernel takes from TCP in one call: the size at which TCP is at its best ([notebook.md](notebook.md)).",
    "Allgather of 64 KiB blocks, 4 ranks: Open MPI's algorithm (neighbor exchange, for both transports) sends 128 KiB at a time after its first step, which "
    "go by rendezvous here. Measured apart (medians of 3 to 7 runs in one session, whose figures scatter by 20 %): blocks of 32 KiB, whose pieces are sent "
    "unscheduled, 74 us to TCP's 86; of 64 KiB 222 us to 182. With a ring instead, whose pieces are 64 KiB, Open-MX takes 308 us and TCP 523. But to send 128 "
    "KiB of unscheduled data (`OMX_BULK_RNDV_THRESHOLD=131072`) gains little, 259 instead of 270 us, so the rendezvous is not all of it, and the rest is unexplained. "
    "Allgatherv has the same pieces; the rounds of Reduce_scatter do not agree.",
    "The paper's Bcast and Reduce of 4 MB lose to TCP (of Bcast: \"it is not clear why\"). Open MPI chooses the algorithms of operations by size and ranks, alike for both transports; "
    "sums are added by the processor in both.",
)


def percent_text(value, sure):
    text = f"{value:+.0f} %"
    return text if sure else f"*{text}*"


def gain_text(figures, ranks, operation, size):
    try:
        keys = over_tcp(ranks, operation, size)
        return percent_text(faster(*keys)(figures), figures.agree(*keys))
    except KeyError:
        return NOTHING


def time_text(figures, key):
    try:
        us = figures(*key)
    except KeyError:
        return NOTHING
    return f"{us:.1f}" if us < 100 else f"{us:,.0f}"


def balance_lines(figures):
    """Says for each number of ranks how often Open-MX is faster, and where it is not."""
    for ranks in RANKS:
        gains = {}
        for operation, name in NAMES.items():
            for size in TABLE1_SIZES[:1] if operation == "barrier" else TABLE1_SIZES:
                try:
                    gains[f"{name} {size_text(size)}" if operation != "barrier" else name] = faster(*over_tcp(ranks, operation, size))(figures)
                except KeyError:
                    continue
        slower = [f"{what} ({gain:+.0f} %)" for what, gain in gains.items() if gain < 0]
        if gains:
            yield (f"{ranks} ranks: Open-MX is faster in {len(gains) - len(slower)} of {len(gains)}, the median gain is {statistics.median(gains.values()):+.0f} %; "
                   f"it is slower in {', '.join(slower) or 'none'}.")


def table1_lines(figures):
    head, times_head = ["operation"], ["us"]
    for size in TABLE1_SIZES:
        head += [f"{size_text(size)}: published", *(f"{n} ranks" for n in RANKS)]
        times_head += [f"{size_text(size)}: {n} ranks, {who}" for n in RANKS for who in ("Open-MX", "TCP")]
    rows, times = [], []
    for operation, name in NAMES.items():
        row, timed = [name], [name]
        for place, size in enumerate(TABLE1_SIZES):
            if operation == "barrier" and place:
                row += [""] * 3
                timed += [""] * 4
                continue
            published = TABLE1.get(operation)
            row += [f"{published[place]:+g} %" if published else NOTHING, *(gain_text(figures, n, operation, size) for n in RANKS)]
            timed += [time_text(figures, key) for n in RANKS for key in reversed(over_tcp(n, operation, size))]
        rows.append(row)
        times.append(timed)
    return [TABLE1_TEXT, "", *table(head, rows, True), "", *(f"* {note}" for note in (*balance_lines(figures), *TABLE1_NOTES)), "",
            "The times, medians of the rounds, in us:", "", *table(times_head, times, True), ""]


def value_text(row, figures):
    try:
        return papers_report.figure_text(row.ours(figures))
    except KeyError:
        return NOTHING


def section_lines(section, figures):
    rows = [[row.what, papers_report.figure_text(row.published), value_text(row, figures), row.unit] for row in section.rows]
    lines = [f"## {section.title}", "", *table(["", "published", "ours", "unit"], rows, True), "", *(f"* {note}" for note in section.notes), ""]
    return lines + [line for plot in section.plots if plot.curves for line in (f"![{plot.title}](evaluation/{plot.name}.svg)", "")]


def document(figures, facts):
    lines = [INTRODUCTION.format(**facts), ""]
    lines += [QUICK, ""] if facts["quick"] else []
    lines += [DOUBT.format(**facts), ""] if facts["doubt"] else []
    lines += table1_lines(figures)
    lines += [f"![[J] Table 1, {size_text(size)}](evaluation/{bars_name(size)}.svg)\n" for size in bars_sizes(figures)]
    for section in SECTIONS:
        lines += section_lines(section, figures)
    lines += ["## What is not here", "", *(f"* {text}" for text in LEFT_OUT), ""]
    return "\n".join(lines)


# --- plots ---

def bars_name(size):
    return f"live-table1-{size}"


def bars_sizes(figures):
    return [size for size in TABLE1_SIZES if gain_text(figures, RANKS[0], "sendrecv", size) != NOTHING]


def bars_draw(program, figures, size, folder):
    """Draws a bar for the published gain and one for each number of ranks, by operation."""
    place, data = TABLE1_SIZES.index(size), []
    for operation, name in NAMES.items():
        if operation not in TABLE1 or len(TABLE1[operation]) <= place:
            continue
        try:
            gains = [faster(*over_tcp(n, operation, size))(figures) for n in RANKS]
        except KeyError:
            continue
        data.append(" ".join([name, f"{TABLE1[operation][place]:g}", *(f"{gain:.1f}" for gain in gains)]))
    script = [f"set terminal svg size 900,380 font 'sans,12' background 'white'; set output '{os.path.join(folder, bars_name(size))}.svg'",
              f"set title \"[J] Table 1, {size_text(size)}: faster over Open-MX than over TCP\"; set ylabel '%'; set key outside right; set grid y",
              "set style data histograms; set style histogram clustered gap 1; set style fill solid 0.8; set xzeroaxis lt -1; set xtics rotate by -30 nomirror",
              "$gains << EOD", *data, "EOD",
              "plot $gains using 2:xtic(1) title 'published', " + ", ".join(f"$gains using {i + 3} title '{n} ranks'" for i, n in enumerate(RANKS))]
    gnuplot_draw(program, script, bars_name(size))


def points_of(function, figures):
    try:
        return function(figures)
    except KeyError:
        return []


def draw(program, figures, folder):
    for size in bars_sizes(figures):
        bars_draw(program, figures, size, folder)
    for section in SECTIONS:
        for plot in section.plots:
            plot.curves = {name: points for name, function in plot.wanted.items() if (points := points_of(function, figures))}
            if plot.curves:
                papers_report.plot_draw(program, plot, folder)
