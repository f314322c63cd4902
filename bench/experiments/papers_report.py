# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/performance/evaluation.md and its plots from what bench/papers computed."""
import os
import statistics

from compare_report import size_text, table
from papers_rows import CHOSEN, FITTED
from plotting import gnuplot_draw

FAR = 15  # percent: larger deviations are marked

INTRODUCTION = """\
# The papers' evaluation, in simulation

Written by `{command}` on {date}; not edited by hand. {runs} simulations, {seconds} s.

The papers on Open-MX measured a driver in the Linux kernel of 2008 to 2010, firmware of Myri-10G NICs that they had changed, and Xeon E5345
processors. Nobody has these any more, and software cannot change the firmware of other NICs. So this is a model of that NIC and those hosts
(`src/simulation/nic`) in virtual time, on which our real engine (`src/protocol`) runs with its wire bytes and its mark for latency-sensitive
frames. It tells whether the papers' results follow from what they say of their system; it tells nothing about the speed of Open-MX today, which
[evaluation-live.md](evaluation-live.md) and [notebook.md](notebook.md) have.

Papers: **[C]** interrupt coalescing (Open-MX coalescing, Stream), **[Q]** multiqueue (Euro-Par 2009 and journal), **[I]** I/OAT copy offload (Cluster
2008), **[J]** the Open-MX journal.

How to read the tables: *error* is ours relative to the published figure. *fitted* marks figures from which a parameter of the model was made
(the last section says how), *used to choose* those that decided something that the text leaves open; that they fit proves nothing, and they are no
predictions. **Bold** errors are larger than {far} %; the notes below a table say why, where we know it. Each published figure counts once: *beside*
marks rows that have it in other words, or under another assumption. Where a paper says by how many percent something is faster, what counts is the
error of how many times as fast it is, as for execution times; the row below it has the gain, whose error is larger."""

