# SPDX-License-Identifier: BSD-3-Clause
"""Computes medians, ratios and acceptance targets of bench/compare, and prints its tables."""
import os
import platform
import statistics

KIB, MIB = 1024, 1024 * 1024
KINDS = {
    "pingpong": ("Ping-pong: half round trip in us", "{:.2f}"),
    "stream": ("Stream: Gb/s", "{:.2f}"),
    "rate": ("Small messages in one direction: million per second", "{:.3f}"),
}
CONTENDERS = ("omx", "floor", "tcp")
TINY = 32  # bytes: largest size of the latency targets


# Explains why TCP is faster there (figures in docs/performance/notebook.md).
TCP_AHEAD = (
    "/TCP over 1 in a ping-pong, or under 1 in a stream: TCP is ahead, usually from 16 to 256 KiB. Both hand the kernel",
    "64 KiB at a time, which a virtual cable never cuts into frames; large messages of Open-MX also ask before they",
    "send. Bare raw frames (the floor) cost 1 to 2 us of a processor each. On a real NIC, that cuts, it has not been",
    "measured.",
)


def summarize(mtu, measured, planned):
    """Returns {"mtu", "rounds", "planned", "medians": {kind: {size: {contender: median}}}, "figures"}."""
    samples = {}
    for kind, contender, size, figure in measured["figures"]:
        samples.setdefault(kind, {}).setdefault(size, {}).setdefault(contender, []).append(figure)
    medians = {
        kind: {size: {who: statistics.median(values) for who, values in of_size.items()}
               for size, of_size in sorted(of_kind.items())}
        for kind, of_kind in samples.items()
    }
    return {"mtu": mtu, "planned": planned, "medians": medians, **measured}


def ratio(row, other):
    if "omx" not in row or not row.get(other):
        return None
    return row["omx"] / row[other]


def check_targets(results):
    """Returns the targets of Open-MX, each with the measured value that decides."""
    targets = []

    def target(mtu, text, worst, holds):
        targets.append({"mtu": mtu, "target": text, "measured": worst, "holds": bool(holds)})

    for result in results:
        mtu, medians = result["mtu"], result["medians"]
        tiny = [row for size, row in medians.get("pingpong", {}).items() if size <= TINY]
        for other, name, limit in (("floor", "the floor's", 1.35), ("tcp", "polled TCP's", 0.5)):
            ratios = [r for r in (ratio(row, other) for row in tiny) if r is not None]
            if ratios:
                target(mtu, f"half round trip of 0 to {TINY} bytes at most {limit} times {name}",
                       max(ratios), max(ratios) <= limit)
        streams = [r for r in (ratio(row, "floor") for row in medians.get("stream", {}).values()) if r is not None]
        if streams:
            target(mtu, "streams of 64 KiB to 4 MiB at least 0.9 times the floor's", min(streams), min(streams) >= 0.9)
        large = medians.get("stream", {}).get(4 * MIB)
        if large and mtu == 9000:
            to_floor, to_tcp = ratio(large, "floor"), ratio(large, "tcp")
            if to_floor is not None:
                target(mtu, "stream of 4 MiB messages at least 0.8 times the floor's",
                       to_floor, to_floor >= 0.8)
            if to_tcp is not None:
                target(mtu, "stream of 4 MiB messages above TCP's (ratio over 1)",
                       to_tcp, to_tcp > 1)
        for size, row in medians.get("rate", {}).items():
            target(mtu, f"over 0.4 million messages of {size} bytes a second",
                   row["omx"], row["omx"] > 0.4)
    return targets


def size_text(size):
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def table(head, rows, markdown):
    cells = [head] + rows
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]

    def line(row):
        padded = [text.rjust(width) for text, width in zip(row, widths)]
        return "| " + " | ".join(padded) + " |" if markdown else "  " + "  ".join(padded)

    lines = [line(head)]
    if markdown:
        lines.append("|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|")
    return lines + [line(row) for row in rows]


def kind_rows(medians, form):
    def figure(row, who):
        return form.format(row[who]) if who in row else "-"

    def share(row, who):
        value = ratio(row, who)
        return "-" if value is None else f"{value:.2f}"

    return [[size_text(size), *(figure(row, who) for who in CONTENDERS),
             share(row, "floor"), share(row, "tcp")] for size, row in medians.items()]


def bytes_lines(of_kind):
    """Compares with bare frames as one stream of bytes, beside the floor by messages."""
    rows = [(size, row["bytes"], ratio(row, "bytes")) for size, row in of_kind.items() if "bytes" in row and "omx" in row]
    if rows:
        yield (f"  Bare frames as one stream of bytes, without messages: {rows[0][1]:.1f} Gb/s; Open-MX of that: "
               + ", ".join(f"{size_text(size)} {share:.2f}" for size, _, share in rows))


def target_lines(targets, doubt, markdown):
    """Formats targets, which are (text, measured, holds). With a doubt about the figures none counts, so none is listed."""
    bullet = "- " if markdown else "  "
    for text, measured, holds in [] if doubt else targets:
        yield f"{bullet}{'holds ' if holds else 'MISSED'} {text} (measured {measured:.2f})"


def targets_heading(doubt):
    return f"Targets are not judged, as {doubt}: these figures do not count" if doubt else "Targets"


def rounds_text(count, planned):
    text = f"medians of {count} rounds" if count > 1 else "one round"
    return text if count >= planned else f"{text} of {planned}, as time was up"


def tcp_is_ahead(medians):
    def over(kind, beats):
        ratios = [ratio(row, "tcp") for row in medians.get(kind, {}).values()]
        return any(r is not None and beats(r) for r in ratios)

    return over("pingpong", lambda r: r > 1) or over("stream", lambda r: r < 1)


def render(results, targets, doubt, markdown):
    heading = "### " if markdown else ""
    gap = [""] if markdown else []
    lines = []
    for result in results:
        note = rounds_text(result["rounds"], result["planned"])
        for kind, (title, form) in KINDS.items():
            if kind not in result["medians"]:
                continue
            lines += ["", f"{heading}MTU {result['mtu']}. {title} ({note})", *gap]
            lines += table(["bytes", "Open-MX", "floor", "TCP", "/floor", "/TCP"],
                           kind_rows(result["medians"][kind], form), markdown)
            lines += [*gap, *bytes_lines(result["medians"][kind])]
    if any(tcp_is_ahead(result["medians"]) for result in results):
        lines += ["", *TCP_AHEAD]
    lines += ["", heading + targets_heading(doubt), *gap]
    lines += target_lines([(f"MTU {target['mtu']}: {target['target']}", target["measured"], target["holds"])
                           for target in targets], doubt, markdown)
    return "\n".join(lines).lstrip("\n")


def document(results, targets, doubt):
    settings = {name: value for name, value in os.environ.items()
                if name.startswith(("OMX_", "MX_"))}
    return {"machine": {"kernel": platform.release(), "cores": os.cpu_count()},
            "settings": settings, "doubt": doubt, "results": results, "targets": targets}
