# SPDX-License-Identifier: BSD-3-Clause
"""Prints what bench/front measured: as text, and as the table and the plot of the front page."""
import json
import os
import statistics
import textwrap

from bench_run import MeasurementFailed
from compare_report import size_text, table
from plotting import gnuplot_draw

NAMES = {"raw": "Open-MX, raw frames", "udp": "Open-MX by UDP", "ucx": "UCX over TCP", "tcp": "Open MPI's TCP", "floor": "bare frames"}
COLOURS = {"raw": "#1f5fa8", "udp": "#4b9bd8", "ucx": "#c0602c", "tcp": "#8b6d2c", "floor": "#777777"}
HEADS = {"raw": "Open-MX raw", "udp": "Open-MX UDP", "ucx": "UCX/TCP", "tcp": "MPI's TCP", "floor": "bare frames"}
TIMES, RATES = (8, 1024), (64 * 1024, 4 * 1024 * 1024)  # the sizes of the table
PAGE, PLOT, DATA = "README.md", "docs/pictures/numbers.svg", "docs/pictures/numbers.json"
BEGIN, END = "<!-- written by bench/front: begin -->", "<!-- written by bench/front: end -->"


def reread(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as problem:
        raise MeasurementFailed(f"{path} cannot be read as what bench/front keeps: {problem}") from None


def summarize(kept):
    """Returns {way: {size: seconds of half a round trip}}: medians of the rounds. On a busy machine it takes the best rounds,
    because other work only adds time."""
    samples, of = {}, min if kept["doubt"] else statistics.median
    for way, size, seconds in kept["figures"]:
        samples.setdefault(way, {}).setdefault(size, []).append(seconds)
    return {way: {size: of(values) for size, values in sorted(rows.items())} for way, rows in samples.items()}


def gbps(size, seconds):
    return size * 8e-9 / seconds


def front_table(kept, markdown):
    figures = summarize(kept)
    ways = [way for way in NAMES if way in figures]
    rows = [[f"{size_text(size)}: half round trip, us", *(f"{figures[way][size] * 1e6:.1f}" if size in figures[way] else "–" for way in ways)]
            for size in TIMES]
    rows += [[f"{size_text(size)}: Gb/s", *(f"{gbps(size, figures[way][size]):.1f}" if size in figures[way] else "–" for way in ways)]
             for size in RATES]
    return table(["MPI ping-pong", *(HEADS[way] for way in ways)], rows, markdown)


def facts(kept):
    rounds = f"{kept['rounds']} round{'s' * (kept['rounds'] > 1)}"
    text = (f"Measured {kept['date']} by `{kept['command']}` on a virtual machine ({kept['processor']}, {kept['processors']} "
            f"processors, Linux {kept['linux']}): {'the best' if kept['doubt'] else 'medians'} of {rounds} of NetPIPE, both ends poll. The two hosts are network "
            f"namespaces, joined by a virtual cable (veth) of MTU {kept['mtu']}; no physical NIC took part. \"Raw\" is "
            "as by default: large messages go by UDP. Bare frames are packet sockets without a protocol, up to one frame.")
    if kept["doubt"]:
        text += f" **Preliminary: {kept['doubt']}.**"
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def render(kept):
    return "\n".join([*front_table(kept, False), "", *facts(kept)])


def place_find(folder):
    """Finds our part of the page. Returns the text before and behind it."""
    path = os.path.join(folder, PAGE)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as reason:
        raise MeasurementFailed(f"{path} cannot be read: {reason.strerror}") from None
    before, begin, rest = text.partition(BEGIN)
    _, end, behind = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in behind:
        raise MeasurementFailed(f"{path} does not say where the table goes: put \"{BEGIN}\" and \"{END}\" there, once, as lines")
    return before, behind


def write(gnuplot, folder, kept):
    before, behind = place_find(folder)
    os.makedirs(os.path.dirname(os.path.join(folder, PLOT)), exist_ok=True)
    draw(gnuplot, summarize(kept), os.path.join(folder, PLOT))
    with open(os.path.join(folder, DATA), "w", encoding="utf-8") as file:
        json.dump(kept, file)
        file.write("\n")
    lines = [BEGIN, f"![Half round trip and bandwidth by size]({PLOT})", "", *front_table(kept, True), "", *facts(kept), END]
    path = os.path.join(folder, PAGE)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(before + "\n".join(lines) + behind)
    os.replace(path + ".new", path)


def draw(gnuplot, figures, path):
    """Plots half round trips on the left and bandwidth on the right, both by size."""
    ways = [way for way in NAMES if way in figures]
    ticks = ", ".join(f'"{size_text(1 << power)}" {1 << power}' for power in range(0, 23, 4))
    lines = ", ".join(f"$times using 1:{index + 2} with linespoints lc rgb '{COLOURS[way]}' lw 2 pt 7 ps 0.35 title \"{NAMES[way]}\""
                      for index, way in enumerate(ways))
    sizes = sorted({size for rows in figures.values() for size in rows})
    rows = [" ".join([str(size), *(f"{figures[way][size] * 1e6:.3f}" if size in figures[way] else "NaN" for way in ways)]) for size in sizes]
    rates = ", ".join(f"$times using 1:($1*8e-3/${index + 2}) with linespoints lc rgb '{COLOURS[way]}' lw 2 pt 7 ps 0.35 title \"{NAMES[way]}\""
                      for index, way in enumerate(ways))
    script = [f"set terminal svg size 960,400 font 'sans,12' background '#fbfbf8'; set output '{path}'",
              "set datafile missing 'NaN'", "$times << EOD", *rows, "EOD",
              f"set multiplot layout 1,2; set grid; set logscale x 2; set xtics ({ticks}); set xrange [1:{max(sizes)}]; set key top left",
              "set logscale y 10; set ylabel 'us'; set title 'Half round trip by size of the message'",
              f"plot {lines}",
              "unset logscale y; set ylabel 'Gb/s'; set title 'Bandwidth by size of the message'; unset key",
              f"plot {rates}", "unset multiplot"]
    gnuplot_draw(gnuplot, script, path)
