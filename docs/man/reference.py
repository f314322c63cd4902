#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks or writes the tables of docs/reference from the output of the omx command: settings, counters and options.

    reference.py OMX FOLDER            checks whether the pages are right
    reference.py OMX FOLDER --write    writes the tables into the pages
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True

from settings import told  # noqa: E402

BEGIN, END = "<!-- {} begin: written by docs/man/reference.py -->\n", "<!-- {} end -->\n"
# The first entry of each group and its heading. The order is that of the command.
SETTINGS = {
    "OMX_CONFIG": "Files, messages and errors",
    "OMX_INTERFACES": "Boards, names and endpoints",
    "OMX_DISABLE_SELF": "Inside the host",
    "OMX_WIRE_MODE": "Packets and links",
    "OMX_RNDV_THRESHOLD": "Classes of messages",
    "OMX_ZOMBIE_SEND": "Acknowledgements, repetitions, lost peers",
    "OMX_UNEXP_BYTES": "Memory and windows",
    "OMX_PLACEMENT": "Copies",
    "OMX_SPIN_US": "Waiting, progress and binding",
}
# Where docs/explanation says what a setting changes, and its text here.
EXPLAINED = {
    "OMX_RAILS": ("docs/explanation/rails.md", "several boards"),
    "OMX_ECN": ("docs/explanation/congestion.md#marks", "congestion: marks"),
    "OMX_UNSCHEDULED_BYTES": ("docs/explanation/congestion.md#messages-that-leave-unasked", "congestion: messages that leave unasked"),
    "OMX_EAGER_FRAMES": ("docs/explanation/congestion.md#messages-that-leave-unasked", "congestion: messages that leave unasked"),
    "OMX_PULL_WINDOW_BYTES": ("docs/explanation/pulls.md#how-large-the-budget-is", "pulls: how large the budget is"),
    "OMX_PULL_QUIET": ("docs/explanation/waiting.md#solicited-frames-every-block-or-few", "waiting: solicited frames"),
    "OMX_COPY_ENGINE": ("docs/explanation/copies.md", "copies"),
    "OMX_MODERATION": ("docs/explanation/waiting.md#sleeping-wake-ups-with-messages-not-with-frames", "waiting: sleeping"),
    "OMX_PROGRESS": ("docs/explanation/waiting.md#the-progress-thread", "waiting: the progress thread"),
    "OMX_PROCESS_BINDING": ("docs/explanation/binding.md", "binding"),
}
COUNTERS = {
    "Send Tiny": "Packets sent",
    "Recv Tiny": "Packets received",
    "Messages Sent": "Messages",
    "Resend after Timeout": "Reliability",
    "Drop Malformed Frame": "Dropped frames",
    "Link Frames Sent": "The link",
    "Sleeps Ended": "Waiting",
    "Local Frames Sent": "Inside the host",
}


def run(omx, *arguments):
    return subprocess.run([omx, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def cell(text):
    """Returns a cell of a table. Characters with a meaning in Markdown are escaped."""
    text = re.sub(r"([<>|])", r"\\\1", text)
    return re.sub(r"(?<![\w`])(OMX_\w+(?:=\w+)?)", r"`\1`", text)


def grouped(entries, groups, what):
    """Yields the lines of each entry (name, lines), below the heading of its group."""
    missing = set(groups) - {name for name, _ in entries}
    if missing or entries[0][0] not in groups:
        raise SystemExit(f"groups of {what} in reference.py begin with unknown names: {', '.join(sorted(missing)) or entries[0][0]}")
    for name, lines in entries:
        if name in groups:
            yield f"\n## {groups[name]}\n"
        yield from lines


def settings(omx):
    entries = []
    for variable, value, about, accepted, key, also in told(omx):
        facts = [f"Default: {'`' + value + '`' if value else 'empty'}.", f"Accepted: {cell(accepted)}.",
                 "Not possible in the file." if key == "not possible" else f"In the file: `{key}`."]
        if also:
            facts.append("Other names: " + ", ".join(f"`{name}`" for name in also.split()) + ".")
        if variable in EXPLAINED:
            page, title = EXPLAINED.pop(variable)
            facts.append(f"Explained in [{title}](../{page.removeprefix('docs/')}).")
        entries.append((variable, [f"### {variable}", "", cell(about[0].upper() + about[1:]) + ".", "", *[f"* {fact}" for fact in facts], ""]))
    if EXPLAINED:
        raise SystemExit(f"EXPLAINED of reference.py has unknown names: {', '.join(sorted(EXPLAINED))}")
    return "\n".join(grouped(entries, SETTINGS, "settings")).lstrip("\n").rstrip("\n") + "\n"


def counters(omx):
    found = re.findall(r"^(\S.*) \((\w+)\)\n    (.*)$", run(omx, "counters", "--explain"), re.M)
    entries = []
    for name, unit, text in found:
        head = ["| counter | unit | what it means |", "|---|---|---|"] if name in COUNTERS else []
        entries.append((name, [*head, f"| {name} | {unit} | {cell(text)} |"]))
    return "\n".join(grouped(entries, COUNTERS, "counters")).lstrip("\n") + "\n"


def options(omx, command):
    """Returns the help text of a command as a literal block."""
    text = run(omx, "help", *([command] if command != "omx" else []))
    return "".join(f"    {line}".rstrip() + "\n" for line in text.rstrip("\n").splitlines())


def page_text(omx, name, text):
    """Returns the page with each marked part replaced by the output of the command."""
    def part(match):
        what = match[1]
        made = options(omx, what) if name == "omx.md" else {"settings": settings, "counters": counters}[what](omx)
        return f"{BEGIN.format(what)}\n{made}\n{END.format(what)}"
    new, count = re.subn(r"<!-- ([\w-]+) begin: .*? -->\n.*?<!-- \1 end -->\n", part, text, flags=re.S)
    if not count:
        raise SystemExit(f"{name} has no part that reference.py writes")
    return new


def commands_missing(omx, text):
    listed = set(re.findall(r"^  ([a-z][-a-z]*) ", run(omx, "help").split("Subcommands:\n")[1], re.M)) - {"help"}
    return listed - set(re.findall(r"<!-- ([\w-]+) begin", text))


# A default as later releases of CLI11 show it, `[10]` where earlier ones show `=10`. They also set columns otherwise.
LATER_DEFAULT = re.compile(r"(^ {6}\S[^\n]*?(?:TEXT|INT|FLOAT|\}|\])) \[([^\]\n]*)\](?= |$)", re.M)


def same(new, old):
    """Returns whether two texts of a page are equal, but for what differs between releases of CLI11."""
    def plain(text):
        return re.sub(r"[ \n]+", " ", LATER_DEFAULT.sub(r"\1=\2", text))
    return new == old or (LATER_DEFAULT.search(new) is not None and plain(new) == plain(old))


def main():
    omx, folder, wrong = sys.argv[1], pathlib.Path(sys.argv[2]), 0
    for name in ("settings.md", "counters.md", "omx.md"):
        page = folder / name
        text = page.read_text()
        new = page_text(omx, name, text)
        if name == "omx.md" and commands_missing(omx, text):
            print(f"{name} lacks {', '.join(sorted(commands_missing(omx, text)))}")
            wrong = 1
        if "--write" in sys.argv:
            page.write_text(new)
        elif not same(new, text):
            print(f"{name} does not match the command; run: {sys.argv[0]} {omx} {folder} --write")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
