# SPDX-License-Identifier: BSD-3-Clause
"""Says what changed between two runs of bench/record beyond noise."""
import json
import math
import statistics

import record_file
from bench_run import MeasurementFailed

CHANGE_LEAST = 0.03  # what is less is not told, even if it is certain
DOUBT_MOST = 0.01  # chance that equal builds differ so much


def samples(runs):
    """Returns {(name, mode): values} and {name: what is better}."""
    values, better = {}, {}
    for run in runs:
        for figure in run["figures"]:
            values.setdefault((figure["name"], figure["mode"]), []).append(figure["value"])
            better[figure["name"]] = figure["better"]
    return values, better


def chance(before, after):
    """Returns how likely two samples of one distribution are ranked as differently as these or more so (Mann and Whitney, two-sided,
    exact without ties, and no less with them)."""
    n, m = len(before), len(after)
    wins = sum((b < a) + (b == a) / 2 for b in before for a in after)
    extreme = math.ceil(min(wins, n * m - wins))
    # ways[k]: arrangements of the ranks with k wins.
    ways = arrangements(n, m)
    tail = sum(count for won, count in enumerate(ways) if won <= extreme)
    return min(1.0, 2 * tail / math.comb(n + m, n))


def arrangements(n, m):
    """Returns, for each number of pairs won, how many orders of n and m values have it."""
    table = {(i, 0): [1] for i in range(n + 1)} | {(0, j): [1] for j in range(m + 1)}
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            # The largest value is one of the n, and wins against all m, or one of the m.
            counts = [0] * (i * j + 1)
            for won, count in enumerate(table[i - 1, j]):
                counts[won + j] += count
            for won, count in enumerate(table[i, j - 1]):
                counts[won] += count
            table[i, j] = counts
    return table[n, m]


def judged(name, before, after, better):
    """Returns (change, verdict)."""
    old, new = statistics.median(before), statistics.median(after)
    change = new / old
    exact = name.startswith("instructions")  # counted, not timed
    # Even if all values of one side are less, chance may be the reason.
    if not exact and 2 / math.comb(len(before) + len(after), len(before)) > DOUBT_MOST:
        return change, "too few rounds"
    certain = change != 1 if exact else chance(before, after) <= DOUBT_MOST
    if not certain or abs(change - 1) < (0.005 if exact else CHANGE_LEAST):
        return change, "same"
    return change, "better" if (change < 1) == (better == "less") else "worse"


def compare(before, after):
    """Returns the change of each figure that both have in the same mode. Bare frames and TCP show what the machine changed."""
    if before[-1]["machine"] != after[-1]["machine"]:
        raise MeasurementFailed("the two were measured on different machines, which says nothing of the commits: measure both on one")
    if len({json.dumps(run["settings"], sort_keys=True) for run in [*before, *after]}) > 1:
        raise MeasurementFailed("the runs were measured with different settings (OMX_...): name single runs by their numbers (--list)")
    (old, better), (new, _) = samples(before), samples(after)
    changes = []
    for name, mode in old:
        if (name, mode) not in new:
            continue
        change, verdict = judged(name, old[name, mode], new[name, mode], better[name])
        changes.append({"name": name, "mode": mode, "before": statistics.median(old[name, mode]), "after": statistics.median(new[name, mode]),
                        "rounds": (len(old[name, mode]), len(new[name, mode])), "change": change, "verdict": verdict})
    if not changes:
        raise MeasurementFailed("the two have no figure in the same mode of the machine: measure again when the modes are equal")
    for change in changes:
        # Where others changed as well, the machine is the likely cause.
        if change["verdict"] in ("better", "worse") and not ours(change["name"]):
            change["verdict"] = "machine"
    return changes


def ours(name):
    return " floor " not in name and " tcp " not in name


def describe(runs):
    return f"{record_file.name_of(runs[-1])} ({len(runs)} run{'s' if len(runs) > 1 else ''}, the last of {runs[-1]['time']})"


def render(before, after, changes, everything):
    shown = [change for change in changes if everything or change["verdict"] not in ("same", "too few rounds")]
    lines = [f"before: {describe(before)}", f"after:  {describe(after)}"]
    lines += [f"in doubt: {run['doubt']} ({record_file.name_of(run)})" for run in [*before, *after] if run["doubt"]]
    for change in shown:
        lines.append(f"{change['verdict']:<14} {change['name']:<44} {change['mode']:<5} {change['before']:>10.3f} {change['after']:>10.3f}  "
                     f"{change['change']:.3f}  ({change['rounds'][0]} and {change['rounds'][1]} rounds)")
    count = {verdict: sum(change["verdict"] == verdict for change in changes) for verdict in ("better", "worse", "machine", "same", "too few rounds")}
    timed = sum(not change["name"].startswith("instructions") and change["verdict"] != "too few rounds" for change in changes)
    lines.append(f"{len(changes)} figures: {count['better']} better, {count['worse']} worse, {count['same']} same, {count['too few rounds']} with too few rounds to say. "
                 f"Chance alone makes about {timed * DOUBT_MOST:.1f} of them differ, if nothing else changed between the two: measure again, in turn, what counts.")
    if count["machine"]:
        lines.append(f"Bare frames or TCP changed in {count['machine']} figures (machine), so the machine did: read changes of the same kind with care.")
    return "\n".join(lines)


def summary(run):
    """Returns the medians of a run, with their ratios to bare frames and TCP."""
    values, _ = samples([run])
    lines = [f"{record_file.name_of(run)}, {run['machine']['cpu']}, kernel {run['machine']['kernel']}"]
    for (name, mode), samples_of in values.items():
        if not ours(name):
            continue
        median = statistics.median(samples_of)
        ratios = []
        for other, title in (("floor", "of bare frames"), ("tcp", "of TCP")):
            peer = values.get((name.replace(" omx ", f" {other} "), mode))
            if peer and " omx " in name:
                ratios.append(f"{median / statistics.median(peer):.2f} {title}")
        lines.append(f"{name:<44} {mode:<5} {median:>10.3f}  {', '.join(ratios)}".rstrip())
    return "\n".join(lines)
