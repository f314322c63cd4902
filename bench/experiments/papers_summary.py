# SPDX-License-Identifier: BSD-3-Clause
"""Counts how well the model meets the papers: errors, gains, the null model, classes of figures, and single mechanisms.

The null model says that nothing changes: each figure of a block is that of the paper's own baseline. An error that is no
smaller than that of the null model is no success.
"""
import statistics

from compare_report import table
from papers_rows import CHOSEN, CLASSES, FITTED, class_of, is_prediction, is_ratio

FAR = 15  # percent: larger deviations are marked
MECHANISMS = {  # a mechanism taken away, and the settings of omx_papers that do it
    "a reply costs its receiver what a short message does (1200 ns)": ("--set", "reply_ns=1200"),
    "a reply costs its sender what a fragment of a medium message does (3090 ns)": ("--set", "transmit_reply_ns=3090"),
    "both, as before": ("--set", "reply_ns=1200", "--set", "transmit_reply_ns=3090"),
    "no lock of the queue to send": ("--set", "transmit_lock_ns=0"),
    "no limit of the memory bus": ("--set", "bus_rate=1e13"),
    "large messages asked for as by our engine": ("--own-pulls",),
}


def percent_of(row, ours):
    """Returns the error of a figure in percent, or None."""
    if not row.published or not row.alike or row.bound:
        return None
    return (ours / row.published - 1) * 100


def gain_percent_of(row, ours):
    """Returns the error of the figure in percent, of ratios that of the gain."""
    return ((ours - 1) / (row.published - 1) - 1) * 100 if is_ratio(row) else percent_of(row, ours)


def null_percent_of(row):
    """Returns the error of the null model in percent, or None if the paper has nothing to compare with."""
    return None if row.null is None else percent_of(row, row.null)


def rows_of_use(tables, uses):
    """Returns the figures that have an error and these uses. Each published figure counts once."""
    return [row for one in tables for row in one.rows if row.counted and row.use in uses and percent_of(row, 1) is not None]


def predictions(tables):
    return [row for one in tables for row in one.rows if is_prediction(row) and percent_of(row, 1) is not None]


def errors_of(rows, values, error=percent_of):
    return [abs(error(row, values[id(row)])) for row in rows]


def median_text(errors, digits=0):
    return f"{statistics.median(errors):.{digits}f} %" if errors else "–"


def against_null(rows, values, digits=0):
    """Returns the medians of the null model and of ours, both of the figures that have a null model."""
    known = [row for row in rows if null_percent_of(row) is not None]
    return median_text([abs(null_percent_of(row)) for row in known], digits), median_text(errors_of(known, values), digits)


def counted_tables(papers):
    return [one for _, _, tables in papers for one in tables if not one.apart]


def summary(papers, values):
    head = ["paper", "figures", "fitted", "used to choose", "predictions", "on a choice", "within 15 %", "median error", "gains as gains", "null model", "ours of the same",
            "and used to choose", "and fitted"]
    rows = []
    for name, tables in [(name, [one for one in tables if not one.apart]) for name, _, tables in papers] + [("all", counted_tables(papers))]:
        predicted = predictions(tables)
        chosen, fitted = (rows_of_use(tables, (use,)) for use in (CHOSEN, FITTED))
        errors = errors_of(predicted, values)
        rows.append([name, *(str(len(part)) for part in (predicted + chosen + fitted, fitted, chosen, predicted)), str(sum(row.choice for row in predicted)),
                     str(sum(e <= FAR for e in errors)), median_text(errors), median_text(errors_of(predicted, values, gain_percent_of)), *against_null(predicted, values),
                     median_text(errors_of(predicted + chosen, values)), median_text(errors_of(predicted + chosen + fitted, values))])
    return table(head, rows, True)


def kernels_said(papers, values):
    """Returns what to say about the figures that the summary leaves out."""
    rows = predictions([one for _, _, tables in papers for one in tables if one.apart])
    null, ours = against_null(rows, values, 1)
    worse = sum(abs(null_percent_of(row)) <= abs(percent_of(row, values[id(row)])) for row in rows)
    return (f"The {len(rows)} figures of the NAS kernels are not in it. Most of their time is computing, which is fitted, and the paper changed them by a percent or so: the median error of "
            f"the model is {ours}, of the null model {null}, and {worse} of them are no better than the null model.")


def far_papers(papers, values):
    """Returns what to say about the papers whose predictions deviate too much."""
    far = []
    for name, _, tables in papers:
        errors = errors_of(predictions([one for one in tables if not one.apart]), values)
        if errors and statistics.median(errors) > FAR:
            far.append(f"**{name}: {median_text(errors)}, more than {FAR} %**")
    return f"The median of the predictions is too large for {'; '.join(far)}." if far else f"No paper's median is more than {FAR} %."


def classes(papers, values):
    """Returns the medians by class of figures."""
    rows = []
    for name in CLASSES:
        predicted = [row for one in counted_tables(papers) for row in one.rows if class_of(one, row) == name and is_prediction(row) and percent_of(row, 1) is not None]
        rows.append([name, str(len(predicted)), str(sum(e <= FAR for e in errors_of(predicted, values))), median_text(errors_of(predicted, values)),
                     median_text(errors_of(predicted, values, gain_percent_of)), *against_null(predicted, values)])
    return table(["class", "predictions", "within 15 %", "median error", "gains as gains", "null model", "ours of the same"], rows, True)


def ablation(papers, values, of_mechanisms):
    """Returns the medians without each mechanism: {mechanism: values}."""
    rows = [[name, *(median_text(errors_of(predictions([one for one in tables if not one.apart]), those)) for _, _, tables in papers),
             median_text(errors_of(predictions(counted_tables(papers)), those)), changed_text(papers, values, those)]
            for name, those in {"the model as it is": values, **of_mechanisms}.items()]
    return table(["", *(name for name, _, _ in papers), "all", "predictions that change by more than 1 %"], rows, True)


def changed_text(papers, values, others):
    rows = predictions(counted_tables(papers))
    return str(sum(abs(others[id(row)] - values[id(row)]) > 0.01 * abs(values[id(row)]) for row in rows))


def block_said(one, values):
    """Returns a sentence about the null model of a block, or nothing."""
    rows = [row for row in predictions([one]) if null_percent_of(row) is not None]
    if not rows:
        return []
    null, ours = against_null(rows, values)
    return [f"Predictions with a null model: {len(rows)}. Its median error is {null}, ours {ours}.", ""]
