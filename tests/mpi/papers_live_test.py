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

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = ROOT / "bench" / "papers"
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
    """Returns the cells of the first table's row."""
    (line,) = re.findall(rf"^\| +{name} \|.*%.*$", document, re.MULTILINE)
    return [cell.strip() for cell in line.strip("|").split("|")][column]


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
            self.assertEqual(cells(self.document, name, 4), f"{published} %")
            for column in (5, 6):  # 2 and 4 ranks
                self.assertRegex(cells(self.document, name, column), r"^\*?[+-]\d+ %\*?$", name)
        self.assertEqual(cells(self.document, "Barrier", 1), "+73.7 %")
        for column in (2, 3):
            self.assertRegex(cells(self.document, "Barrier", column), r"^\*?[+-]\d+ %\*?$")

    def test_gains_come_from_the_times(self):
        us = {(part, who, x): figure for _, _, part, who, x, figure in self.figures}
        for column, part in ((5, "imb2"), (6, "imb4")):
            gain = (us[part, "tcp", "alltoall 4096"] / us[part, "omx", "alltoall 4096"] - 1) * 100
            self.assertEqual(cells(self.document, "Alltoall", column), f"{gain:+.0f} %")

    def test_every_contender_has_every_operation(self):
        found = {(part, who, x) for _, _, part, who, x, _ in self.figures}
        for part in ("imb2", "imb4"):
            for who in ("omx", "tcp", "processor", "helper"):
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
            for spoil in ([], ["--spoil", name]):
                with self.subTest(name, spoil=spoil):
                    ranks = "2" if name == "pingpong" else "3"
                    done = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl",
                                           "self,vader", "--mca", "mpi_yield_when_idle", "1", "-np", ranks, program, "--operations", name,
                                           "--sizes", "64", "--ms", "0.01", *spoil],
                                          capture_output=True, text=True, timeout=60, check=False)
                    if spoil:
                        self.assertNotEqual(done.returncode, 0)
                        self.assertIn(f"wrong data in {name}", done.stderr)
                    else:
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertGreater(json.loads(done.stdout)["us"], 0)


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
