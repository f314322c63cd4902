#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what the benchmarks print and return, without measuring: doubts, rounds, failures."""
import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
BENCH = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "bench")
sys.path[:0] = [os.path.join(BENCH, "measure"), os.path.join(BENCH, "experiments")]

import bench_build  # noqa: E402  (the path must be set first)
import bench_run  # noqa: E402
import compare_report  # noqa: E402
import front_report  # noqa: E402
import moderation_report  # noqa: E402
import papers_live_report  # noqa: E402
import papers_live_table1  # noqa: E402
import papers_live_tables  # noqa: E402
import record_compare  # noqa: E402
import record_file  # noqa: E402
import stages_count  # noqa: E402
import stages_report  # noqa: E402

script = bench_run.script_module


def said(action):
    """Returns (status, text on stderr)."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        status = bench_run.run_main("bench", action)
    return status, errors.getvalue()


class Run(unittest.TestCase):
    def test_failure_is_a_sentence(self):
        def fail():
            raise bench_run.MeasurementFailed("no cable", bench_run.UNABLE)
        self.assertEqual(said(fail), (77, "bench: no cable\n"))

    def lab_that_fails(self, cores_in_use):
        with mock.patch.object(bench_run, "LAB", "/bin/false"), mock.patch.object(bench_run, "doubts", []), \
                mock.patch.object(bench_run, "cores_in_use", lambda: cores_in_use):
            return said(lambda: bench_run.run_lab("compare", {}, 2))

    def test_lab_that_fails(self):
        self.assertEqual(self.lab_that_fails(0.0), (1, "bench: the lab ended with status 1, for the reason above\n"))

    def test_busy_machine_is_no_failure(self):
        status, text = self.lab_that_fails(1.5)
        self.assertEqual(status, 77)
        self.assertRegex(text, r"^bench: not measured, because the machine is busy \(others use 1.5 processors\): the lab ended")

    def test_busy_machine_excuses_no_wrong_use(self):
        def fail():
            raise bench_run.MeasurementFailed("nothing can be written")
        with mock.patch.object(bench_run, "doubts", ["the machine is busy"]):
            self.assertEqual(said(fail), (1, "bench: nothing can be written\n"))

    def test_server_that_does_not_start(self):
        status, text = said(lambda: bench_run.run_pair(["false"], ["true"], ready="waiting"))
        self.assertEqual((status, text), (1, "bench: the server did not start: false\n"))

    def test_client_that_fails(self):
        status, text = said(lambda: bench_run.run_pair(["sleep", "60"], ["false"]))
        self.assertEqual((status, text), (1, "bench: this command failed: false\n"))

    def test_verdict(self):
        self.assertEqual(bench_run.verdict(False, [False], "busy"), 0)
        self.assertEqual(bench_run.verdict(True, [True], ""), 0)
        self.assertEqual(bench_run.verdict(True, [True, False], ""), 1)
        self.assertEqual(said(lambda: bench_run.verdict(True, [True], "busy"))[0], 1)


class Sizes(unittest.TestCase):
    """Sizes are read as the settings of Open-MX are, and a refused one names its option and the remedy."""

    def refused(self, command, *options):
        done = subprocess.run([os.path.join(bench_run.BENCH, command), *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done)
        return done.stderr

    def test_units(self):
        parse = bench_run.size(0, 1 << 40)
        for text, value in (("0", 0), ("1500", 1500), ("64K", 65536), ("64k", 65536), ("3M", 3 << 20), ("2g", 2 << 30)):
            self.assertEqual(parse(text), value)
        for text in ("", "K", "1.5K", "64KB", "64 K", "-1", "4096G"):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "is not a number of bytes from 0 to 1024G; K, M or G may follow"):
                parse(text)

    def test_wrong_sizes_are_refused(self):
        for command, option in (("neighbours", "--queue"), ("neighbours", "--mark"), ("stages", "--bytes"), ("paths", "--size")):
            self.assertRegex(self.refused(command, option, "64X"), f"argument {option}: '64X' is not a number of bytes from .*; K, M or G may follow")

    def test_port_that_cannot_mark_is_refused(self):
        self.assertIn("--mark 1M is not less than --queue 256K, so nothing would be marked: mark from fewer bytes on, or queue more",
                      self.refused("neighbours", "--mark", "1M"))
        self.assertIsNone(bench_run.mark_fault("--mark", 1, "--queue", 2))


class Build(unittest.TestCase):
    """Missing programs are reported before anything is measured, with their remedy."""

    def build(self, folder, programs, **options):
        with mock.patch.object(bench_build, "lab_needed", lambda: None):
            return said(lambda: bench_build.built(folder, programs, **options))

    def test_folder_that_is_no_build(self):
        with tempfile.TemporaryDirectory() as folder:
            status, text = self.build(folder, {"omx": "tools/omx"})
        self.assertEqual(status, 1)
        self.assertRegex(text, "holds no build of Open-MX: name another with --build, or make one: cmake --preset release -B")

    def test_programs_without_a_build_are_used(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink("/bin/true", os.path.join(folder, "omx"))
            path = os.path.join(os.path.realpath(folder), "omx")
            self.assertEqual(bench_build.built(folder, {"omx": "omx"}, lab=False), {"omx": path})
            self.assertEqual(bench_build.built(folder, {"omx": "omx", "xdp": "xdp"}, lab=False, optional=("xdp",)), {"omx": path})

    def in_small_build(self, action):
        """Runs an action with a build that has two targets, one of which fails."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="ascii") as file:
                file.write("cmake_minimum_required(VERSION 3.25)\nproject(small NONE)\n"
                           "add_custom_target(good COMMAND touch good VERBATIM)\nadd_custom_target(bad COMMAND false VERBATIM)\n")
            build = os.path.join(folder, "build")
            subprocess.run(["cmake", "-S", folder, "-B", build, "-G", "Ninja"], check=True, stdout=subprocess.DEVNULL)
            return action(build)

    def test_what_is_needed_is_built(self):
        def action(build):
            paths = bench_build.built(build, {"good": "good", "xdp": "omx_floor_xdp"}, lab=False, optional=("xdp",))
            self.assertEqual(paths, {"good": os.path.join(os.path.realpath(build), "good")})
            self.assertTrue(os.path.exists(paths["good"]))
        self.in_small_build(action)

    def test_what_a_build_lacks(self):
        for path, status, remedy in ((bench_build.PROVIDER, 77, "apt-get install libfabric-dev"),
                                     ("bench/omx_floor_xdp", 77, "apt-get install clang bpftool"),
                                     ("bench/omx_floor", 1, "cmake -DOMX_BENCH=ON ")):
            got, text = self.in_small_build(lambda build, path=path: self.build(build, {"x": path}))
            self.assertEqual(got, status)
            self.assertIn(remedy, text)

    def test_build_that_fails(self):
        with mock.patch.object(sys, "stderr", sys.__stderr__):
            with self.assertRaisesRegex(bench_run.MeasurementFailed, "could not be built, for the reason above"):
                self.in_small_build(lambda build: bench_build.built(build, {"bad": "bad"}, lab=False))

    def test_tool_that_is_missing(self):
        self.assertEqual(said(lambda: bench_build.tools_needed({"sh": "dash", "omx-none": "no-such"})),
                         (77, "bench: omx-none is missing: apt-get install no-such\n"))


