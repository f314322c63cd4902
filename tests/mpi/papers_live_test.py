#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench/papers --live --quick: the form of its output, its check of results, and what a kill leaves behind.

  papers_live_test.py BUILD

Says nothing about speed. Exit 77 when it cannot run here. Then a line says why.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = ROOT / "bench" / "papers"
sys.path[:0] = [str(ROOT / "bench" / folder) for folder in ("measure", "experiments")]

import papers_live  # noqa: E402  (the path must be set first)
import papers_live_gigabit  # noqa: E402
import papers_live_table1  # noqa: E402
from bench_run import MeasurementFailed  # noqa: E402
from papers_live_tables import GIGABIT, JUMBO, PLAIN_GIGABIT, Figures  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
MARK = "PAPERS_LIVE_TEST"
LIMIT_S = 400  # on a machine with other work, too
UNABLE = 77
# [J] Table 1 at 4 KiB, which --quick measures, typed from the paper a second time.
PUBLISHED = {"SendRecv": "+4.66", "Exchange": "+8.38", "Allreduce": "+2.51", "Reduce": "+23.1", "Allgather": "-7.1", "Gather": "+52.6",
             "Scatter": "+51.6", "Alltoall": "+152", "Bcast": "+20.1"}
WITH_DATA = ("sendrecv", "exchange", "allreduce", "reduce", "reduce_scatter", "allgather", "allgatherv", "gather", "gatherv", "scatter",
             "scatterv", "alltoall", "alltoallv", "bcast", "pingpong")


def marked(mark):
    """Returns the processes that the marked run started, whatever became of their parents."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if f"{MARK}={mark}".encode() in file.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:
            continue
    return found


def papers(folder, *options, mark="", **more):
    return subprocess.Popen([PAPERS, "--live", "--quick", "--output", folder, "--build", BUILD, *options], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, MARK: mark}, **more)


def finish(run):
    try:
        return run.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        run.terminate()
        raise


def cells(document, name, column):
    """Returns a cell of the first table's row."""
    (line,) = re.findall(rf"^\| +{name} \|.*%.*$", document, re.MULTILINE)
    return [cell.strip() for cell in line.strip("|").split("|")][column]


def rows_under(document, title):
    """Returns the tables' rows below a heading, as lists of cells."""
    (text,) = re.findall(rf"^## {re.escape(title)}$(.*?)(?=^## )", document, re.MULTILINE | re.DOTALL)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


