# SPDX-License-Identifier: BSD-3-Clause
"""Rule about the prose of comments: words and openings that hide what a sentence says (docs/reference/glossary.md, CONTRIBUTING.md)."""
import re

from sources import EVERYWHERE, name, sources

# What colleagues would say: finds nothing, indefinitely, again, recently, with a message, is reported, no thread, a process.
WORDS = re.compile(r"\b(in vain|for ever|anew|lately|aloud|(is|are|was|were) told of|nobody|somebody|dear)\b", re.I)
# A sentence has a subject, and names a thing before it says "it": these open a comment without.
OPENINGS = re.compile(r"(Who|Whose|Whom|What|It|Its|They|Them|Their|Those|Such|The same)\b(?![^.]*\?)")


def comments(path):
    """Yields the line, the text, and whether a block begins there, of each comment of a C or C++ file."""
    inside = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        block = re.match(r"\s*//+ ?(.*)", line)
        text = block or re.search(r"(?<!:)//+ ?(.*)", line)
        if text:
            yield number, text.group(1), bool(block) and not inside
        inside = bool(block)


def prose():
    for path in sources(*EVERYWHERE):
        for number, text, opens in comments(path):
            found = WORDS.search(text) or (opens and OPENINGS.match(text))
            if found:
                yield f"{name(path)}:{number}: '{found.group(1)}': say it in other words"
