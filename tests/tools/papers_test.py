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
import papers_predict  # noqa: E402
import papers_summary  # noqa: E402
from papers_published import LEFT_OUT, PAPERS  # noqa: E402
from papers_rows import CHOICE, CHOSEN, CLASSES, FITTED, Row, SHORT, Table, USES, class_of, is_prediction, is_ratio  # noqa: E402

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
        rows = [Row("a", 1.0, "", None, use=FITTED), Row("b", 1.0, "", None, use=CHOSEN), Row("c", 1.0, "", None, null=2.0, choice=True), Row("d", 1.0, "", None, counted=False),
                Row("e", 1.0, "", None, bound="<"), Row("f", None, "", None)]
        values = dict(zip(map(id, rows), (1.0, 1.1, 1.3, 9.0, 0.5, 7.0)))
        self.assertEqual(self.first_line([Table("one", rows)], values), ["paper", "3", "1", "1", "1", "1", "0", "30 %", "30 %", "100 %", "30 %", "20 %", "10 %"])

    def first_line(self, of_paper, values):
        text = papers_summary.summary([("paper", "P", of_paper)], values)
        return [cell.strip() for cell in text[2].strip("|").split("|")]

    def test_ratios_are_compared_as_gains_too(self):
        rows = [Row("gain", 1.2, "", None, gain=True, null=1), Row("loss", 0.8, "", None, gain=True, null=1), Row("time", 10.0, "us", None)]
        values = dict(zip(map(id, rows), (1.1, 0.9, 10.0)))
        self.assertEqual(self.first_line([Table("one", rows[:2])], values)[7:11], ["10 %", "50 %", "21 %", "10 %"])
        self.assertEqual(self.first_line([Table("one", rows[2:])], values)[7:11], ["0 %", "0 %", "–", "–"])

    def test_the_null_model_is_a_figure_of_the_paper_and_belongs_to_a_prediction(self):
        published = {row.published for one in tables() for row in one.rows} | {0, 1}
        for one, row in ((one, row) for one in tables() for row in one.rows):
            self.assertIn(class_of(one, row), CLASSES)
            if row.null is not None:
                self.assertIn(row.null, published, row.what)
            if is_ratio(row):
                self.assertEqual(row.null, 1, row.what)

    def test_kernels_and_what_is_far(self):
        near, far = ([Row(f"{i}", 1.0, "", None, null=1.2) for i in range(3)] for _ in range(2))
        values = {**{id(row): 1.1 for row in near}, **{id(row): 1.4 for row in far}}
        papers = [("near", "N", [Table("one", near, of=SHORT)]), ("far", "F", [Table("two", far[:2]), Table("three", far[2:], apart=True)])]
        said = papers_summary.far_papers(papers, values)
        self.assertIn("**far: 40 %, more than 15 %**", said)
        self.assertNotIn("near", said)
        self.assertIn("The 1 figures of the NAS kernels", papers_summary.kernels_said(papers, values))
        self.assertIn("1 of them are no better than the null model", papers_summary.kernels_said(papers, values))
        self.assertIn("5 |", papers_summary.summary(papers, values)[-1])
        self.assertIn(" 5 ", papers_summary.classes(papers, values)[2])
        self.assertEqual(papers_summary.block_said(papers[0][2][0], values)[0], "Predictions with a null model: 3. Its median error is 20 %, ours 10 %.")

    def test_a_mechanism_that_matters_shows(self):
        rows = [Row(f"{i}", 1.0, "", None) for i in range(4)]
        values, others = {id(row): 1.1 for row in rows}, {**{id(row): 1.1 for row in rows}, id(rows[0]): 1.6, id(rows[1]): 1.6, id(rows[2]): 1.6}
        text = papers_summary.ablation([("paper", "P", [Table("one", rows)])], values, {"no bus": others})
        self.assertEqual([[cell.strip() for cell in line.strip("|").split("|")] for line in text[2:4]],
                         [["the model as it is", "10 %", "10 %", "0"], ["no bus", "60 %", "60 %", "3"]])

    def test_every_fitted_number_names_a_figure(self):
        for p in json.loads(subprocess.run([PROGRAM, "parameters"], capture_output=True, text=True, check=True).stdout):
            self.assertIn(p["kind"], ("given", "derived", "fitted", "assumed"), p["name"])
            self.assertLessEqual(p["least"], p["value"])
            self.assertLessEqual(p["value"], p["most"])
            if p["kind"] != "assumed":
                self.assertRegex(p["source"], r"\[[CQIJ]\]|line_far_ns|the same difference", p["name"])