ENGINE = """\
The engine is ours, not the original's; it keeps as many blocks of a large message asked for as the papers say of theirs (last section but one), and
learns by selective acknowledgement what is missing. What it would do faster than the original by a clock is set to the original's constants
here, short messages share no frames, and nothing large is sent unasked (`src/simulation/nic/network.cc`).

An interrupt hands over the frames that were in memory when it was raised; later ones wait for the next. The papers do not say this; [C] Table III
decided it: a fragment that comes right behind the marked one makes the message later, although the host has most of the earlier ones still to do.
With a handler that goes on until it finds nothing, a mark that moves forward makes messages of the model faster. While coalescing is disabled an
interrupt hands over one frame: [C] IV-B2 calls that "always raising an interrupt". The next one is on its way while a handler is at work: a frame with an
interrupt each every 965 ns leaves no time for it otherwise. (Without that, one message of [C] Table II would take 847 us while coalescing is disabled, more
than with the default delay and against the paper's order, I/OAT in [Q] Table I would be within 12 %, and 1 MiB, disabled, in [C] Table I would be 18 % too slow;
so Table I, the time of Table II, and Table V of [C], disabled, and 4 MB in [Q] Table I count as used to choose.)

Coalescing is what each table of [C] names; [J] tuned has it disabled (5.1 says so), not tuned the NIC's default. [I] does not say, and is taken as tuned. [Q]
does not say, and has it disabled in all its tables, as its latencies of 10 us need; where that matters a row beside has the default.

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
    """Returns (text, percent or None)."""
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
        yield [row.what, published, figure_text(ours, row.digits), row.unit, text, row.use or ("" if row.counted else "beside")]


def errors_of(tables, values, uses):
    """Returns the errors of the figures with these uses. Each published figure counts once."""
    return [abs(error) for one in tables for row in one.rows if row.counted and row.use in uses
            for error in (error_of(row, values[id(row)])[1],) if error is not None]


def median_text(errors):
    return f"{statistics.median(errors):.0f} %" if errors else "–"


def summary(papers, values):
    head = ["paper", "figures", "fitted", "used to choose", "predictions", "within 15 %", "median error", "and used to choose", "and fitted"]
    every = [one for _, _, tables in papers for one in tables]
    parts = [(name, [one for one in tables if not one.apart]) for name, _, tables in papers]
    parts += [("NAS kernels", [one for one in every if one.apart]), ("all but NAS kernels", [one for one in every if not one.apart]), ("all", every)]
    rows = []
    for name, tables in parts:
        predicted, chosen, fitted = (errors_of(tables, values, uses) for uses in (("",), (CHOSEN,), (FITTED,)))
        rows.append([name, str(len(predicted + chosen + fitted)), str(len(fitted)), str(len(chosen)), str(len(predicted)), str(sum(e <= FAR for e in predicted)),
                     median_text(predicted), median_text(predicted + chosen), median_text(predicted + chosen + fitted)])
    return table(head, rows, True)


def far_papers(papers, values):
    """Returns what to say about the papers whose predictions deviate too much."""
    far = []
    for name, _, tables in papers:
        counted = [one for one in tables if not one.apart]
        predicted, chosen = (errors_of(counted, values, uses) for uses in (("",), (CHOSEN,)))
        if predicted and statistics.median(predicted) > FAR:
            far.append(f"**{name}: {median_text(predicted)}, more than {FAR} %** (with the figures used to choose {median_text(predicted + chosen)})")
    said = "; ".join(far)
    first = f"The median of the predictions is too large for {said}: the notes say where it comes from, as far as we know it." if far else f"No paper's median is more than {FAR} %."
    every = [one for _, _, tables in papers for one in tables]
    without, with_kernels = (median_text(errors_of(tables, values, ("",))) for tables in ([one for one in every if not one.apart], every))
    return f"{first} Over all predictions it is {without} without the NAS kernels, and {with_kernels} with them, most of whose time is computing, which is fitted."


def without_error(papers):
    """Returns how many published figures have no error: bounds, and figures of another kind."""
    rows = [row for _, _, tables in papers for one in tables for row in one.rows if row.counted and row.published is not None]
    return sum(bool(row.bound) for row in rows), sum(not row.alike for row in rows)


def document(papers, values, plots, parameters, constants, left_out, facts):
    bounds, others = without_error(papers)
    lines = [INTRODUCTION.format(far=FAR, **facts), "", *summary(papers, values), "",
             "*median error* is of the predictions alone; *and used to choose*, *and fitted* add those figures. "
             f"Beside these, {bounds} published figures are bounds, and {others} (cache misses) count something else than the model, so they have no error. "
             "What the texts have more is listed in *Figures that are not reproduced*.", "", far_papers(papers, values), "", ENGINE, ""]
    for name, sign, tables in papers:
        lines += [f"## {name} [{sign}]", ""]
        for one in tables:
            lines += [f"### {one.title}", "",
                      *table(["", "published", "ours", "unit", "error", ""], list(rows_of(one, values)), True), ""]
            if one.notes:
                lines += [*(f"* {note}" for note in one.notes), ""]
        lines += [line for plot in plots if plot.paper == sign for line in (f"![{plot.title}](evaluation/{plot.name}.svg)", "")]
    lines += ["## Figures that are not reproduced, and why", "", *(f"* {text}" for text in left_out), "",
              "## The engine's constants", "",
              "*original*: of the original's software, which the papers do not print; *ours*: the engine's.", "",
              *table(["what", "value", "unit", "kind", "source"], [[c["name"], f"{c['value']:g}", c["unit"], c["kind"], c["source"]] for c in constants], True), "",
              "The adaptive delay is ours ([C] VI names it without a rule): marks raise interrupts at once; where at most two frames waited for the delay it is halved, where more did doubled, "
              "between `adaptive_step_ns` and `timeout_ns` (`src/simulation/nic/moderation.h`).", "",
              "## Every number of the model", "",
              "*given* by a paper's text; *derived* from its figures; *fitted* so that the named figure comes out; *assumed* because no paper tells it. "
              "`omx_papers ... --set NAME=VALUE` changes one, within its range.", "",
              *parameter_table(parameters), ""]
    return "\n".join(lines)


def parameter_table(parameters):
    return table(["name", "value", "unit", "kind", "range", "source"],
                 [[f"`{p['name']}`", f"{p['value']:g}", p["unit"], p["kind"], f"{p['least']:g} to {p['most']:g}", p["source"]] for p in parameters], True)


def plot_draw(program, plot, folder):
    """Draws a plot, which has name, title, x, y, log, curves ({name: [(x, y)]}), and perhaps text(x) for its ticks."""
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
