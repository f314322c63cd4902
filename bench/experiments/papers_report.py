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

The papers on Open-MX measured a driver in the Linux kernel of 2008 to 2010, modified firmware of Myri-10G NICs, and Xeon E5345 processors. These
are no longer available, and software cannot change the firmware of other NICs. So this document models that NIC and those hosts
(`src/simulation/nic`) in virtual time. Our real engine (`src/protocol`) runs on the model, with its wire bytes and its mark for latency-sensitive
frames. The model shows whether the papers' results follow from their description of the system. It shows nothing about the speed of Open-MX
today: see [evaluation-live.md](evaluation-live.md) and [notebook.md](notebook.md).

Papers: **[C]** interrupt coalescing (Open-MX coalescing, Stream), **[Q]** multiqueue (Euro-Par 2009 and journal), **[I]** I/OAT copy offload (Cluster
2008), **[J]** the Open-MX journal.

How to read the tables: *error* is our figure relative to the published one. *fitted* marks figures from which a parameter of the model was derived
(the last section says how). *used to choose* marks figures that decided what the text leaves open. A match of these figures proves nothing, so they
are not predictions. **Bold** errors are larger than {far} %; the notes below a table explain them where we know the reason. Each published figure
counts once: *beside* marks rows that repeat it in other words, or under another assumption. Where a paper says by how many percent something is
faster, the error of the ratio counts, as for execution times. The row below has the gain, whose error is larger."""

ENGINE = """\
The engine is ours, not the original's. It keeps as many blocks of a large message in flight as the papers say (last section but one), and selective
acknowledgements tell it what is missing. Delays that are shorter in our engine are set to the original's constants here. Short messages share no
frames, and no large message is sent unscheduled (`src/simulation/nic/network.cc`).

An interrupt hands over the frames that were in memory when it was raised. Later frames wait for the next interrupt. The papers do not say this;
[C] Table III decided it: a fragment directly behind the marked one delays the message, although the host has most of the earlier fragments still to
process. With a handler that continues until it finds nothing, a mark that moves forward makes messages of the model faster. While coalescing is
disabled, an interrupt hands over one frame: [C] IV-B2 calls that "always raising an interrupt". The next interrupt is raised while a handler runs.
Otherwise frames with an interrupt each every 965 ns would leave no time for it. (Without that, one message of [C] Table II would take 847 us while coalescing is disabled, more
than with the default delay and against the paper's order, I/OAT in [Q] Table I would be within 12 %, and 1 MiB, disabled, in [C] Table I would be 18 % too slow;
so Table I, the time of Table II, and Table V of [C], disabled, and 4 MB in [Q] Table I count as used to choose.)

Each table of [C] names its coalescing. In [J], *tuned* means disabled (5.1 says so) and *not tuned* the NIC's default. [I] does not name it, and is
taken as tuned. [Q] does not name it either. It is disabled in all tables of [Q], because latencies of 10 us require that. Where it matters, a row
beside has the default.

All processes poll, so their cores do not sleep, unless a table says otherwise."""


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
