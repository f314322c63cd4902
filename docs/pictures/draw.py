#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of the documents: each NAME.txt of this folder becomes NAME.svg.

    draw.py            writes all pictures
    draw.py --check    writes nothing; status 1 if a picture differs from its text

A text is one of two kinds; its first line names the kind and the title. `#` begins a comment.

    blocks TITLE
    columns N                                     the width of the grid
    box NAME ROW COLUMN[-COLUMN] [STYLE]: TEXT    lines of TEXT are separated by /; [word] is a part of the box
    arrow NAME -> NAME [: LABEL]                  straight where the boxes overlap, else with a corner
    note TEXT                                     a line below the picture

    sequence TITLE
    actor NAME: TEXT                              from left to right
    NAME -> NAME: TEXT                            a message (=> for many frames)
    NAME: TEXT                                    what an actor does

Every picture has a background of its own, so it is legible on white and on dark pages.
"""
import pathlib
import re
import sys
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, MARGIN, GAP = 960, 20, 10
ROW_GAP, LINE, PAD = 36, 19, 10
TITLE_HEIGHT = 46
LETTER, BOLD, SMALL = 7.2, 7.9, 6.6  # mean widths in pixels at 13 (bold: 13, small: 12)
FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
BACKGROUND, INK, QUIET, LINE_COLOUR = "#fbfbf8", "#1b2733", "#4c5a67", "#5b6b7a"
STYLES = {
    "plain": ("#ffffff", "#8896a3"), "api": ("#dcebfa", "#4a7fb5"), "core": ("#e2f2dd", "#5b9a4c"),
    "wire": ("#fdeecf", "#c09032"), "side": ("#ece8f6", "#8675b8"), "outer": ("#eef0f2", "#8896a3"),
}


class Unclear(Exception):
    """With a sentence for the author of a text."""


def text(x, y, words, size=13, weight="normal", anchor="middle", colour=INK):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
            f'fill="{colour}">{escape(words)}</text>')


def rectangle(x, y, width, height, fill, edge, round_=6):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{round_}" fill="{fill}" '
            f'stroke="{edge}"/>')


def line(points, style="", head="url(#head)"):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{LINE_COLOUR}" stroke-width="1.6" marker-end="{head}" {style}/>'


def label(x, y, words):
    width = len(words) * SMALL + 8
    return rectangle(x - width / 2, y - 11, width, 16, BACKGROUND, "none", 2) + text(x, y + 1, words, 12, colour=QUIET)


def document(title, height, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" '
        f'font-family="{FONT}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
        f'<path d="M0,0 L10,5 L0,10 z" fill="{LINE_COLOUR}"/></marker></defs>',
        rectangle(0.5, 0.5, WIDTH - 1, height - 1, BACKGROUND, "#c5ccd3", 8),
        text(WIDTH / 2, 29, title, 16, "bold"),
        *parts, "</svg>", ""])


# --- boxes and arrows ---

class Box:
    """A box in a grid; its lines may hold [parts]."""

    def __init__(self, name, row, first, last, style, words):
        self.name, self.row, self.first, self.last, self.style = name, row, first, last, style
        self.lines = [part.strip() for part in words.split(" / ")]
        self.height = PAD * 2 + LINE * len(self.lines) + sum(8 for one in self.lines if one.startswith("["))

    def place(self, column, y, height):
        self.x, self.y = MARGIN + self.first * column, y
        self.width, self.tall = (self.last - self.first + 1) * column - GAP, height
        for number, one in enumerate(self.lines):
            needed = sum(len(part) * SMALL + 22 for part in re.findall(r"\[(.*?)\]", one)) or \
                len(one) * (LETTER if number else BOLD) + 8
            if needed > self.width:
                raise Unclear(f"box {self.name}: {one!r} needs {needed:.0f} pixels of {self.width:.0f}")

    def drawn(self):
        fill, edge = STYLES[self.style]
        yield rectangle(self.x, self.y, self.width, self.tall, fill, edge)
        y = self.y + (self.tall - self.height) / 2 + PAD
        for number, one in enumerate(self.lines):
            if one.startswith("["):
                parts = re.findall(r"\[(.*?)\]", one)
                widths = [len(part) * SMALL + 16 for part in parts]
                x = self.x + (self.width - sum(widths) - 6 * (len(parts) - 1)) / 2
                for part, width in zip(parts, widths):
                    yield rectangle(x, y + 2, width, 21, BACKGROUND, edge, 4)
                    yield text(x + width / 2, y + 17, part, 12)
                    x += width + 6
                y += LINE + 8
            else:
                yield text(self.x + self.width / 2, y + 14, one, 13 if number == 0 else 12, "bold" if number == 0 else "normal",
                           colour=INK if number == 0 else QUIET)
                y += LINE


def arrow(a, b, words):
    """Down or up where the boxes share columns, across where they share a row, else with a corner."""
    left, right = max(a.x, b.x), min(a.x + a.width, b.x + b.width)
    if right - left > 8 and a.row != b.row:
        x = (left + right) / 2
        down = b.row > a.row
        y0, y1 = (a.y + a.tall, b.y) if down else (a.y, b.y + b.tall)
        if words and abs(y1 - y0) < 24:
            raise Unclear(f"arrow {a.name} -> {b.name}: no room for its label")
        yield line([(x, y0), (x, y1)])
        if words:
            yield label(x, (y0 + y1) / 2 + 3, words)
    elif a.row == b.row:
        x0, x1 = (a.x + a.width, b.x) if b.x > a.x else (a.x, b.x + b.width)
        y = (max(a.y, b.y) + min(a.y + a.tall, b.y + b.tall)) / 2
        yield line([(x0, y), (x1, y)])
        if words:
            yield label((x0 + x1) / 2, y - 8, words)
    else:
        x1 = b.x + b.width / 2
        y0, y1 = a.y + a.tall / 2, b.y if b.row > a.row else b.y + b.tall
        x0 = a.x + a.width if x1 > a.x else a.x
        yield line([(x0, y0), (x1, y0), (x1, y1)])
        if words:
            yield label(x1, (y0 + y1) / 2 + 3, words)


def blocks(title, rows):
    columns, boxes, arrows, notes = 1, {}, [], []
    for number, row in rows:
        if found := re.fullmatch(r"columns (\d+)", row):
            columns = int(found[1])
        elif found := re.fullmatch(r"box (\S+) (\d+) (\d+)(?:-(\d+))?(?: (\w+))?: (.*)", row):
            name, level, first, last, style, words = found.groups()
            boxes[name] = Box(name, int(level), int(first), int(last or first), style or "plain", words)
        elif found := re.fullmatch(r"arrow (\S+) -> (\S+?)(?:: (.*))?", row):
            arrows.append((found[1], found[2], found[3]))
        elif row.startswith("note "):
            notes.append(row[5:])
        else:
            raise Unclear(f"line {number}: {row!r} is no row of a picture of blocks")
    column = (WIDTH - 2 * MARGIN + GAP) / columns
    y = TITLE_HEIGHT
    for level in sorted({box.row for box in boxes.values()}):
        line_of = [box for box in boxes.values() if box.row == level]
        height = max(box.height for box in line_of)
        for box in line_of:
            box.place(column, y, height)
        y += height + ROW_GAP
    y += 4 - ROW_GAP
    parts = [piece for a, b, words in arrows for piece in arrow(boxes[a], boxes[b], words)]
    parts = [piece for box in boxes.values() for piece in box.drawn()] + parts
    for one in notes:
        y += LINE
        parts.append(text(MARGIN, y + 6, one, 12, anchor="start", colour=QUIET))
    return document(title, y + 24, parts)


# --- who sends what to whom, and when ---

def sequence(title, rows):
    actors, steps = {}, []
    for number, row in rows:
        if found := re.fullmatch(r"actor (\w+): (.*)", row):
            actors[found[1]] = found[2]
        elif found := re.fullmatch(r"(\w+) (->|=>) (\w+): (.*)", row):
            steps.append(found.groups())
        elif found := re.fullmatch(r"(\w+): (.*)", row):
            steps.append((found[1], None, None, found[2]))
        else:
            raise Unclear(f"line {number}: {row!r} is no row of a sequence")
    room = WIDTH / len(actors)
    place = {name: room * (number + 0.5) for number, name in enumerate(actors)}
    top, y, parts = TITLE_HEIGHT, TITLE_HEIGHT + 62, []
    for name, arrow_, to, words in steps:
        if arrow_ is None:
            lines = words.split(" / ")
            height = LINE * len(lines) + 10
            width = max(len(one) for one in lines) * SMALL + 20
            parts.append(rectangle(place[name] - width / 2, y - 8, width, height, *STYLES["core"], 5))
            parts += [text(place[name], y + 9 + LINE * index, one, 12) for index, one in enumerate(lines)]
            y += height + 12
            continue
        way = 1 if place[to] > place[name] else -1
        parts.append(text((place[name] + place[to]) / 2, y + 4, words, 12, colour=INK))
        for offset in ((0, 6, 12) if arrow_ == "=>" else (0,)):
            parts.append(line([(place[name] + 3 * way, y + 11 + offset), (place[to] - 3 * way, y + 17 + offset)]))
        y += 38 + (12 if arrow_ == "=>" else 0)
    lifelines = []
    for name, words in actors.items():
        width = len(words) * BOLD + 24
        lifelines.append(f'<line x1="{place[name]:.1f}" y1="{top + 34}" x2="{place[name]:.1f}" y2="{y:.1f}" stroke="{LINE_COLOUR}" '
                         f'stroke-dasharray="4 4"/>')
        lifelines.append(rectangle(place[name] - width / 2, top, width, 34, *STYLES["api"]))
        lifelines.append(text(place[name], top + 22, words, 13, "bold"))
    return document(title, y + 16, lifelines + parts)


def drawn(source):
    rows = [(number, row.strip()) for number, row in enumerate(source.read_text().splitlines(), 1)]
    rows = [(number, row) for number, row in rows if row and not row.startswith("#")]
    (_, first), *rest = rows
    kind, _, title = first.partition(" ")
    return {"blocks": blocks, "sequence": sequence}[kind](title, rest)


def main():
    stale = 0
    for source in sorted(HERE.glob("*.txt")):
        picture = source.with_suffix(".svg")
        try:
            made = drawn(source)
        except Unclear as unclear:
            print(f"{source.name}: {unclear}")
            stale += 1
            continue
        if "--check" not in sys.argv[1:]:
            picture.write_text(made)
        elif not picture.exists() or picture.read_text() != made:
            print(f"{picture.name} differs from {source.name}: run docs/pictures/draw.py")
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