class Quick(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        run = papers(cls.folder, "--json", cls.folder / "figures.json")
        out, errors = finish(run)
        if run.returncode == UNABLE:
            print(f"SKIP: {errors.strip()}")
            os._exit(UNABLE)
        assert run.returncode == 0, errors
        assert out.strip() == str(cls.folder / "evaluation-live.md"), out
        cls.document = (cls.folder / "evaluation-live.md").read_text(encoding="utf-8")
        cls.figures = json.loads((cls.folder / "figures.json").read_text(encoding="utf-8"))["figures"]

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_every_row_of_table_1(self):
        for name, published in PUBLISHED.items():
            self.assertEqual(cells(self.document, name, 1), f"{published} %")
        self.assertEqual(cells(self.document, "Barrier", 1), "+73.7 %")
        for name in (*PUBLISHED, "Barrier"):
            for column in range(2, 7):  # 2 and 4 ranks, each with frames only, and bare frames
                self.assertRegex(cells(self.document, name, column), r"^\*?[+-]\d+ %\*?$", name)

    def test_gains_come_from_the_times(self):
        us = {(part, who, str(x)): figure for _, _, part, who, x, figure in self.figures}
        for column, part, who in ((2, "imb2", "omx"), (3, "imb2", "frames"), (4, "imb4", "omx"), (5, "imb4", "frames")):
            gain = (us[part, "tcp", "alltoall 4096"] / us[part, who, "alltoall 4096"] - 1) * 100
            self.assertEqual(cells(self.document, "Alltoall", column), f"{gain:+.0f} %")
        for name, bare in (("Alltoall", us["imb2", "bare", "4096"]), ("Exchange", 2 * us["imb2", "bare", "4096"]),
                           ("Reduce_scatter", us["imb2", "bare", "2048"]), ("Barrier", us["imb2", "bare", "0"])):
            x = "barrier 0" if name == "Barrier" else f"{name.lower()} 4096"
            self.assertEqual(cells(self.document, name, 6), f"{(us['imb2', 'tcp', x] / bare - 1) * 100:+.0f} %", name)

    def test_a_cable_of_one_gigabit(self):
        mib_s = {(cable, part, who, str(x)): int(x) / (1 << 20) / figure * 1e6
                 for _, cable, part, who, x, figure in self.figures if cable in (GIGABIT, PLAIN_GIGABIT) and part in ("gigabit", "tuning")}
        for cable in (GIGABIT, PLAIN_GIGABIT):
            for who in ("omx", "frames", "tcp"):
                # Half round trips of 64 KiB. Two frames pass a port at once, and other work makes all slower.
                self.assertLess(mib_s[cable, "gigabit", who, "65536"], 2 * papers_live_gigabit.WIRE_MIB_S, (cable, who))
        rows = {row[0]: row for row in rows_under(self.document, "[J] Fig. 9(a) and 12(a): IMB Pingpong at 1 Gb/s")}
        self.assertEqual(rows["0 B, TCP, tuned"][1], "30.8")
        self.assertAlmostEqual(float(rows["64 KiB, Open-MX"][2]), mib_s[GIGABIT, "gigabit", "omx", "65536"], delta=1)

    def test_memory_seen_before_and_new_memory(self):
        found = {who for _, _, part, who, *_ in self.figures if part == "buffers"}
        self.assertEqual(found, {f"{who}, {how}" for who in ("omx", "tcp") for how in ("same", "others", "fresh")} | {"omx, pinned"})

    def test_fragments_by_the_engine(self):
        us = {who: figure for _, _, part, who, _, figure in self.figures if part == "medium"}
        (row,) = [row for row in rows_under(self.document, "[I] IV-C: fragments of medium messages copied by the engine") if "32 KiB, fragments" in row[0]]
        self.assertAlmostEqual(float(row[2]), us["fragments"] / us["processor"], delta=0.01 * float(row[2]))

    def test_every_contender_has_every_operation(self):
        found = {(part, who, x) for _, _, part, who, x, _ in self.figures}
        for part in ("imb2", "imb4"):
            for who in ("omx", "frames", "tcp", "processor", "helper"):
                self.assertEqual({x for p, w, x in found if (p, w) == (part, who)},
                                 {f"{name} 4096" for name in WITH_DATA if name != "pingpong"} | {"barrier 0"})

    def test_keys_were_sorted(self):
        self.assertEqual({who for _, _, part, who, *_ in self.figures if part == "sort"}, {"omx", "tcp"})
        done = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "self,vader",
                               "-np", "3", BUILD / "bench" / "mpi_is", "--keys", "16", "--spoil", "all"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("wrong data in is", done.stderr)

    def test_times_and_rates_are_positive(self):
        self.assertGreater(len(self.figures), 150)
        for *_, part, who, x, figure in self.figures:
            # A short run may find a processor idle, and no process asleep.
            if part != "busy" and "wake-ups" not in str(x):
                self.assertGreater(figure, 0, (part, who, x))

    def test_plots_are_there(self):
        plots = re.findall(r"!\[.*?\]\((.*?)\)", self.document)
        self.assertGreater(len(plots), 6)
        for plot in plots:
            self.assertIn("</svg>", (self.folder / plot).read_text(encoding="utf-8"), plot)

    def test_it_says_how_it_came_about(self):
        self.assertRegex(self.document, r"Written by `bench/papers --live --quick .*` on \d{4}-\d\d-\d\d; not edited by hand")
        self.assertIn("--quick` measures next to nothing", self.document)
        self.assertRegex(self.document, r"Measured on a (virtual )?machine with \d+ processors")


class Statements(unittest.TestCase):
    """Judges figures that are made up."""

    def judge(self, statement, rows):
        return statement(Figures([[0, *row] for row in rows]))

    def test_wire_share__needs_both(self):
        full = 4 / papers_live_gigabit.WIRE_MIB_S * 1e6  # us of 4 MiB at the wire's rate
        for tcp, holds in ((1.05, True), (1.2, False)):
            found = self.judge(papers_live_gigabit.wire_share, [[GIGABIT, "gigabit", "omx", 4 << 20, full], [GIGABIT, "gigabit", "tcp", 4 << 20, full * tcp]])
            self.assertEqual(found, (holds, f"100% of it, TCP {1 / tcp:.0%}"))

    def test_middle_sizes__one_size_behind(self):
        rows = [[cable, "gigabit", who, size, us] for cable in (GIGABIT, PLAIN_GIGABIT) for who, us in (("frames", 100), ("omx", 102), ("tcp", 105))
                for size in papers_live_gigabit.MIDDLE]
        self.assertEqual(self.judge(papers_live_gigabit.middle_sizes, rows),
                         (True, "by frames +5.0 to +5.0 %, MTU 1500 +5.0 to +5.0 %; by default +2.9 to +2.9 %"))
        rows[0][-1] = 110
        self.assertEqual(self.judge(papers_live_gigabit.middle_sizes, rows),
                         (False, "by frames -4.5 to +5.0 %, MTU 1500 +5.0 to +5.0 %; by default +2.9 to +2.9 %"))
        alike = [[*row[:-1], 100] for row in rows]
        self.assertIsNone(self.judge(papers_live_gigabit.middle_sizes, alike)[0])

    def test_messages_that_do_not_meet_the_wire_are_not_judged(self):
        rows = [[cable, "gigabit", who, size, us] for cable in (GIGABIT, PLAIN_GIGABIT) for who, us in (("frames", 100), ("omx", 100), ("tcp", 105))
                for size in papers_live_gigabit.JUDGED]
        short = [[GIGABIT, "gigabit", "frames", size, 200] for size in (0, 16 << 10, 32 << 10)] + [[GIGABIT, "gigabit", "tcp", size, 100] for size in (0, 16 << 10, 32 << 10)]
        for judge in (papers_live_gigabit.always_faster, papers_live_gigabit.middle_sizes):
            self.assertTrue(self.judge(judge, rows + short)[0], judge)
        rows[0][-1] = 200
        self.assertFalse(self.judge(papers_live_gigabit.always_faster, rows)[0])
        with self.assertRaises(KeyError):
            self.judge(papers_live_gigabit.mtu_medium, [[cable, "tuning", "not tuned", 16 << 10, 100] for cable in (GIGABIT, PLAIN_GIGABIT)])

    def test_tuning__both_directions(self):
        rows = [[GIGABIT, "tuning", "tuned", 4 << 20, 100], [GIGABIT, "tuning", "not tuned", 4 << 20, 104]]
        self.assertEqual(self.judge(papers_live_gigabit.tuning_rate, rows), (True, "+4.0 % at 4 MiB"))
        for us, holds in ((90, False), (97.5, None), (102.5, None), (120, False)):
            rows[1][-1] = us
            self.assertIs(self.judge(papers_live_gigabit.tuning_rate, rows)[0], holds, us)

    def test_larger_packets__every_count(self):
        rows = [[GIGABIT, "gigabit_blocks", f"{mode}, {how}", count, us] for mode, us in (("packets of 4 kB", 110), ("frames of 9000 B", 100))
                for how in ("tuned", "not tuned") for count in (1, 4, 16)]
        self.assertEqual(self.judge(papers_live_gigabit.larger_packets, rows), (True, "in 6 of 6 cases, +10.0 to +10.0 %"))
        rows[0][-1] = 101
        self.assertEqual(self.judge(papers_live_gigabit.larger_packets, rows), (False, "in 5 of 6 cases, +1.0 to +10.0 %"))
        alike = [[*row[:-1], 100] for row in rows]
        self.assertEqual(self.judge(papers_live_gigabit.larger_packets, alike), (None, "in 0 of 6 cases, +0.0 to +0.0 %"))

    def test_no_difference_is_said(self):
        statement = papers_live_gigabit.Statement("s", lambda f: (None, "0 %"))
        self.assertIn("no difference", papers_live.papers_live_report.statement_lines([statement], Figures([]))[-2])

    def test_deeper__tuned_gains_less(self):
        def rows(tuned):
            return [[GIGABIT, "gigabit_blocks", f"{mode}, {how}", count, us] for mode in ("frames of 9000 B", "packets of 4 kB")
                    for how, one in (("tuned", tuned), ("not tuned", 200)) for count, us in ((1, one), (16, 100))]

        self.assertEqual(self.judge(papers_live_gigabit.deeper_untuned, rows(110)), (True, "2.00 times as fast, packets of 4 kB 2.00"))
        self.assertTrue(self.judge(papers_live_gigabit.deeper_tuned, rows(110))[0])
        self.assertFalse(self.judge(papers_live_gigabit.deeper_tuned, rows(300))[0])

    def test_what_is_missing_is_said(self):
        lines = papers_live.papers_live_report.statement_lines(papers_live_gigabit.FIG9_STATEMENTS, Figures([]))
        self.assertEqual(sum("not measured" in line for line in lines), len(papers_live_gigabit.FIG9_STATEMENTS))

    def test_distance_from_bare_frames(self):
        rows = [[0, JUMBO, "imb2", "bare", size, 2.0] for size in (0, 8, 16)]
        rows += [[0, JUMBO, "imb2", who, f"{name} {0 if name == 'barrier' else 16}", us] for name in papers_live_table1.NAMES
                 for who, us in (("omx", 4.0), ("frames", 6.0), ("tcp", 8.0))]
        (line,) = papers_live_table1.distance_lines(Figures(rows))
        self.assertIn("16 B: frames only 3 (1.5 to 3), default 2 (1 to 2), TCP 4 (2 to 4)", line)


class Pieces(unittest.TestCase):
    """Adds rounds to a file."""
    FACTS = {"command": "c", "date": "2026-01-02", "machine": "m", "cores": 2, "engine": "e", "seconds": 170, "doubt": "", "quick": False}

    def test_added__rounds_follow_each_other(self):
        old = [[0, JUMBO, "sort", "omx", "us", 1.0], [1, JUMBO, "sort", "omx", "us", 2.0], [0, JUMBO, "wire", "omx", 1024, 3.0]]
        facts, figures = papers_live.added({**self.FACTS, "date": "2026-01-05", "doubt": "busy"}, [[0, JUMBO, "wire", "omx", 1024, 5.0]], (self.FACTS, old))
        self.assertEqual(figures, [*old, [2, JUMBO, "wire", "omx", 1024, 5.0]])
        self.assertEqual(Figures(figures)(JUMBO, "wire", "omx", 1024), 4.0)
        self.assertEqual((facts["date"], facts["seconds"], facts["doubt"]), ("2026-01-02 to 2026-01-05", 340, "busy"))
        with self.assertRaisesRegex(MeasurementFailed, "figures of engine e, and this is f: name another file"):
            papers_live.added({**self.FACTS, "engine": "f"}, old, (self.FACTS, old))
        with self.assertRaisesRegex(MeasurementFailed, "another machine"):
            papers_live.added({**self.FACTS, "machine": "n"}, old, (self.FACTS, old))

    def test_rounds_by_section(self):
        row, other = [0, JUMBO, "sort", "omx", "us", 1.0], [0, JUMBO, "wire", "omx", 1, 1.0]
        self.assertEqual(Figures([row]).rounds(), "one round")
        figures = Figures([row, [1, *row[1:]], other])
        self.assertEqual(figures.rounds(), "one to 2 rounds, by part")
        self.assertEqual(figures.rounds({(JUMBO, "sort")}), "medians of 2 rounds")
        self.assertEqual(figures.rounds({(JUMBO, "wire")}), "one round")
        document = papers_live.papers_live_report.document(figures, self.FACTS)
        self.assertIn("Measured in about 3 min: one to 2 rounds", document)
        self.assertRegex(document, r"## \[J\] Table 3: NAS IS\n\nMedians of 2 rounds\.\n")

    def test_what_was_not_measured_has_no_section(self):
        document = papers_live.papers_live_report.document(Figures([[0, JUMBO, "sort", "omx", "us", 1.0]]), self.FACTS)
        self.assertEqual(re.findall(r"^## (.*)$", document, re.MULTILINE), ["[J] Table 3: NAS IS", "What is not here"])
        self.assertIn("* Not measured this time: [J] Table 1\n", document)

    def test_what_is_kept_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "figures.json")
            figures = [[0, JUMBO, "sort", "omx", "us", 1.25], [0, GIGABIT, "gigabit", "tcp", 64, 1234.5]]
            papers_live.figures_keep(path, self.FACTS, figures)
            self.assertEqual(papers_live.measured_before(path, "--add"), (self.FACTS, figures))

    def test_one_part_is_added(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "figures.json")
            for rounds in (1, 2):
                run = papers(folder, "--parts", "medium,sort", "--add", path)
                _, errors = finish(run)
                self.assertEqual(run.returncode, 0, errors)
                figures = papers_live.measured_before(path, "--add")[1]
                self.assertEqual({(row[0], row[2]) for row in figures}, {(number, part) for number in range(rounds) for part in ("medium", "sort")})

    def test_unknown_part(self):
        run = papers("/nonexistent", "--parts", "imb2,nothing")
        _, errors = finish(run)
        self.assertEqual(run.returncode, 2)
        self.assertIn("no part nothing: there are", errors)


