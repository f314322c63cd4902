# SPDX-License-Identifier: BSD-3-Clause
"""Prints what bench/moderation measured: as text, and as tables and a plot for docs."""
import os
import platform
import statistics

from bench_run import MeasurementFailed
from compare_report import size_text, table
from plotting import gnuplot_draw

STRATEGIES = ("frame", "timer", "message", "stream", "adaptive")
SIZES = (8, 64, 512, 4096, 32768, 65536, 1 << 18, 1 << 20, 4 << 20)
WAYS = ("bulk path", "frames")
BAR = 46  # characters of the longest bar
PAGE, PLOT = "waiting.md", "moderation.svg"
BEGIN, END = "<!-- written by bench/moderation: begin -->", "<!-- written by bench/moderation: end -->"


def medians(rounds):
    """Returns {strategy: {figure: median}}."""
    return {name: {key: statistics.median(one[name][key] for one in rounds) for key in rounds[0][name]}
            for name in STRATEGIES}


def sizes_of(figures):
    return sorted(int(key.split()[1]) for key in figures[STRATEGIES[0]] if key.startswith("pingpong "))


def latency_table(figures, markdown):
    sizes = sizes_of(figures)
    head = ["strategy", *(f"{size_text(size)} us" for size in sizes), "8 B M/s"]
    rows = [[name, *(f"{figures[name][f'pingpong {size}']:.1f}" for size in sizes), f"{figures[name]['rate 8']:.3f}"]
            for name in STRATEGIES]
    return table(head, rows, markdown)


def stream_table(figures, markdown):
    head = ["strategy"] + [f"{way}: {what}" for way in WAYS for what in ("wake-ups", "frames", "deaf", "Gb/s")]
    rows = [[name, *(text for way in WAYS for text in (
        f"{figures[name][f'{way} wakeups']:.2f}", f"{figures[name][f'{way} frames']:.0f}",
        f"{figures[name][f'{way} deaf']:.2f}", f"{figures[name][f'{way} gbps']:.1f}"))] for name in STRATEGIES]
    return table(head, rows, markdown)


def bars(figures):
    """Draws half round trips as bars, relative to the slowest strategy of each size."""
    lines = []
    for size in sizes_of(figures):
        slowest = max(figures[name][f"pingpong {size}"] for name in STRATEGIES)
        lines.append(f"{size_text(size)}, half round trip")
        for name in STRATEGIES:
            us = figures[name][f"pingpong {size}"]
            lines.append(f"  {name:<8} {'#' * max(1, round(BAR * us / slowest))} {us:.1f} us")
    return lines


def shares(figures):
    frame, message = figures["frame"], figures["message"]
    return (f"message over frame: wake-ups of 1 MiB messages {message['frames wakeups'] / frame['frames wakeups']:.2f} by frames, "
            f"{message['bulk path wakeups'] / frame['bulk path wakeups']:.2f} by the bulk path; half round trips "
            + ", ".join(f"{message[f'pingpong {size}'] / frame[f'pingpong {size}']:.2f}" for size in sizes_of(figures)))


def render(figures, rounds, doubt, markdown):
    lines = [f"Asleep between frames, medians of {rounds} rounds. Half round trips, and small messages", "",
             *latency_table(figures, markdown), "",
             "A stream of 1 MiB messages, for each message; deaf: sleeps that no solicited frame could end", "",
             *stream_table(figures, markdown), "", *bars(figures), "", shares(figures)]
    if doubt:
        lines += ["", f"{doubt}: these figures do not count"]
    return "\n".join(lines)


def place_find(folder):
    """Finds our part of the page. Returns the text before and behind it. A folder without the page gets a new page."""
    path = os.path.join(folder, PAGE)
    if not os.path.isdir(folder):
        raise MeasurementFailed(f"there is no folder {folder}: make it, or name another with --docs")
    if not os.path.exists(path):
        return "", ""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, behind = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in behind:
        raise MeasurementFailed(f"{path} does not say where the tables go: put \"{BEGIN}\" and \"{END}\" there, once, as lines")
    return before, behind


def write(gnuplot, folder, figures, how, doubt):
    before, behind = place_find(folder)
    draw(gnuplot, figures, os.path.join(folder, PLOT))
    lines = [BEGIN, f"`{how}`, Linux {platform.release().split('-')[0]}, {os.cpu_count()} processors, medians. Half round trips, and millions of messages of 8 B a second:",
             "", *latency_table(figures, True), "",
             "A stream of 1 MiB messages, by the bulk path and by frames (`OMX_UDP_BULK=0`): wake-ups of the receiver, frames that came, and sleeps that no solicited frame could end (deaf), for each message; and its rate:",
             "", *stream_table(figures, True), "", shares(figures)[0].upper() + shares(figures)[1:] + ".", ""]
    if doubt:
        lines += [f"**These figures do not count: {doubt}.**", ""]
    lines += [f"![What each strategy costs and saves]({PLOT})", END]
    path = os.path.join(folder, PAGE)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(before + "\n".join(lines) + (behind or "\n"))
    os.replace(path + ".new", path)


def data(name, rows):
    return [f"${name} << EOD", *(" ".join(map(str, row)) for row in rows), "EOD"]


def draw(gnuplot, figures, path):
    """Plots half round trips over sizes, and below them the rate and the wake-ups."""
    sizes = sizes_of(figures)
    ticks = ", ".join(f'"{size_text(size)}" {size}' for size in sizes)
    script = [f"set terminal svg size 900,760 font 'sans,12' background 'white'; set output '{path}'",
              *data("latency", [[size, *(figures[name][f"pingpong {size}"] for name in STRATEGIES)] for size in sizes]),
              *data("rate", [[name, figures[name]["rate 8"]] for name in STRATEGIES]),
              *data("wakeups", [[name, *(figures[name][f"{way} wakeups"] for way in WAYS)] for name in STRATEGIES]),
              "set multiplot; set grid",
              "set origin 0,0.42; set size 1,0.58; set title 'Half round trip, both ends asleep between frames'; set ylabel 'us'",
              f"set logscale x 2; set logscale y 10; set xtics ({ticks}); set key outside right",
              "plot " + ", ".join(f"$latency using 1:{i + 2} with linespoints title '{name}'" for i, name in enumerate(STRATEGIES)),
              "unset logscale; set style data histograms; set style fill solid 0.8; set boxwidth 0.8; set xtics autofreq; set xtics rotate by -30 nomirror; set grid noxtics ytics",
              "set origin 0,0; set size 0.45,0.42; set title 'Messages of 8 B'; set ylabel 'millions a second'; unset key; set yrange [0:*]",
              "plot $rate using 2:xtic(1)",
              "set origin 0.45,0; set size 0.55,0.42; set title 'Wake-ups for each message of 1 MiB'; unset ylabel; set key inside right top; set style histogram clustered gap 1",
              "plot " + ", ".join(f"$wakeups using {i + 2}:xtic(1) title 'by {way}'" for i, way in enumerate(WAYS)),
              "unset multiplot"]
    gnuplot_draw(gnuplot, script, path)
