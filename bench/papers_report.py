# SPDX-License-Identifier: BSD-3-Clause
"""docs/evaluation.md and its plots, from what bench/papers measured."""
import os

from compare_report import size_text, table
from plotting import gnuplot_draw

FAR = 15  # percent: larger deviations are marked

INTRODUCTION = """\
# The papers' evaluation, in simulation

Written by `{command}` on {date}; not edited by hand. {runs} simulations, {seconds} s.

The papers on Open-MX measured a driver in the Linux kernel of 2008 to 2010, firmware of Myri-10G NICs that they had changed, and Xeon E5345
processors. Nobody has these any more, and software cannot change the firmware of other NICs. So this is a model of that NIC and those hosts
(`src/simulation/nic`) in virtual time, on which our real engine (`src/protocol`) runs with its wire bytes and its mark for latency-sensitive
frames. It tells whether the papers' results follow from what they say of their system; it tells nothing about the speed of Open-MX today, which
[evaluation-live.md](evaluation-live.md) and [perf-notes.md](perf-notes.md) have.

Papers: **[C]** interrupt coalescing (Open-MX coalescing, Stream), **[Q]** multiqueue (Euro-Par 2009 and journal), **[I]** I/OAT copy offload (Cluster
2008), **[J]** the Open-MX journal.

How to read the tables: *error* is ours relative to the published figure. *made from it* marks figures from which a parameter of the model was made
(the last section says how); that they fit proves nothing. **Bold** errors are larger than {far} %; the notes below a table say why, where we know
it. Figures of ours without a published one have no error. Where a paper says by how many percent something is faster, what is
counted is the error of how many times as fast it is, as for execution times; the row below it has the gain, whose error is larger."""

ENGINE = """\
The engine is ours, not the original's: it keeps more blocks of a large message asked for, which the pull budget allows it to ([pulls.md](pulls.md)),
and it learns by selective acknowledgement what is missing. What it would do faster than the original by a clock is set to the original's constants
here, short messages share no frames, and nothing large is sent unasked (`src/simulation/nic/network.cc`).

An interrupt hands over the frames that were in memory when it was raised; later ones wait for the next. The papers do not say this. It follows from
[C] Table III: a fragment that comes right behind the marked one makes the message later, although the host has most of the earlier ones still to do.
With a handler that goes on until it finds nothing, a mark that moves forward makes messages of the model faster.

All processes poll, so their cores do not sleep, unless told otherwise."""


def figure_text(value, digits=None):
    if value is None:
        return "–"
    if digits is not None:
        return f"{value:.{digits}f}"
    if abs(value) >= 10000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def error_of(row, ours):
    """(text, percent or None)"""
    if row.published is None or not row.alike:
        return "", None
    if row.bound:
        return ("holds" if (ours < row.published) == (row.bound == "<") else "**does not hold**"), None
    if row.published == 0:
        return "", None
    percent = (ours / row.published - 1) * 100
    text = f"{percent:+.0f} %"
    return (f"**{text}**" if abs(percent) > FAR else text), percent


def rows_of(one, values):
    for row in one.rows:
        ours = values[id(row)]
        text, _ = error_of(row, ours)
        published = f"{row.bound} {figure_text(row.published, row.digits)}".strip()
        yield [row.what, published, figure_text(ours, row.digits), row.unit, text, "made from it" if row.input else ""]


def summary(papers, values):
    head = ["paper", "figures", "within 15 %", "median error", "predicted", "within 15 %", "median error"]
    rows = []
    every = [one for _, _, tables in papers for one in tables]
    parts = [(name, [one for one in tables if not one.apart]) for name, _, tables in papers]
    parts += [("NAS kernels but IS.B", [one for one in every if one.apart]), ("all but NAS kernels", [one for one in every if not one.apart]), ("all", every)]
    for name, tables in parts:
        both = []
        for wanted in (lambda row: True, lambda row: not row.input):
            errors = sorted(abs(e) for e in (error_of(row, values[id(row)])[1] for t in tables for row in t.rows if wanted(row) and row.counted) if e is not None)
            both += [str(len(errors)), str(sum(e <= FAR for e in errors)), f"{errors[len(errors) // 2]:.0f} %"]
        rows.append([name, *both])
    return table(head, rows, True)


def document(papers, values, plots, parameters, left_out, facts):
    lines = [INTRODUCTION.format(far=FAR, **facts), "", *summary(papers, values), "",
             "*predicted* leaves out the figures from which parameters were made.", "", ENGINE, ""]
    for name, sign, tables in papers:
        lines += [f"## {name} [{sign}]", ""]
        for one in tables:
            lines += [f"### {one.title}", "",
                      *table(["", "published", "ours", "unit", "error", ""], list(rows_of(one, values)), True), ""]
            if one.notes:
                lines += [*(f"* {note}" for note in one.notes), ""]
        lines += [line for plot in plots if plot.paper == sign for line in (f"![{plot.title}](evaluation/{plot.name}.svg)", "")]
    lines += ["## What is not here", "", *(f"* {text}" for text in left_out), "",
              "## Every number of the model", "",
              "*given* by a paper's text; *derived* from its figures; *fitted* so that the named figure comes out; *assumed* because no paper tells it. "
              "`omx_papers ... --set NAME=VALUE` changes one.", "",
              *parameter_table(parameters), ""]
    return "\n".join(lines)


def parameter_table(parameters):
    return table(["name", "value", "unit", "kind", "source"],
                 [[f"`{p['name']}`", f"{p['value']:g}", p["unit"], p["kind"], p["source"]] for p in parameters], True)


def plot_draw(program, plot, folder):
    """A plot has name, title, x, y, log, curves: {name: [(x, y)]}, and may have text(x) for its ticks."""
    text = getattr(plot, "text", None)
    script = [f"set terminal svg size 760,420 font 'sans,12' background 'white'; set output '{os.path.join(folder, plot.name)}.svg'",
              f"set title \"{plot.title}\"; set xlabel \"{plot.x}\"; set ylabel \"{plot.y}\"; set key outside right; set grid; set yrange [0:*]"]
    if plot.log:
        sizes = sorted({x for points in plot.curves.values() for x, _ in points})
        if text:
            script.append(f"set xrange [{sizes[0] * 0.9}:{sizes[-1] * 1.1}]")
        script += ["set logscale x 2", "set xtics rotate by -45 (" + ", ".join(f'"{(text or size_text)(s)}" {s}' for s in (sizes if text else sizes[::2])) + ")"]
    curves = [f"$curve{i} using 1:2 with linespoints title \"{name}\"" for i, name in enumerate(plot.curves)]
    for i, points in enumerate(plot.curves.values()):
        script += [f"$curve{i} << EOD", *(f"{x} {y}" for x, y in points), "EOD"]
    script.append("plot " + ", ".join(curves))
    gnuplot_draw(program, script, plot.name)
