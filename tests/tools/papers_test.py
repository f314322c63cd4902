#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests bench/papers: what counts as a prediction, that statements can fail, and that refusals come before any run.

  papers_test.py OMX_PAPERS
"""
import collections
import contextlib
import io
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(ROOT, "bench", "measure"), os.path.join(ROOT, "bench", "experiments")]

import bench_run  # noqa: E402  (the path must be set first)
import papers_beyond  # noqa: E402
import papers_live  # noqa: E402
import papers_live_report  # noqa: E402
import papers_live_tables  # noqa: E402
import papers_report  # noqa: E402
from papers_published import LEFT_OUT, PAPERS  # noqa: E402
from papers_rows import CHOSEN, FITTED, Row, Table, USES, is_prediction  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
# Published figures of each table, counted in the papers' texts: all, and those that were used for the model.
CENSUS = {
    "IV-B1": (2, 1), "IV-B2": (3, 2), "IV-B3": (3, 0), "Table I: messages": (12 + 2, 2 + 3 + 1), "Table II: one message": (3 + 3 + 1 + 3, 2), "Table III: half": (6, 6),
    "Table V": (8, 4), "Table IV": (9 * 4, 9), "Table I: IMB": (27 + 1, 6 + 9 + 9 + 1), "4.3": (2, 1), "Table II: cache": (24, 0), "4.5": (1, 0),
    "Table III: IS": (3 + 1, 0), "Table III: CG": (4 * 3, 4), "[I] Fig. 3": (7, 0), "[I] Fig. 9": (4 + 4, 4 + 3), "[I] Fig. 11": (8 + 1, 2), "[J] Table 2": (4 + 4 + 2, 0), "[J] Fig. 14": (4, 0),
}


def document(name):
    with open(os.path.join(ROOT, "docs", "performance", name), encoding="utf-8") as file:
        return file.read()


def tables():
    return [one for _, _, of_paper in PAPERS for one in of_paper]


class Counting(unittest.TestCase):
    def test_every_published_figure_counts_once(self):
        for one in tables():
            counted = [row for row in one.rows if row.published is not None and row.counted]
            (census,) = [figures for title, figures in CENSUS.items() if one.title.startswith(title)]
            self.assertEqual((len(counted), sum(bool(row.use) for row in counted)), census, one.title)
            self.assertEqual(len({row.what for row in one.rows}), len(one.rows), one.title)

    def test_what_the_model_is_made_of_is_no_prediction(self):
        for row in (row for one in tables() for row in one.rows):
            self.assertIn(row.use, USES)
            self.assertFalse(row.use and is_prediction(row), row.what)
        rows = [Row("a", 1.0, "", None, use=FITTED), Row("b", 1.0, "", None, use=CHOSEN), Row("c", 1.0, "", None), Row("d", 1.0, "", None, counted=False),
                Row("e", 1.0, "", None, bound="<"), Row("f", None, "", None)]
        values = dict(zip(map(id, rows), (1.0, 1.1, 1.3, 9.0, 0.5, 7.0)))
        text = papers_report.summary([("paper", "P", [Table("one", rows)])], values)
        cells = [cell.strip() for cell in text[2].strip("|").split("|")]
        self.assertEqual(cells, ["paper", "3", "1", "1", "1", "0", "30 %", "20 %", "10 %"])

    def test_papers_that_are_far_are_named(self):
        near, far = ([Row(f"{i}", 1.0, "", None) for i in range(3)] for _ in range(2))
        values = {**{id(row): 1.1 for row in near}, **{id(row): 1.4 for row in far}}
        said = papers_report.far_papers([("near", "N", [Table("one", near)]), ("far", "F", [Table("two", far[:2]), Table("three", far[2:], apart=True)])], values)
        self.assertIn("**far: 40 %, more than 15 %**", said)
        self.assertNotIn("near", said)
        self.assertIn("Over all predictions it is 10 % without the NAS kernels, and 25 % with them", said)

    def test_every_fitted_number_names_a_figure(self):
        for p in json.loads(subprocess.run([PROGRAM, "parameters"], capture_output=True, text=True, check=True).stdout):
            self.assertIn(p["kind"], ("given", "derived", "fitted", "assumed"), p["name"])
            self.assertLessEqual(p["least"], p["value"])
            self.assertLessEqual(p["value"], p["most"])
            if p["kind"] != "assumed":
                self.assertRegex(p["source"], r"\[[CQIJ]\]|line_far_ns|the same difference", p["name"])


class Evaluation(unittest.TestCase):
    """Checks the document in the repository."""
    def test_its_medians_are_those_of_its_tables(self):
        text = document("evaluation.md").split("## Figures that are not reproduced")[0]
        errors, apart = collections.defaultdict(list), False
        for line in text.splitlines():
            if line.startswith("### "):
                apart = any(one.apart and line == f"### {one.title}" for one in tables())
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if line.startswith("|") and len(cells) == 6 and re.fullmatch(r"\**[+-]\d+ %\**", cells[4]) and not cells[5]:
                errors[apart].append(abs(int(re.search(r"-?\d+", cells[4])[0])))
        for name, of_part in (("all but NAS kernels", errors[False]), ("NAS kernels", errors[True]), ("all", errors[False] + errors[True])):
            (row,) = re.findall(rf"^\| +{name} \|(.*)\|$", text, re.MULTILINE)
            cells = [cell.strip() for cell in row.split("|")]
            self.assertEqual(int(cells[3]), len(of_part), name)
            self.assertAlmostEqual(float(cells[5].rstrip(" %")), statistics.median(of_part), delta=1)

    def test_it_is_of_this_generator(self):
        text = document("evaluation.md")
        for said in [*LEFT_OUT, *(note for one in tables() for note in one.notes)]:
            self.assertIn(f"* {said}\n", text)


class World(dict):
    """Invented results."""
    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed) if seed else None

    def __missing__(self, key):
        self[key] = self.random.uniform(0.01, 100) if self.random else 1.0
        return self[key]


def doubts_of(world):
    names = ("a", "b", "c") if world.random else ("a",)
    return {(name, factor): [world[name, factor, i] for i in range(6)] for name, factor in [(None, 1), *((n, f) for n in names for f in (0.5, 2))]}


class Beyond(unittest.TestCase):
    def test_no_statement_holds_whatever_the_data(self):
        for findings in (papers_beyond.findings_moderation, papers_beyond.findings_steering, papers_beyond.findings_offload,
                         lambda world: papers_beyond.findings_doubts(doubts_of(world))):
            worlds = [findings(World(seed)) for seed in range(40)]
            for number in range(len(worlds[0].lines)):
                lines = [world.lines[number] for world in worlds]
                self.assertTrue(any(line.startswith("* **No longer so:** ") for line in lines), lines[0])

    def test_what_does_not_hold_counts_and_is_marked(self):
        findings = papers_beyond.Findings()
        findings.say(True, "a")
        findings.say(False, "b")
        self.assertEqual((findings.broken, findings.lines), (1, ["* a", "* **No longer so:** b"]))

    def test_every_number_is_doubted(self):
        parameters = json.loads(subprocess.run([PROGRAM, "parameters", "--parameters", "today"], capture_output=True, text=True, check=True).stdout)
        doubted = papers_beyond.doubted(parameters)
        for p in parameters:
            left_out = p["name"] != "poll_on" and (p["name"] == "link_bits" or p["unit"] == "0 or 1" or p["value"] == 0)
            self.assertEqual(p["name"] not in doubted, left_out, p["name"])

    def test_the_document_has_no_broken_statement(self):
        self.assertNotIn("No longer so", document("beyond-the-papers.md"))


class Live(unittest.TestCase):
    def test_the_document_is_of_this_generator(self):
        text = document("evaluation-live.md")
        notes = [*papers_live_report.TABLE1_NOTES, *papers_live_tables.LEFT_OUT, *(note for section in papers_live_tables.SECTIONS for note in section.notes)]
        for note in notes:
            self.assertIn(f"* {note}\n", text)


def refused(main, *arguments):
    """Returns (status, text on stderr)."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        try:
            status = bench_run.run_main("papers", lambda: main(list(arguments)))
        except SystemExit as ended:
            status = ended.code
    return status, errors.getvalue()


