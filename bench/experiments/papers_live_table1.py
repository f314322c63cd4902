# SPDX-License-Identifier: BSD-3-Clause
"""Writes [J] Table 1 from what bench/papers --live measured: IMB's operations over Open-MX, Open-MX in frames only, TCP, and bare frames."""
import os
import statistics

from compare_report import size_text, table
from papers_live_tables import JUMBO, NAMES, TABLE1, TABLE1_SIZES, faster, operation_key, over_tcp
from plotting import gnuplot_draw

RANKS = (2, 4)
NOTHING = "–"
CONTENDERS = {"omx": "", "frames": ", frames only"}
BARS = {(2, "omx"): "2 ranks", (2, "frames"): "2 ranks, frames only", (4, "omx"): "4 ranks"}
HALVES, TWICE = "reduce_scatter", "exchange"  # operations of two ranks that do not send one message each way

TEXT = """\
## [J] Table 1: IMB operations, Open-MX over TCP

The tables show by how many per cent an operation is faster over Open-MX (the time over TCP divided by the time over Open-MX, less 1). The paper's column has 16 processes on two nodes with I/OAT.
Our columns have 2 ranks with a processor each, and 4 ranks of which two share each host's processor and yield while they wait. Operations are timed as IMB does it
(`bench/jobs/mpi_collectives.c`), after each byte of a result was checked. Rows without published figures are operations of IMB that the paper's table does not have. *In italics*: the rounds do not
agree about which transport was faster.

*Frames only* is Open-MX without batches by UDP (`OMX_UDP_BULK=0`), which the papers' did not have: all is in frames of the cable's MTU, as on theirs. *Bare frames* is by how much an operation of 2
ranks would be faster than over TCP if its messages took what bare frames take on this cable (`omx_floor`: packet sockets and no protocol; half a round trip up to one frame, above it a message's
part of a stream whose data are put into their place). Each way that is one message, two in Exchange, half of one in Reduce_scatter, an empty one in Barrier. For a
program that hands single frames to the kernel this is a bound of what it can reach in one direction: where both ways are busy at once, the floor was measured in one only. Batches by UDP pass the
bound, where a cable does not cut them."""

NOTES = (
    "With 4 ranks a part of all messages stays inside a host, where Open MPI over TCP uses its own shared memory (vader) and Open-MX its own, as in the paper. Each rank is the root in turn.",
    "16 B: latency decides. The papers' TCP had 13.2 us to Open-MX's 7.3; the next section has today's.",
    "64 KiB is the largest message that Open-MX sends without asking here, and what the kernel takes from TCP in one call: the size at which TCP is at its best ([notebook.md](notebook.md)).",
    "The paper's Bcast and Reduce of 4 MB lose to TCP (of Bcast: \"it is not clear why\"). Open MPI chooses the algorithms of operations by size and ranks, alike for both transports; "
    "sums are added by the processor in both.",
)


def percent_text(value, sure=True):
    text = f"{value:+.0f} %"
    return text if sure else f"*{text}*"


def gain_text(figures, ranks, operation, size, contender="omx"):
    try:
        keys = over_tcp(ranks, operation, size, contender)
        return percent_text(faster(*keys)(figures), figures.agree(*keys))
    except KeyError:
        return NOTHING


def bare_us(figures, operation, size):
    """Returns what the messages of an operation of two ranks take as bare frames."""
    bytes_each = 0 if operation == "barrier" else size // 2 if operation == HALVES else size
    return figures(JUMBO, "imb2", "bare", bytes_each) * (2 if operation == TWICE else 1)


def bare_gain(figures, operation, size):
    return (figures(*operation_key(2, "tcp", operation, size)) / bare_us(figures, operation, size) - 1) * 100


def text_or_nothing(function, *arguments):
    try:
        return function(*arguments)
    except KeyError:
        return NOTHING


def us_text(us):
    return f"{us:.1f}" if us < 100 else f"{us:,.0f}"


def time_text(figures, key):
    return text_or_nothing(lambda: us_text(figures(*key)))


def operations_of(figures, size):
    """Returns the operations in the table of a size. Barrier has no size and stands in the first table."""
    return [name for name in NAMES if name != "barrier" or size == sizes_measured(figures)[0]]


def sizes_measured(figures):
    return [size for size in TABLE1_SIZES if gain_text(figures, RANKS[0], "sendrecv", size) != NOTHING]