class Report(unittest.TestCase):
    TARGETS = [("fast", 1.5, False), ("small", 2, True)]

    def test_targets_are_judged(self):
        lines = list(compare_report.target_lines(self.TARGETS, "", False))
        self.assertEqual(lines, ["  MISSED fast (measured 1.50)", "  holds  small (measured 2.00)"])

    def test_targets_in_doubt_are_one_line(self):
        self.assertEqual(list(compare_report.target_lines(self.TARGETS, "the machine is busy", False)), [])
        self.assertEqual(compare_report.targets_heading("the machine is busy"),
                         "Targets are not judged, as the machine is busy: these figures do not count")

    def test_rounds(self):
        self.assertEqual(compare_report.rounds_text(3, 3), "medians of 3 rounds")
        self.assertEqual(compare_report.rounds_text(1, 1), "one round")
        self.assertEqual(compare_report.rounds_text(1, 3), "one round of 3, as time was up")

    def test_footnote_only_where_tcp_is_ahead(self):
        slow = {"pingpong": {65536: {"omx": 20.0, "tcp": 9.0}}}
        fast = {"pingpong": {8: {"omx": 1.6, "tcp": 3.4}}, "stream": {65536: {"omx": 20.0, "tcp": 15.0}}}
        self.assertTrue(compare_report.tcp_is_ahead(slow))
        self.assertFalse(compare_report.tcp_is_ahead(fast))


