# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/performance/evaluation.md and its plots from what bench/papers computed."""
import os

import papers_predict
from compare_report import size_text, table
from papers_rows import CHOICE, is_prediction
from papers_summary import FAR, ablation, block_said, classes, far_papers, kernels_said, null_percent_of, percent_of, summary
from plotting import gnuplot_draw

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
counts once: *beside* marks rows that repeat it in other words, or under another assumption. *a choice* marks predictions of experiments whose
setting the text leaves open. Where a paper says by how many percent something is faster, there are two errors: of the ratio, as for execution times,
and of the gain, which is larger. The summary has both.

*null model*: the error if nothing changed, that is, if the paper's own baseline stood for each figure of a block. What is no better than that is no
success.

The model's figures were written to [predictions.json](evaluation/predictions.json) by `bench/papers --predict` on {predicted}, and committed before they
were compared with the papers'. *not as predicted* marks figures that are others now. This is less than a blind prediction: who builds the model has read
the papers, and knew the errors of the model before. But no number was changed after the comparison."""

ENGINE = """\
The engine is ours, not the original's. It keeps as many blocks of a large message in flight as the papers say (last section but one), and selective
acknowledgements tell it what is missing. It marks the last frame of every block, and bounds what is in flight by nothing but the blocks of each message,
as the original did: our engine's quiet requests, and its window with turns, are switched off (`Config::pull_quiet`, `Config::pull_window`; a test counts
5 marked replies of a message of 234 kB). Delays that are shorter in our engine are set to the original's constants here. Short messages share no
frames, and no large message is sent unscheduled (`src/simulation/nic/network.cc`).

An interrupt hands over the frames that were in memory when it was raised. Later frames wait for the next interrupt. The papers do not say this;
[C] Table III decided it: a fragment directly behind the marked one delays the message, although the host has most of the earlier fragments still to
process. With a handler that continues until it finds nothing, a mark that moves forward makes messages of the model faster. While coalescing is
disabled, an interrupt hands over one frame: [C] IV-B2 calls that "always raising an interrupt". The next interrupt is raised while a handler runs.
Otherwise frames with an interrupt each every 965 ns would leave no time for it. (Without that, when replies cost as
much as fragments of medium messages, one message of [C] Table II took 847 us while coalescing was disabled, more than with the default delay and against the paper's order,
I/OAT in [Q] Table I was within 12 %, and 1 MiB, disabled, in [C] Table I was 18 % too slow; so Table I, the time of Table II, and Table V of [C], disabled, and 4 MB in [Q] Table I count as used to choose.)

Each table of [C] names its coalescing. In [J], *tuned* means disabled (5.1 says so) and *not tuned* the NIC's default. [I] does not name it. It is
taken as tuned: *a choice*, beside which rows have the default, by which the model has less than half of the paper's throughput. [Q] does not name it either. It is disabled in all tables of [Q], because latencies of 10 us require that. Where it matters, a row
beside has the default.

