# SPDX-License-Identifier: BSD-3-Clause
"""The front of load against latency: which choices no other beats in both, and how far a choice is from them.

A point is a dictionary with what was chosen ("strategy", "delay_us"), where ("case", "rate", "senders"), and what came out."""
from compare_report import size_text, table
from plotting import gnuplot_draw

LOADS = {"cpu_us": "processor time", "wakeups": "wake-ups"}
LATENCIES = {"p50_us": "p50", "p99_us": "p99"}
NEAR = 0.10
COLUMNS = 3  # of pictures in a row
PICTURES = 12  # beyond this number only some places are drawn
COLOURS = ("#888888", "#1f77b4", "#2ca02c", "#ff7f0e", "#d62728")


def places(points):
    """Returns {(case, rate, senders): points there}."""
    found = {}
    for point in points:
        found.setdefault((point["case"], point["rate"], point["senders"]), []).append(point)
    return found


def front(points, load, latency):
    """Returns the points that no other point beats in one without being worse in the other."""
    return [one for one in points
            if not any(other[load] <= one[load] and other[latency] <= one[latency] and
                       (other[load] < one[load] or other[latency] < one[latency]) for other in points)]


def distance(point, on_front, load, latency):
    """Returns by what share the point is worse than the nearest of the front, in that of both in which it is more so; 0 on the front."""
    def ratio(key, other):
        return 1.0 if point[key] == other[key] else point[key] / other[key] if other[key] else float("inf")
    return min(max(ratio(load, other), ratio(latency, other), 1.0) for other in on_front) - 1


def judged(points):
    """Returns {(load, latency): {strategy: [(distance, point) of each of its points]}}."""
    result = {}
    for load in LOADS:
        for latency in LATENCIES:
            by_strategy = result[load, latency] = {}
            for here in places(points).values():
                best = front(here, load, latency)
                for point in here:
                    by_strategy.setdefault(point["strategy"], []).append((distance(point, best, load, latency), point))
    return result


def where(point):
    return f"{point['case']}, {point['rate']:,}/s, {point['senders']} sender{'s' if point['senders'] > 1 else ''}, {point['delay_us']} us"


def summary(points, markdown):
    """Returns the table of each strategy: how many of its points are on the front, and off it by more than NEAR, and the worst."""
    head = ["load", "latency", "strategy", "points", "on the front", f"off by more than {NEAR:.0%}".replace("%", " %"), "the worst", "there"]
    rows = []
    for (load, latency), by_strategy in judged(points).items():
        for strategy, found in by_strategy.items():
            worst, point = max(found, key=lambda one: one[0])
            rows.append([LOADS[load], LATENCIES[latency], strategy, str(len(found)), str(sum(far == 0 for far, _ in found)),
                         str(sum(far > NEAR for far, _ in found)), f"{worst * 100:.0f} %", where(point) if worst > 0 else ""])
    return table(head, rows, markdown)


def off_front(points, strategy, load, latency):
    """Returns the points of a strategy that are off the front by more than NEAR, farthest first."""
    found = judged(points)[load, latency].get(strategy, [])
    return sorted(((far, point) for far, point in found if far > NEAR), key=lambda one: -one[0])


def drawn(here):
    """Returns all places, or of many those with the least and the most messages a second and senders in each case."""
    if len(here) <= PICTURES:
        return here
    rates, senders = {}, {key[2] for key in here}
    for case, rate, _ in here:
        rates.setdefault(case, set()).add(rate)
    return {key: at for key, at in here.items()
            if key[1] in (min(rates[key[0]]), max(rates[key[0]])) and key[2] in (min(senders), max(senders))}


def draw(gnuplot, points, path, title):
    """Draws processor time against p99, a picture for each of the places that are drawn."""
    here = drawn(places(points))
    strategies = list(dict.fromkeys(point["strategy"] for point in points))
    rows = -(-len(here) // COLUMNS)
    script = [f"set terminal svg size {COLUMNS * 330},{rows * 250 + 60} font 'sans,10' background 'white'; set output '{path}'",
              f"set multiplot layout {rows},{COLUMNS} title '{title}'", "set grid; set logscale x 10; set key off",
              "set xlabel 'p99, us' offset 0,0.6; set ylabel 'us of the receiver a message' offset 1.5"]
    for number, ((case, rate, senders), at) in enumerate(here.items()):
        script.append(f"set title '{case}, {rate:,}/s, {senders} sender{'s' if senders > 1 else ''}' offset 0,-0.6")
        plots = []
        for index, strategy in enumerate(strategies):
            name = f"$d{number}_{index}"
            lines = sorted((point["p99_us"], point["cpu_us"]) for point in at if point["strategy"] == strategy)
            if not lines:
                continue
            script += [f"{name} << EOD", *(f"{x} {y}" for x, y in lines), "EOD"]
            plots.append(f"{name} using 1:2 with points pointtype {index + 4} pointsize 0.9 linecolor rgb '{COLOURS[index]}' title '{strategy}'")
        best = sorted((point["p99_us"], point["cpu_us"]) for point in front(at, "cpu_us", "p99_us"))
        script += [f"$f{number} << EOD", *(f"{x} {y}" for x, y in best), "EOD"]
        plots.insert(0, f"$f{number} using 1:2 with steps linecolor rgb '#bbbbbb' title 'front'")
        script += ["set key top right" if number == 0 else "set key off", "plot " + ", ".join(plots)]
    script.append("unset multiplot")
    gnuplot_draw(gnuplot, script, path)


def case_name(size, mtu, gbits):
    return f"{size_text(size)}, MTU {mtu}, {gbits} Gb/s"
