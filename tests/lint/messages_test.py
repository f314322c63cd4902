#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the catalogue of messages (omx explain) with the sources and the documents.

    messages_test.py OMX [--write]    --write writes the part of docs/reference/errors.md that is made from it

- A text that is printed as error or warning has an entry, and a text of an entry is in the sources.
- Numbers are in order, each in the hundred of its section.
- docs/reference/errors.md has what omx explain --markdown writes.
- A message that a document quotes with its number ("E401: ...") is one of that entry. Where it has gaps (…), all words
  between them are those of messages.
"""
import json
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from message_texts import ROOT, all_literals, literals, listed, message_texts, normal  # noqa: E402
import message_texts as scanner  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "errors.md"
BEGIN, END = "<!-- written by tests/lint/messages_test.py --write: begin -->", "<!-- written by tests/lint/messages_test.py --write: end -->"
# A quoted message ends with its line, or with the mark around it. A line that begins with a number and a title is
# the head of what omx explain prints.
QUOTED = re.compile(r"\bE(\d{3}): ([^`\n]+)")
SAMPLE = """
// A comment with "four words that count" is no message.
int f() {
  log(LogLevel::warn, "{} is "
      "broken", name);
  log(LogLevel::info, "{} is only a fact that nobody misses", name);
  static_assert(kSize == 4, "four bytes are what the wire has");
  if (bad) return fail(kCode, fmt::format("no {:#x} here: \\"{}\\"", number, name));
  return "a helper makes this sentence";
}
"""


def asked(omx, *words_):
    return subprocess.run([omx, "explain", *words_], check=True, capture_output=True, text=True).stdout


def scanner_faults():
    """Checks that the scanner finds what a source prints, and nothing else."""
    found = [(normal(text), silent) for text, _, silent, _ in literals("src/sample.cc", SAMPLE)]
    wanted = [("{} is broken", False), ("{} is only a fact that nobody misses", True),
              ("four bytes are what the wire has", True), ('no {} here: "{}"', False), ("a helper makes this sentence", False)]
    if found != wanted:
        yield f"the scanner finds {found} in its sample instead of {wanted}"
    before = scanner.files
    scanner.files = lambda: [("src/sample.cc", SAMPLE)]
    try:
        if set(message_texts()) != {"{} is broken", 'no {} here: "{}"', "a helper makes this sentence"}:
            yield f"the scanner takes {sorted(message_texts())} for the messages of its sample"
    finally:
        scanner.files = before


def source_faults(entries):
    explained = {text: entry["id"] for entry in entries for text in entry["texts"]}
    printed, there = message_texts(), all_literals()
    for text, path in printed.items():
        if text not in explained:
            yield f'{path} prints "{text}", which has no entry: add it to src/base/messages/, or to no_messages.txt if it is none'
    for text, number in explained.items():
        if text not in there:
            yield f'{number} has the text "{text}", which no source has'
    for text in sorted(listed()):
        if text not in there:
            yield f'no_messages.txt has "{text}", which no source has'
        if text in explained:
            yield f'"{text}" is in no_messages.txt and in {explained[text]}'
    if len(explained) != sum(len(entry["texts"]) for entry in entries):
        yield "a text stands in two entries"


def entry_faults(entries):
    numbers = [int(entry["id"][1:]) for entry in entries]
    if numbers != sorted(set(numbers)):
        yield "the numbers are not in order, or one stands twice"
    if not all(100 <= number <= 999 for number in numbers):
        yield "numbers have three digits"
    for entry in entries:
        for field in ("title", "meaning", "causes", "remedy", "texts"):
            if not entry[field]:
                yield f"{entry['id']} has no {field}"
        for field in ("meaning", "causes", "remedy"):
            if not re.search(r'[.)]$', entry[field]):
                yield f"{entry['id']}: its {field} do not end with a sentence"
        for other in re.findall(r"\bE(\d{3})\b", entry["meaning"] + entry["causes"] + entry["remedy"]):
            if int(other) not in numbers:
                yield f"{entry['id']} names E{other}, which there is not"


def spans(text, line):
    """Returns where the fixed parts of the text are in the line, one behind the other, or None."""
    found, at = [], 0
    for part in text.split("{}"):
        at = line.find(part, at)
        if at < 0:
            return None
        found.append((at, at + len(part)))
        at += len(part)
    return found


def unsaid(line, texts):
    """Returns the words of a line with gaps that are in none of the texts."""
    left = list(line)
    for text in texts:
        for begin, end in spans(text, line) or []:
            left[begin:end] = " " * (end - begin)
    # The name of a setting may stand for a gap.
    return re.findall(r"\b(?![A-Z_]+\b)[A-Za-z]{3,}", "".join(left))


def quotes_faults(entries):
    texts = {int(entry["id"][1:]): entry["texts"] for entry in entries}
    everything = [text for entry in entries for text in entry["texts"]]
    titles = {int(entry["id"][1:]): entry["title"] for entry in entries}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        if path == PAGE:
            text = text.split(BEGIN)[0]
        for number, said in QUOTED.findall(text):
            if int(number) not in texts:
                yield f"{path.relative_to(ROOT)}: there is no E{number}"
            elif said != titles[int(number)] and not any(spans(t, said.replace("…", "{}")) for t in texts[int(number)]):
                yield f'{path.relative_to(ROOT)}: "{said}" is no message of E{number}'
            elif "…" in said and (words := unsaid(said.replace("…", "{}"), everything)):
                yield f'{path.relative_to(ROOT)}: no message says "{" ".join(words)}" as in "{said}"'
        for number in re.findall(r"\bE(\d{3})\b", text):
            if int(number) not in texts:
                yield f"{path.relative_to(ROOT)}: there is no E{number}"


def page_faults(made, write):
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    now = f"{before}{BEGIN}\n{made}\n{END}{rest.split(END)[1]}"
    if write:
        PAGE.write_text(now, encoding="utf-8")
    elif now != text:
        yield f"{PAGE.relative_to(ROOT)} is not what omx explain --markdown writes: call messages_test.py OMX --write"


def main():
    omx, write = sys.argv[1], "--write" in sys.argv[2:]
    entries = json.loads(asked(omx, "--json"))["messages"]
    for entry in entries:
        entry["texts"] = [text.replace("…", "{}") for text in entry["texts"]]
    faults = [*scanner_faults(), *entry_faults(entries), *source_faults(entries), *quotes_faults(entries),
              *page_faults(asked(omx, "--markdown"), write)]
    print("\n".join(faults) or f"{len(entries)} entries, {sum(len(e['texts']) for e in entries)} texts")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