All processes poll, so their cores do not sleep, unless a table says otherwise."""


WHY_FAR = (
    "* Replies of large messages have costs of their own since this version, fitted to [C] Table V and [I] Fig. 9 alone: 240 ns to receive one (a short message 1200 ns) and 1280 ns to send one (a "
    "fragment of a medium message 3090 ns). This brought the Alltoall of [Q] nearer (from +82 to +58 %), FT of [Q] (from -12 to -4 %) and MTU 9000 over 1500 of [J] (from +99 to +11 %). It took away what "
    "was right before: 1 MiB in [C] Table I (from -1 to +58 %), the time of [C] Table II, and 4 MB copied by the processor in [I] (from 0 to +25 %). So one cost for two classes was wrong for [Q] and [J], and right for [C] and [I].",
    "* The papers' figures ask for different costs. Of a reply of 1468 bytes, [C] Table I (452 messages of 1 MiB a second) leaves 3.1 us to one of the two hosts; Table V leaves 3.36 us to a received and "
    "a sent one together, if its handlers kept up. Of a frame of 4 kB, [I] leaves 2.1 us to the driver with copies by the processor (95 % of the time at 800 MiB/s) and 1.6 us with I/OAT (60 % at 1114). "
    "The fit to the four loads of Fig. 9 takes the latter, because a load near 100 % says nothing of a cost. With 1200 ns for receiving, 1 MiB would be 474 messages a second (452) and 4 MB 804 MiB/s (800). "
    "The numbers stay as they were before the comparison: to take others now would be to tune them on what they predict.",
    "* Table V of [C] is not reproduced, although transmit_reply_ns was fitted to it: frames of a burst come every 1.2 us, so a handler that has 3.36 us for each falls behind, and each of its interrupts "
    "finds nearly a thousand frames. No cost of a frame mends this while it is more than 1.2 us (tried).",
    "* What the texts would have to give. [C]: the time that sending and receiving a reply takes, as IV-B2 has it for a dropped frame; the budget of a handler, and whether one that used it up waits for a new "
    "interrupt; when the processes of IS send. [Q]: flow control, rings and time-outs (the ten seconds of IS class B), how much of the waking of a core overlaps with the handler before it (4.3), and "
    "at which rate eight cores copy together (4.5; here derived from one factor of [J]).",
)


def figure_text(value, digits=None):
    if value is None:
        return "–"
    if digits is not None:
        return f"{value:.{digits}f}"
    if abs(value) >= 10000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def error_text(row, ours):
    if row.published is None or not row.alike:
        return ""
    if row.bound:
        return "holds" if (ours < row.published) == (row.bound == "<") else "**does not hold**"
    percent = percent_of(row, ours)
    if percent is None:
        return ""
    text = f"{percent:+.0f} %"
    return f"**{text}**" if abs(percent) > FAR else text


def rows_of(sign, one, values, predicted):
    for row in one.rows:
        ours = values[id(row)]
        published = f"{row.bound} {figure_text(row.published, row.digits)}".strip()
        null = null_percent_of(row)
        use = row.use or ("" if row.counted else "beside") or (CHOICE if row.choice else "")
        if is_prediction(row) and papers_predict.moved(predicted, sign, one, row, ours):
            use = f"{use}, not as predicted".removeprefix(", ")
        yield [row.what, published, figure_text(ours, row.digits), row.unit, error_text(row, ours), "" if null is None else f"{null:+.0f} %", use]


def without_error(papers):
    """Returns how many published figures have no error: bounds, and figures of another kind."""
    rows = [row for _, _, tables in papers for one in tables for row in one.rows if row.counted and row.published is not None]
    return sum(bool(row.bound) for row in rows), sum(not row.alike for row in rows)


def document(papers, values, of_mechanisms, plots, parameters, constants, left_out, predicted, facts):
    bounds, others = without_error(papers)
    lines = [INTRODUCTION.format(far=FAR, predicted=predicted["date"] if predicted else "never", **facts), "", *summary(papers, values), "",
             "*median error* is of the predictions alone; *gains as gains* is the same, but of ratios the error of the gain counts; *and used to choose*, *and fitted* add those figures. "
             f"Beside these, {bounds} published figures are bounds, and {others} (cache misses) count something else than the model, so they have no error. "
             "What the texts have more is listed in *Figures that are not reproduced*.", "", far_papers(papers, values), "", *WHY_FAR, "", kernels_said(papers, values), "",
             "By class of figures:", "", *classes(papers, values), "", "Median errors without one mechanism each:", "", *ablation(papers, values, of_mechanisms), "", ENGINE, ""]
    for name, sign, tables in papers:
        lines += [f"## {name} [{sign}]", ""]
        for one in tables:
            lines += [f"### {one.title}", "",
                      *table(["", "published", "ours", "unit", "error", "null model", ""], list(rows_of(sign, one, values, predicted)), True), "", *block_said(one, values)]
            if one.notes:
                lines += [*(f"* {note}" for note in one.notes), ""]
        lines += [line for plot in plots if plot.paper == sign for line in (f"![{plot.title}](evaluation/{plot.name}.svg)", "")]
    lines += ["## Figures that are not reproduced, and why", "", *(f"* {text}" for text in left_out), "",
              "## The engine's constants", "",
              "*given* by a paper's text; *original*: of the original's software, which the papers do not print.", "",
              *table(["what", "value", "unit", "kind", "source"], [[c["name"], f"{c['value']:g}", c["unit"], c["kind"], c["source"]] for c in constants], True), "",
              "The adaptive delay is ours ([C] VI names it without a rule): marks raise interrupts at once. The delay of other frames begins at `timeout_ns`. It is halved, as an attempt, while no message "
              "needed another interrupt behind an early one, and doubled where one did, up to 500 us (`src/simulation/nic/adaptive_delay.h`, [load against latency](load-latency.md)).", "",
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