class WrongData(unittest.TestCase):
    def test_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            run = papers(folder, "--spoil", "allgather")
            _, errors = finish(run)
            self.assertEqual(run.returncode, 1, errors)
            self.assertRegex(errors, r"papers: .* did not deliver what was sent: .*rank \d: wrong data in allgather")
            self.assertEqual(os.listdir(folder), [])

    def test_each_operation_looks_at_its_result(self):
        program = BUILD / "bench" / "mpi_collectives"
        for name in WITH_DATA:
            ways = ([], ["--buffers", "others"], ["--buffers", "fresh"]) if name == "pingpong" else ([],)
            for spoil, way in [(spoil, way) for spoil in ([], ["--spoil", name]) for way in ways]:
                with self.subTest(name, spoil=spoil, way=way):
                    ranks = "2" if name == "pingpong" else "3"
                    done = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl",
                                           "self,vader", "--mca", "mpi_yield_when_idle", "1", "-np", ranks, program, "--operations", name,
                                           "--sizes", "64", "--ms", "0.01", *way, *spoil],
                                          capture_output=True, text=True, timeout=60, check=False)
                    if spoil:
                        self.assertNotEqual(done.returncode, 0)
                        self.assertIn(f"wrong data in {name}", done.stderr)
                    else:
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertGreater(json.loads(done.stdout)["us"], 0)


