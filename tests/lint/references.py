# SPDX-License-Identifier: BSD-3-Clause
"""Checks that references to documents lead somewhere, in code and in documents. lint.py calls this.

A reference is the name of a document, from the root of the repository or from the folder of the file, and perhaps a section:

    docs/spec/wire.md 6.3               a numbered heading, or a numbered point of a list in a document without numbered headings
    docs/spec/mx-clients.md 8 to 17, 20
    docs/spec/README.md, "What Open-MX must honour"    a heading by its words

In documents the files and #anchors of links are checked, too. A file name alone in quotes is not a reference.
"""
import pathlib
import re

FOLDERS = ("src", "include", "tools", "bench", "tests", "lab", "examples", "cmake", "docs")
NO_TEXT = {".svg", ".png", ".pcapng", ".pcap"}
NO_FOLDER = {"corpus", "__pycache__", "build"}
# These programs write documents. References in their texts are relative to the folder of the document.
WRITERS = {
    "moderation": "docs/explanation",
    "moderation_report.py": "docs/explanation",
    "papers_beyond.py": "docs/performance",
    "papers_live_report.py": "docs/performance",
    "papers_live_table1.py": "docs/performance",
    "papers_live_tables.py": "docs/performance",
    "papers_offload.py": "docs/performance",
    "papers_published.py": "docs/performance",
    "papers_report.py": "docs/performance",
}
GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*(?://+|\*|\#|--|;)?[ \t]*)"  # a reference may continue in the next line of a comment
MADE_UP = {"references_test.py"}  # this file makes its own documents
NUMBER = r"\d+(?:\.\d+)*"
NUMBERS = rf"{NUMBER}(?:(?:,{GAP}|{GAP}and{GAP}|{GAP}to{GAP}|[-–]){NUMBER})*(?![\w.]*\w)"
REFERENCE = re.compile(rf"(?<![\w/.:-])(?P<path>(?:\.\./)*(?:[\w-]+/)*[\w-]+\.md)\b(?![\w/-])"
                       rf"(?:(?:,)?{GAP}(?:section{GAP})?(?P<numbers>{NUMBERS})|,{GAP}\"(?P<words>[^\"\n]*(?:\n[^\"\n]*)?)\")?")
LINK = re.compile(rf"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^()\s]+)\)(?:,?{GAP}(?P<numbers>{NUMBERS}))?")
HEADING = re.compile(r"^#{1,6} (.+?)\s*$")
POINT = re.compile(r"^(\d+)\. ")


def plain(text):
    """Returns the words of a heading without its marks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[`*]", "", text).strip()


def anchor_of(words):
    """Returns the anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


class Document:
    def __init__(self, text):
        self.headings, self.numbers, self.anchors = set(), set(), set()
        points, fenced = set(), False
        for line in text.splitlines():
            fenced ^= line.startswith("```")
            heading = None if fenced else HEADING.match(line)
            if heading:
                self.heading_add(plain(heading[1]))
            elif not fenced and POINT.match(line):
                points.add(POINT.match(line)[1])
        if not self.numbers:
            self.numbers = points

    def heading_add(self, words):
        number = re.match(rf"({NUMBER})\.? ", words)
        if number:
            self.numbers.add(number[1])
            self.headings.add(words[number.end():])
        self.headings.add(words)
        anchor, again = anchor_of(words), 1
        while anchor in self.anchors:
            anchor, again = f"{anchor_of(words)}-{again}", again + 1
        self.anchors.add(anchor)


class Checker:
    def __init__(self, root):
        self.root, self.known = root, {}

    def find(self, name, folder):
        """Returns the path of the named file, or None."""
        for base in (self.root, folder):
            path = (base / name).resolve()
            if path.exists() and path.is_relative_to(self.root):
                return path
        return None

    def document(self, path):
        if path not in self.known:
            self.known[path] = Document(path.read_text(encoding="utf-8"))
        return self.known[path]

    def numbers_missing(self, path, numbers):
        known = self.document(path).numbers
        return [number for number in re.findall(NUMBER, numbers) if number not in known]

    def reference(self, match, folder, quoted):
        name, path = match["path"], self.find(match["path"], folder)
        if not path:
            if not (quoted and "/" not in name):
                yield f"{name} is no document of the repository"
            return
        if match["numbers"]:
            for number in self.numbers_missing(path, match["numbers"]):
                yield f"{name} has no section {number}"
        words = match["words"] and re.sub(r"\s*\n[\s/*#;-]*", " ", match["words"])
        if words and words not in self.document(path).headings:
            yield f'{name} has no heading "{words}"'

    def link(self, match, file, folder):
        target, _, anchor = match["target"].partition("#")
        if re.match(r"[a-z]+:", match["target"]) or "{" in match["target"]:  # outside of the repository, or not known yet
            return
        path = (folder / target).resolve() if target else file
        if not path.exists():
            yield f"link to {match['target']}, which does not exist"
            return
        if path.suffix != ".md":
            return
        if anchor and anchor not in self.document(path).anchors:
            yield f"link to {match['target']}: no such heading"
        for number in self.numbers_missing(path, match["numbers"]) if match["numbers"] and self.document(path).numbers else []:
            yield f"{target} has no section {number}"

    def links_of(self, file, text, folder):
        """Returns the text without its links, and what is wrong with these."""
        wrong = []

        def checked(match):
            wrong.extend((match.start(), problem) for problem in self.link(match, file, folder))
            return re.sub(r"[^\n]", " ", match[0])
        return LINK.sub(checked, text), wrong

    def file(self, file):
        text = file.read_text(encoding="utf-8")
        name, wrong = file.relative_to(self.root).as_posix(), []
        writes = WRITERS.get(file.name) if name.startswith("bench/") else None
        folder = self.root / writes if writes else file.parent
        if file.suffix == ".md" or writes:
            text, wrong = self.links_of(file, text, folder)
        for match in REFERENCE.finditer(text):
            quoted = text[match.start("path") - 1:match.start("path")] in "\"'`" and text[match.end("path"):match.end("path") + 1] in "\"'`"
            wrong.extend((match.start(), problem) for problem in self.reference(match, folder, quoted))
        for at, problem in sorted(wrong):
            yield f"{name}:{text.count(chr(10), 0, at) + 1}: {problem}"


def files(root):
    """Yields all files that may refer to a document."""
    for path in sorted(root.iterdir()):
        if path.is_file():
            yield path
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix not in NO_TEXT and not NO_FOLDER & set(path.relative_to(root).parts):
                yield path


def references(root=pathlib.Path(__file__).resolve().parents[2]):
    checker = Checker(root)
    for path in files(root):
        try:
            if path.name not in MADE_UP and (path.suffix == ".md" or b".md" in path.read_bytes()):
                yield from checker.file(path)
        except UnicodeDecodeError:
            pass  # not a text file