class Mpi(unittest.TestCase):
    MEDIANS = {8: {"omx": 2e-6, "tcp": 8e-6, "ofi-tcp": 5e-6}, 4 << 20: {"omx": 1e-3, "tcp": 2e-3, "ofi-tcp": 4e-3}}

    def test_the_best_of_the_others_counts(self):
        mpi = script("mpi")
        self.assertEqual([(round(measured, 3), holds) for _, measured, holds in mpi.targets_of(self.MEDIANS, 9000, 0)],
                         [(0.4, True), (2.0, True)])
        self.assertEqual(len(mpi.targets_of(self.MEDIANS, 1500, 0)), 1)

    def test_a_user_has_targets_of_his_own(self):
        mpi = script("mpi")
        slower = {8: {"omx": 3e-6, "tcp": 5e-6}, 4 << 20: {"omx": 2e-3, "tcp": 1e-3}}
        self.assertEqual([(round(measured, 3), holds) for _, measured, holds in mpi.targets_of(slower, 1500, 65534)],
                         [(0.6, True), (0.5, False)])

    def test_table_leaves_out_whom_it_cannot_show(self):
        mpi = script("mpi")
        medians = {size: dict(row) for size, row in self.MEDIANS.items()}
        medians[8]["ucx"] = 1e-6
        text = mpi.render(medians, [], 9000, 0, {"rounds": 1}, 3, "the machine is busy", False)
        self.assertNotIn("UCX", text)
        self.assertRegex(text, r"4 MiB +1000.00 +33.55 ")

    def test_hpcc_results_are_judged(self):
        hpcc = script("hpcc")
        good = {"Success": "1", "PTRANS_residual": "0", "HPL_RnormI": "1e-10", "MPIRandomAccess_ErrorsFraction": "0",
                "MPIRandomAccess_LCG_ErrorsFraction": "0", "MPIFFT_maxErr": "1e-15"}
        self.assertEqual(hpcc.invalid(good), "")
        self.assertEqual(hpcc.invalid({**good, "Success": "0"}), "Success")
        self.assertEqual(hpcc.invalid({**good, "PTRANS_residual": "20"}), "PTRANS_residual")
        self.assertIn("incomplete", hpcc.invalid({}))


class Stages(unittest.TestCase):
    CALLGRIND = """\
positions: line
events: Ir
ob=(1) /lib/libmyriexpress.so
fl=(1) ROOT/build/stages/../../src/mx/call.cc
fn=(1) mx_isend
16 10
+1 5
cob=(2) /lib/libc.so.6
cfi=(2) ./string/memmove.S
cfn=(2) memcpy
calls=2 30
17 1000
fi=(3) ROOT/src/protocol/state/peer.h
* 4
fe=(1)
18 1
fi=(4) /usr/include/c++/12/span
20 2

ob=(2)
fl=(2)
fn=(2)
30 500
"""

    def test_inlined_lines_count_where_they_were_written(self):
        stages, functions = stages_count.read_callgrind(self.CALLGRIND.replace("ROOT", bench_run.ROOT))
        self.assertEqual(stages, {"MX API": 18, "protocol: state": 4, "libc.so.6": 500})
        self.assertEqual(functions, {"mx_isend": 22, "memcpy": 500})

    def test_cache_lines_of_a_round(self):
        mark = 0x1000
        once = ["I  0400,3", " L 2000,8", " S 203c,8", " M 2000,4", "==1== a remark"]
        trace = (once + [f" S {mark:08x},8"]) * (stages_count.SETTLED + 3)
        # A round touches the mark, and two lines of data, as one access crosses into the second: half of them for a message.
        self.assertEqual(stages_count.read_lackey(trace, mark), {"data_lines": 1.5, "code_lines": 0.5})

    def test_trace_without_rounds(self):
        with self.assertRaises(bench_run.MeasurementFailed):
            stages_count.read_lackey(["I  0400,3"], 0x1000)

    def test_table(self):
        case = {"link": "raw", "api": "mx", "stages": {"MX API": 18.2, "protocol: state": 40}, "functions": {"f": 3}, "data_lines": 1.5,
                "code_lines": 7, "system_calls": {"sendto": 1.0}}
        text = stages_report.render([case], 8)
        self.assertIn("| protocol: state | 40 |\n| MX API | 18 |\n| **all** | **58** |", text)
        self.assertIn("sendto 1.00", text)