class Refusals(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.file = os.path.join(self.scratch.name, "file")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("{}")

    def sentence(self, found, status, pattern):
        self.assertEqual(found[0], status)
        self.assertRegex(found[1], pattern)
        self.assertNotIn("Traceback", found[1])

    def test_again(self):
        self.sentence(refused(papers_live.main, "--live", "--again", "/nonexistent/file"), 1, r"^papers: --again: /nonexistent/file cannot be read: [^\n]+\n$")
        for content in ("{}", "[]", "no JSON", '{"facts": {}, "figures": []}', '{"facts": 1, "figures": 2}'):
            with open(self.file, "w", encoding="utf-8") as file:
                file.write(content)
            self.sentence(refused(papers_live.main, "--live", "--again", self.file), 1, r"^papers: --again: \S+ is not a file that --json wrote\n$")

    def test_minutes(self):
        for minutes in ("nan", "-5", "0", "inf"):
            self.sentence(refused(papers_live.main, "--live", f"--minutes={minutes}"), 2, "--minutes must be a number above 0")

    def test_output_before_anything_runs(self):
        below = os.path.join(self.file, "below")
        self.sentence(refused(papers_live.main, "--live", "--output", below), 1, r"^papers: \S+ cannot be made: [^\n]+\n$")
        for more in ([], ["--beyond"]):
            begun = subprocess.run([os.path.join(ROOT, "bench", "papers"), *more, "--output", below, "--build", os.path.dirname(os.path.dirname(PROGRAM))],
                                   capture_output=True, text=True, timeout=60, check=False)
            self.sentence((begun.returncode, begun.stderr), 1, r"^papers: \S+ cannot be made: [^\n]+\n$")

    def test_no_lab_no_compiling(self):
        program = os.path.join(self.scratch.name, "lab")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 'lab: only root can do this here' >&2\nexit 77\n")
        os.chmod(program, 0o755)
        before, find = bench_run.LAB, papers_live.find_tools
        bench_run.LAB = program
        papers_live.find_tools = lambda build: self.fail("compiled")
        try:
            found = refused(papers_live.main, "--live", "--output", self.scratch.name)
        finally:
            bench_run.LAB, papers_live.find_tools = before, find
        self.sentence(found, 77, r"^papers: lab: only root can do this here\n$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
