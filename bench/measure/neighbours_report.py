# SPDX-License-Identifier: BSD-3-Clause
"""Tables of bench/neighbours."""
import statistics

# What the columns mean, below the table of each part.
LEGENDS = {
    "shares": "its Mb/s, theirs: what each sender puts on the wire in the same seconds, headers, losses and repetitions included; its share: of both together; "
              "of a fair one: that over 1 / (flows + 1); goodput: message bytes that arrived, over the whole time of the stream, which is longer; "
              "sent again: messages; the stream TCP is one more TCP flow.",
    "latency": "Times are half round trips; nothing: no other traffic; bare frames: packet sockets without any protocol, one frame at most; lost: round trips of these that are "
               "not among the times, because no protocol repeats a frame.",
    "incast": "all send: what all senders put on the wire, headers and repetitions included; lost: of these bytes; least of a fair share: of the sender that sent least, "
              "over the mean; Jain: index of fairness, 1 if all send the same, 1 / senders if one sends everything; goodput: message bytes that arrived.",
}


def jain(values):
    """Returns Jain's index of fairness: 1 if all are equal, 1/n if one has everything."""
    return sum(values) ** 2 / (len(values) * sum(value * value for value in values)) if any(values) else 0.0


def grouped(figures, part, *keys):
    groups = {}
    for figure in figures:
        if figure["part"] == part:
            groups.setdefault(tuple(figure[key] for key in keys), []).append(figure)
    return groups


def median(rows, key):
    found = [row[key] for row in rows if key in row]
    return statistics.median(found) if found else None


def text(value, digits=0):
    return "" if value is None else f"{value:.{digits}f}"


def goodput(rows):
    gigabits = median(rows, "goodput")
    return text(None if gigabits is None else gigabits * 1000)


def shares(figures):
    lines = ["| TCP flows beside | stream | its Mb/s | theirs | its share | of a fair one | goodput Mb/s | sent again | TCP's round trip us |", "|---|---|---|---|---|---|---|---|---|"]
    for (flows, what), rows in grouped(figures, "shares", "flows", "what").items():
        share = statistics.median(row["ours"] / max(row["ours"] + row["others"], 1e-9) for row in rows)
        lines.append(f"| {flows} | {what} | {text(median(rows, 'ours'))} | {text(median(rows, 'others'))} | {share * 100:.0f} % | {share * (flows + 1):.2f} "
                     f"| {goodput(rows)} | {text(median(rows, 'repeats'))} | {text(median(rows, 'tcp_us'))} |")
    return lines


def latency(figures):
    lines = ["| beside | ping-pong | bytes | median us | p99 us | p99.9 us | lost |", "|---|---|---|---|---|---|---|"]
    return lines + [f"| {beside} | {what} | {size} | {text(median(rows, 'median'), 1)} | {text(median(rows, 'p99'), 1)} | {text(median(rows, 'p999'), 1)} "
                    f"| {text(median(rows, 'lost'))} |"
                    for (beside, what, size), rows in grouped(figures, "latency", "beside", "what", "size").items()]


def incast(figures):
    lines = ["| senders | stream | all send Mb/s | lost | least of a fair share | Jain | goodput Mb/s |", "|---|---|---|---|---|---|---|"]
    for (senders, what), rows in grouped(figures, "incast", "senders", "what").items():
        total = statistics.median(sum(row["rates"]) for row in rows)
        least = statistics.median(min(row["rates"]) * senders / max(sum(row["rates"]), 1e-9) for row in rows)
        lost = statistics.median(max(1 - row["received"] / max(row["sent"], 1), 0) for row in rows)
        lines.append(f"| {senders} | {what} | {total:.0f} | {lost * 100:.1f} % | {least:.2f} | {statistics.median(jain(row['rates']) for row in rows):.3f} "
                     f"| {goodput(rows)} |")
    return lines


def render(figures):
    present = {figure["part"] for figure in figures}
    tables = [[*table(figures), "", LEGENDS[part]] for part, table in (("shares", shares), ("latency", latency), ("incast", incast)) if part in present]
    return "\n\n".join("\n".join(lines) for lines in tables)