class PapersLive(unittest.TestCase):
    """Three rounds of two operations. In the last round TCP was not measured for one of them."""
    ROUNDS = ((10.0, 20.0), (11.0, 22.0), (12.0, 6.0))

    def setUp(self):
        measured = []
        for number, (omx, tcp) in enumerate(self.ROUNDS):
            measured += [[number, 9000, "imb2", "omx", "bcast 16", omx], [number, 9000, "imb2", "tcp", "bcast 16", tcp],
                         [number, 9000, "imb2", "omx", "gather 16", 5.0]]
            measured += [[number, 9000, "imb2", "tcp", "gather 16", 6.0]] if number < 2 else []
        self.measured = measured
        self.figures = papers_live_tables.Figures(measured)

    def test_gain_of_medians(self):
        self.assertEqual(papers_live_table1.gain_text(self.figures, 2, "bcast", 16), "*+82 %*")  # the rounds do not agree
        self.assertEqual(papers_live_table1.gain_text(self.figures, 2, "gather", 16), "+20 %")
        self.assertEqual(papers_live_table1.gain_text(self.figures, 4, "gather", 16), "–")

    def test_every_published_figure_of_table_1_is_shown(self):
        # A size has a table when SendRecv was measured with it.
        figures = papers_live_tables.Figures(self.measured + [[0, 9000, "imb2", who, f"sendrecv {size}", 3.0]
                                                              for size in papers_live_tables.TABLE1_SIZES for who in ("omx", "tcp")])
        text = "\n".join(papers_live_table1.table1_lines(figures, ""))
        for published in papers_live_tables.TABLE1.values():
            for figure in published:
                self.assertIn(f"{figure:+g} %", text)
        self.assertRegex(text, r"\| +Bcast \| +\+44.6 % \| .*\*\+82 %\* ")

    def test_where_tcp_is_ahead_is_said(self):
        slow = papers_live_tables.Figures([[0, 9000, "imb2", who, f"{name} 16", us] for name, omx, tcp in (("bcast", 2.0, 1.0), ("sendrecv", 1.0, 4.0))
                                           for who, us in (("omx", omx), ("tcp", tcp))])
        self.assertEqual(list(papers_live_table1.balance_lines(slow)),
                         ["2 ranks: Open-MX is faster in 1 of 2, the median gain is +125 %; it is slower in Bcast 16 B (-50 %)."])

    def test_sections_bear_what_is_missing(self):
        for section in papers_live_tables.SECTIONS:
            lines = papers_live_report.section_lines(section, self.figures)
            self.assertEqual(sum(line.startswith("| ") for line in lines), len(section.rows) + 1, section.title)

    def test_unknown_and_wrong_usage(self):
        for arguments in (["--live", "--quick"], ["--live", "--rounds", "0"], ["--live", "--spoil", "nonsense"]):
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as ended:
                script("papers").papers_live.main(arguments)
            self.assertEqual(ended.exception.code, 2)
            self.assertRegex(errors.getvalue(), "papers --live: error: --(quick|rounds|spoil)")


class Sleepers(unittest.TestCase):
    @staticmethod
    def one(value):
        sleepers = script("sleepers")
        return {"udp": {waker: {key: value for key in sleepers.FIGURES} for waker in sleepers.WAKERS}}

    def test_medians_of_the_rounds(self):
        sleepers = script("sleepers")
        lines = sleepers.medians([self.one(1.0), self.one(9.0), self.one(2.0)])
        self.assertEqual([line["waker"] for line in lines], list(sleepers.WAKERS))
        self.assertEqual({line["wakeups"] for line in lines}, {2.0})
        self.assertRegex(sleepers.render(lines, True), r"\| +udp \| +frame \| +2.00 \| +2.00 \| +2.00 \| +2.0 \|")

    def test_every_way_to_wake_differs(self):
        wakers = script("sleepers").WAKERS
        self.assertEqual(len({tuple(sorted(settings.items())) for settings in wakers.values()}), len(wakers))