class Evaluation(unittest.TestCase):
    """Checks the document in the repository."""
    def rows_of_document(self):
        """Yields (table, cells) of each figure in the document that is in the summary."""
        text, one = document("evaluation.md").split("## Figures that are not reproduced")[0], None
        for line in text.splitlines():
            if line.startswith("### "):
                (one,) = [known for known in tables() if line == f"### {known.title}"]
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if line.startswith("|") and len(cells) == 7 and re.fullmatch(r"\**[+-]\d+ %\**", cells[4]) and not one.apart:
                yield one, cells

    def test_its_medians_are_those_of_its_tables(self):
        errors = [abs(int(re.search(r"-?\d+", cells[4])[0])) for _, cells in self.rows_of_document() if cells[6].removesuffix("not as predicted").rstrip(", ") in ("", CHOICE)]
        (row,) = re.findall(r"^\| +all \|(.*)\|$", document("evaluation.md").split("By class of figures")[0], re.MULTILINE)
        cells = [cell.strip() for cell in row.split("|")]
        self.assertEqual(int(cells[3]), len(errors))
        self.assertAlmostEqual(float(cells[6].rstrip(" %")), statistics.median(errors), delta=1)

    def test_no_number_was_changed_after_the_prediction(self):
        predicted = papers_predict.read(os.path.join(ROOT, "docs", "performance"))
        now = json.loads(subprocess.run([PROGRAM, "parameters"], capture_output=True, text=True, check=True).stdout)
        self.assertEqual({p["name"]: p["value"] for p in now}, predicted["parameters"], "run bench/papers --predict, and commit it before bench/papers")

    def test_what_is_not_marked_is_as_predicted(self):
        predicted = papers_predict.read(os.path.join(ROOT, "docs", "performance"))["figures"]
        signs = {one.title: sign for _, sign, of_paper in PAPERS for one in of_paper}
        unmarked = [(one, cells) for one, cells in self.rows_of_document() if cells[6] in ("", CHOICE)]
        self.assertTrue(unmarked)
        for one, cells in unmarked:
            said = predicted[f"{signs[one.title]}: {one.title}"][cells[0]]
            self.assertAlmostEqual(float(cells[2].replace(",", "")), said, delta=0.011 * abs(said), msg=cells[0])

    def test_what_moved_is_not_as_predicted(self):
        one = Table("one", [])
        predicted = {"figures": {"P: one": {"a": 100.0}}}
        for value, what, expected in ((100.4, "a", False), (101.0, "a", True), (100.0, "b", True)):
            self.assertEqual(papers_predict.moved(predicted, "P", one, Row(what, 1.0, "", None), value), expected)
        self.assertTrue(papers_predict.moved(None, "P", one, Row("a", 1.0, "", None), 100.0))

    def test_the_prediction_has_no_published_figure(self):
        predicted = papers_predict.read(os.path.join(ROOT, "docs", "performance"))
        with tempfile.TemporaryDirectory() as folder:
            rows = [row for one in tables() for row in one.rows]
            papers_predict.write(folder, PAPERS, {id(row): -1.0 for row in rows}, [], {"date": "today"})
            self.assertEqual({value for figures in papers_predict.read(folder)["figures"].values() for value in figures.values()}, {-1.0})
        self.assertEqual(sorted(predicted["figures"]), sorted(f"{sign}: {one.title}" for _, sign, of_paper in PAPERS for one in of_paper))

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
        facts, figures = papers_live.measured_before(os.path.join(ROOT, "docs", "performance", "evaluation", "live.json"), "--again")
        self.assertEqual(document("evaluation-live.md"), papers_live_report.document(papers_live_tables.Figures(figures), facts))


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
            self.sentence(refused(papers_live.main, "--live", "--add", self.file), 1, r"^papers: --add: \S+ is not a file that --json or --add wrote\n$")
            self.sentence(refused(papers_live.main, "--live", "--again", self.file), 1, r"^papers: --again: \S+ is not a file that --json or --add wrote\n$")

    def test_minutes(self):
        for minutes in ("nan", "-5", "0", "inf"):
            self.sentence(refused(papers_live.main, "--live", f"--minutes={minutes}"), 2, "--minutes must be a number above 0")

    def test_parts_would_replace_the_document(self):
        for more in ([], ["--add", os.path.join(self.scratch.name, "missing")]):
            self.sentence(refused(papers_live.main, "--live", "--parts", "wire", *more), 2, r"--parts alone would replace .* --add, or another folder with --output\n$")

    def test_options_that_no_part_needs(self):
        folder = os.path.join(self.scratch.name, "folder")
        output = ("--live", "--output", folder, "--parts", "pingpong,wire")
        self.sentence(refused(papers_live.main, *output, "--spoil", "bcast"), 2, "--spoil: none of these parts checks bcast: name one of imb2, imb4, sort with --parts")
        self.sentence(refused(papers_live.main, *output, "--prediction-build", folder), 2, "--prediction-build is for the part copies only")
        self.assertFalse(os.path.exists(folder))

    def test_help_has_every_part(self):
        self.assertEqual(sorted(papers_live.ABOUT), papers_live.NAMES)
        self.assertTrue(all(seconds > 0 for _, seconds in papers_live.ABOUT.values()))

    def test_prediction_build_below_a_file(self):
        with self.assertRaisesRegex(bench_run.MeasurementFailed, "name another folder with --prediction-build"):
            papers_live.skipping_program(os.path.join(self.file, "below"))

    def test_output_before_anything_runs(self):
        below = os.path.join(self.file, "below")
        self.sentence(refused(papers_live.main, "--live", "--output", below), 1, r"^papers: \S+ cannot be made: [^\n]+: name another folder with --output\n$")
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