class WrongNames(unittest.TestCase):
    def test_each_name_must_be_that_of_an_operation(self):
        for option in ("--operations", "--spoil"):
            for names in ("Alltoall", "alltoall,alltoal", "alltoall,", ",alltoall", "alltoall,,barrier"):
                with self.subTest(option, names=names):
                    done = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "self,vader",
                                           "-np", "1", BUILD / "bench" / "mpi_collectives", option, names],
                                          capture_output=True, text=True, timeout=60, check=False)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(f"{option} wants names such as alltoall, with commas, not {names}", done.stderr)


class Killed(unittest.TestCase):
    def test_nothing_stays(self):
        mark = uuid.uuid4().hex
        with tempfile.TemporaryDirectory() as folder:
            run = papers(folder, mark=mark, start_new_session=True)
            end = time.monotonic() + 60
            while len(marked(mark)) < 8 and time.monotonic() < end:  # a lab with a job in it
                time.sleep(0.1)
            self.assertGreaterEqual(len(marked(mark)), 8, "the job did not start")
            os.kill(run.pid, signal.SIGKILL)
            end = time.monotonic() + 60  # the lab gives its processes five seconds
            while marked(mark) and time.monotonic() < end:
                time.sleep(0.2)
            self.assertEqual(marked(mark), [])
            run.communicate()
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    for tool, package in (("gnuplot", "gnuplot-nox"), ("mpirun.openmpi", "openmpi-bin"), ("mpicc.openmpi", "libopenmpi-dev")):
        if not shutil.which(tool):
            print(f"SKIP: {tool} is missing: apt-get install {package}")
            sys.exit(UNABLE)
    unittest.main(verbosity=2)