class Moderation(unittest.TestCase):
    figures = {name: {"pingpong 8": 1.5, "pingpong 4194304": 900.0, "rate 8": 0.25,
                      **{f"{way} {key}": 2.0 for way in moderation_report.WAYS for key in ("wakeups", "frames", "deaf", "gbps")}}
               for name in moderation_report.STRATEGIES}

    def write(self, folder, before):
        page = os.path.join(folder, moderation_report.PAGE)
        if before is not None:
            with open(page, "w", encoding="utf-8") as file:
                file.write(before)
        # /bin/true stands for a program that draws.
        moderation_report.write("/bin/true", folder, self.figures, "how it was measured", "")
        with open(page, encoding="utf-8") as file:
            return file.read()

    def test_only_what_is_between_the_marks_changes(self):
        begin, end = moderation_report.BEGIN, moderation_report.END
        with tempfile.TemporaryDirectory() as folder:
            text = self.write(folder, f"before\n{begin}\nold\n{end}\nbehind\n")
            self.assertRegex(text, f"^before\n{begin}\n`how it was measured`")
            self.assertTrue(text.endswith(f"![What each strategy costs and saves](moderation.svg)\n{end}\nbehind\n"), text)
            self.assertNotIn("old", text)
            self.assertRegex(text, r"\| adaptive \| +1.5 \| +900.0 \| +0.250 \|")
            self.assertEqual(self.write(folder, text), text)

    def test_a_page_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertTrue(self.write(folder, None).startswith(moderation_report.BEGIN))

    def test_marks_that_are_missing_or_double(self):
        begin, end = moderation_report.BEGIN, moderation_report.END
        for page in ("none", f"{begin}\n", f"{end}\n{begin}\n", f"{begin}\n{end}\n{begin}\n{end}\n"):
            with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(bench_run.MeasurementFailed, "where the tables go"):
                self.write(folder, page)


class Front(unittest.TestCase):
    kept = {"date": "2026-01-02", "command": "bench/front", "processor": "P", "processors": 2, "linux": "6", "mtu": 9000, "rounds": 3, "doubt": "",
            "figures": [[way, size, seconds] for way in ("raw", "tcp") for size in (8, 1024, 65536, 4 << 20) for seconds in (1e-6, 2e-6, 9e-6)]
            + [["floor", 8, 1.5e-6]]}

    def write(self, page, **more):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, front_report.PAGE)
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
            front_report.write("/bin/true", folder, {**self.kept, **more})  # a program that draws anything
            with open(path, encoding="utf-8") as file:
                return file.read()

    def test_medians_between_the_marks(self):
        text = self.write(f"before\n{front_report.BEGIN}\nold\n{front_report.END}\nbehind\n")
        self.assertTrue(text.startswith("before\n") and text.endswith(f"{front_report.END}\nbehind\n"), text)
        self.assertNotIn("old", text)
        self.assertRegex(text, r"8 B: half round trip, us \| +2.0 \| +2.0 \| +1.5 \|")
        self.assertRegex(text, r"64 KiB: Gb/s \| +262.1 \| +262.1 \| +– \|")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertNotIn("Preliminary", text)

    def test_doubt_is_told(self):
        text = self.write(f"{front_report.BEGIN}\n{front_report.END}\n", doubt="busy")
        self.assertIn("**Preliminary: busy.**", text)
        self.assertRegex(text, r"8 B: half round trip, us \| +1.0 \| +1.0 \| +1.5 \|")  # the best of the rounds

    def test_marks_that_are_missing(self):
        with self.assertRaisesRegex(bench_run.MeasurementFailed, "where the table goes"):
            self.write("none")