def balance_lines(figures):
    """Says for each number of ranks how often Open-MX is faster, and where it is not."""
    for ranks in RANKS:
        for contender, more in CONTENDERS.items():
            gains = {}
            for size in sizes_measured(figures):
                for operation in operations_of(figures, size):
                    try:
                        what = NAMES[operation] if operation == "barrier" else f"{NAMES[operation]} {size_text(size)}"
                        gains[what] = faster(*over_tcp(ranks, operation, size, contender))(figures)
                    except KeyError:
                        continue
            slower = [f"{what} ({gain:+.0f} %)" for what, gain in gains.items() if gain < 0]
            if gains:
                yield (f"{ranks} ranks{more}: Open-MX is faster in {len(gains) - len(slower)} of {len(gains)}, the median gain is "
                       f"{statistics.median(gains.values()):+.0f} %; it is slower in {', '.join(slower) or 'none'}.")


def distance_lines(figures):
    """Says for each size how far operations of two ranks are from bare frames."""
    texts = []
    for size in sizes_measured(figures):
        parts = []
        for contender, name in (("frames", "frames only"), ("omx", "default"), ("tcp", "TCP")):
            try:
                found = [figures(*operation_key(2, contender, o, size)) / bare_us(figures, o, size) for o in operations_of(figures, size)]
            except KeyError:
                continue
            parts.append(f"{name} {statistics.median(found):.2g} ({min(found):.2g} to {max(found):.2g})")
        if parts:
            texts.append(f"{size_text(size)}: {', '.join(parts)}")
    if texts:
        yield f"2 ranks, times of bare frames, median of the operations (least to most): {'; '.join(texts)}."


def size_lines(figures, size):
    head = ["operation", "published", *(f"{n} ranks{more}" for n in RANKS for more in CONTENDERS.values()), "2 ranks, bare frames"]
    times_head = ["us", *(f"{n} ranks: {who}" for n in RANKS for who in ("Open-MX", "frames only", "TCP", *(["bare frames"] if n == 2 else [])))]
    rows, times = [], []
    for operation in operations_of(figures, size):
        published, place = TABLE1.get(operation), 0 if operation == "barrier" else TABLE1_SIZES.index(size)
        known = published and len(published) > place
        rows.append([NAMES[operation], f"{published[place]:+g} %" if known else NOTHING,
                     *(gain_text(figures, n, operation, size, who) for n in RANKS for who in CONTENDERS),
                     text_or_nothing(lambda o=operation: percent_text(bare_gain(figures, o, size)))])
        two, four = ([time_text(figures, operation_key(n, who, operation, size)) for who in ("omx", "frames", "tcp")] for n in RANKS)
        times.append([NAMES[operation], *two, text_or_nothing(lambda o=operation: us_text(bare_us(figures, o, size))), *four])
    return [f"### {size_text(size)}", "", *table(head, rows, True), "", "The times, medians of the rounds:", "", *table(times_head, times, True), "",
            *([f"![[J] Table 1, {size_text(size)}](evaluation/{bars_name(size)}.svg)", ""] if bars_of(figures, size) else [])]


def table1_lines(figures, rounds):
    return [TEXT, "", rounds, "", *(f"* {note}" for note in (*balance_lines(figures), *distance_lines(figures), *NOTES)), "",
            *(line for size in sizes_measured(figures) for line in size_lines(figures, size))]


# --- plots ---

def bars_name(size):
    return f"live-table1-{size}"


def bars_of(figures, size):
    """Returns the lines to draw: an operation, the published gain, ours for each of BARS, and that of bare frames."""
    place, data = TABLE1_SIZES.index(size), []
    for operation, name in NAMES.items():
        if operation not in TABLE1 or len(TABLE1[operation]) <= place:
            continue
        try:
            gains = [faster(*over_tcp(n, operation, size, who))(figures) for n, who in BARS] + [bare_gain(figures, operation, size)]
        except KeyError:
            continue
        data.append(" ".join([name, f"{TABLE1[operation][place]:g}", *(f"{gain:.1f}" for gain in gains)]))
    return data


def bars_draw(program, figures, size, folder):
    data = bars_of(figures, size)
    if not data:
        return
    titles = [*BARS.values(), "bare frames"]
    script = [f"set terminal svg size 900,380 font 'sans,12' background 'white'; set output '{os.path.join(folder, bars_name(size))}.svg'",
              f"set title \"[J] Table 1, {size_text(size)}: faster over Open-MX than over TCP\"; set ylabel '%'; set key outside right; set grid y",
              "set style data histograms; set style histogram clustered gap 1; set style fill solid 0.8; set xzeroaxis lt -1; set xtics rotate by -30 nomirror",
              "$gains << EOD", *data, "EOD",
              "plot $gains using 2:xtic(1) title 'published', " + ", ".join(f"$gains using {i + 3} title '{title}'" for i, title in enumerate(titles))]
    gnuplot_draw(program, script, bars_name(size))