class Record(unittest.TestCase):
    NAME = "raw mtu1500 omx ping-pong 8 B median"

    def run_of(self, values, mode="fast", name=NAME, **facts):
        return {"commit": "0123456789abcdef", "changed": False, "time": "2026-01-01T00:00:00+00:00", "doubt": "",
                "machine": {"cpu": "one", "cores": 2, "kernel": "6", "arch": "x"}, "note": "", "settings": {},
                "figures": [{"name": name, "mode": mode, "value": value, "better": "less"} for value in values], **facts}

    def verdicts(self, before, after, **options):
        return [change["verdict"] for change in record_compare.compare([self.run_of(before, **options)], [self.run_of(after, **options)])]

    def test_chance_is_that_of_all_orders(self):
        # Ten orders of two and three values; both ends.
        self.assertAlmostEqual(record_compare.chance([1, 2], [3, 4, 5]), 0.2)
        self.assertAlmostEqual(record_compare.chance([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 2 / 252)
        self.assertEqual(record_compare.chance([1, 1, 1, 1], [1, 1, 1, 1]), 1)
        self.assertEqual(sum(record_compare.arrangements(4, 6)), 210)

    def test_change_beyond_noise(self):
        self.assertEqual(self.verdicts([2.0, 2.1, 2.2, 2.0, 2.1], [1.7, 1.8, 1.7, 1.9, 1.8]), ["better"])
        self.assertEqual(self.verdicts([1.7, 1.8, 1.7, 1.9, 1.8], [2.0, 2.1, 2.2, 2.0, 2.1]), ["worse"])
        self.assertEqual(self.verdicts([1.7, 1.8, 2.2, 1.9, 1.8], [2.0, 1.6, 1.7, 2.0, 2.1]), ["same"])
        self.assertEqual(self.verdicts([2.00, 2.01, 2.00, 2.01, 2.00], [2.02, 2.03, 2.02, 2.03, 2.02]), ["same"])
        self.assertEqual(self.verdicts([1, 1, 1, 1], [9, 9, 9, 9]), ["too few rounds"])
        self.assertEqual(self.verdicts([1] * 5, [9] * 5), ["worse"])

    def test_machine_and_counts(self):
        self.assertEqual(self.verdicts([1, 1, 1, 1, 1], [2, 2, 2, 2, 2], name="raw mtu1500 tcp ping-pong 8 B median"), ["machine"])
        self.assertEqual(self.verdicts([4200], [4100], name="instructions raw mx", mode="any"), ["better"])
        self.assertEqual(self.verdicts([4200], [4201], name="instructions raw mx", mode="any"), ["same"])

    def test_modes_and_machines_are_never_mixed(self):
        fast, slow = self.run_of([1] * 5), self.run_of([2] * 5, mode="slow")
        with self.assertRaisesRegex(bench_run.MeasurementFailed, "no figure in the same mode"):
            record_compare.compare([fast], [slow])
        other = self.run_of([1] * 5, machine={"cpu": "two"})
        with self.assertRaisesRegex(bench_run.MeasurementFailed, "different machines"):
            record_compare.compare([fast], [other])

    def test_settings_are_never_mixed(self):
        with self.assertRaisesRegex(bench_run.MeasurementFailed, "different settings"):
            record_compare.compare([self.run_of([1] * 5)], [self.run_of([1] * 5, settings={"OMX_GSO_FRAMES": "0"})])

    def test_ties_make_nothing_more_certain(self):
        self.assertGreater(record_compare.chance([1, 1, 1, 1, 2], [2, 3, 3, 3, 3]), record_compare.chance([1, 1, 1, 1, 1], [3, 3, 3, 3, 3]))

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.jsonl")
            with self.assertRaisesRegex(bench_run.MeasurementFailed, "cannot be read.*measure first"):
                record_file.read(path)
            run = self.run_of([1.5], note="a note")
            record_file.append(path, run)
            record_file.append(path, self.run_of([1.6], commit="fedcba9876543210"))
            runs = record_file.read(path)
            self.assertEqual(runs[0], run)
            self.assertEqual(record_file.chosen(runs, "2"), [runs[1]])
            self.assertEqual(record_file.chosen(runs, "0123456789"), [run])
            for name, reason in (("3", "there is no run 3: the file has 2"), ("0", "there is no run 0"), ("aaaaaaaaaa", "no run of the commit"), ("0", "no run")):
                with self.assertRaisesRegex(bench_run.MeasurementFailed, reason):
                    record_file.chosen(runs, name)
            self.assertRegex(record_file.listing(runs), "  1  2026.*0123456789 .*a note\n  2 ")
            for line in ("x", "[]", "{}", '{"figures": [{}]}', '{"figures": [], "machine": 1}', '{"figures": 3}'):
                with open(path, "w", encoding="utf-8") as out:
                    out.write(f"{json.dumps(run)}\n{line}\n")
                with self.assertRaisesRegex(bench_run.MeasurementFailed, "line 2 of .* is no run"):
                    record_file.read(path)

    def test_report(self):
        before, after = [self.run_of([2.0] * 5)], [self.run_of([1.0] * 5, commit="f" * 40, changed=True, doubt="the machine is busy")]
        text = record_compare.render(before, after, record_compare.compare(before, after), False)
        self.assertRegex(text, r"better +raw mtu1500 omx ping-pong 8 B median +fast +2.000 +1.000  0.500  \(5 and 5 rounds\)")
        self.assertIn("in doubt: the machine is busy (ffffffffff and changes)", text)
        self.assertIn("1 figures: 1 better", text)

    def test_wrong_use(self):
        record = os.path.join(BENCH, "record")
        for options, status, reason in ((["--all"], 2, "belong to --compare"), (["--rounds", "0"], 2, "must be 1 or more"),
                                        (["--file", "/nowhere/f", "--list"], 1, "record: /nowhere/f cannot be read")):
            done = subprocess.run([record, *options], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, reason in done.stderr), (status, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
