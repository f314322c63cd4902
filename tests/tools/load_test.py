#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests bench/load: what the front is, how far a choice is from it, a small simulation, and the documents' points.

  load_test.py BUILD_DIR
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench", "measure"))

import bench_run  # noqa: E402  (the path must be set first)
import load_front  # noqa: E402

BUILD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else bench_run.DEFAULT_BUILD
POINTS = os.path.join(ROOT, "docs", "performance", "load")


def point(strategy, cpu, p99, delay=5):
    return {"case": "c", "rate": 1000, "senders": 1, "strategy": strategy, "delay_us": delay,
            "cpu_us": cpu, "wakeups": 1.0, "p50_us": p99, "p99_us": p99}


def load(*arguments):
    """Runs bench/load. Returns (status, output, errors)."""
    ended = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "load"), *arguments], capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


class Front(unittest.TestCase):
    fast, cheap, beaten = point("off", 4.0, 10.0), point("timeout", 1.0, 40.0), point("adaptive", 5.0, 12.0)
    points = [fast, cheap, beaten]

    def test_front_is_what_no_other_beats(self):
        self.assertEqual(load_front.front(self.points, "cpu_us", "p99_us"), [self.fast, self.cheap])

    def test_equal_points_are_both_on_the_front(self):
        twin = point("stream", 4.0, 10.0)
        self.assertEqual(load_front.front([self.fast, twin], "cpu_us", "p99_us"), [self.fast, twin])

    def test_distance_is_the_greater_ratio_to_the_nearest(self):
        best = load_front.front(self.points, "cpu_us", "p99_us")
        self.assertEqual(load_front.distance(self.fast, best, "cpu_us", "p99_us"), 0)
        self.assertAlmostEqual(load_front.distance(self.beaten, best, "cpu_us", "p99_us"), 0.25)

    def test_no_wakeups_at_all(self):
        none = {**point("timeout", 1.0, 40.0), "wakeups": 0.0}
        self.assertEqual(load_front.distance(none, [none], "wakeups", "p99_us"), 0)
        self.assertEqual(load_front.distance(self.beaten, [none], "wakeups", "p99_us"), float("inf"))

    def test_off_front(self):
        self.assertEqual(load_front.off_front(self.points, "adaptive", "cpu_us", "p99_us"), [(0.25, self.beaten)])
        self.assertEqual(load_front.off_front(self.points, "off", "cpu_us", "p99_us"), [])

    def test_of_many_places_the_corners_are_drawn(self):
        many = {("c", rate, senders): [] for rate in range(1, 6) for senders in (1, 4, 16)}
        self.assertEqual(set(load_front.drawn(many)), {("c", 1, 1), ("c", 1, 16), ("c", 5, 1), ("c", 5, 16)})
        few = {("c", rate, 4): [] for rate in range(1, 6)}
        self.assertEqual(load_front.drawn(few), few)

    def test_places_are_apart(self):
        other = {**self.beaten, "rate": 2000}
        self.assertEqual(load_front.off_front([self.fast, other], "adaptive", "cpu_us", "p99_us"), [])


class Program(unittest.TestCase):
    def test_small_simulation(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = os.path.join(folder, "points.jsonl")
            status, output, errors = load("--quick", "--build", BUILD, "--json", lines, "--markdown")
            self.assertEqual(status, 0, errors)
            with open(lines, encoding="utf-8") as file:
                points = [json.loads(line) for line in file]
            self.assertEqual(len(points), 2 * 2 * (1 + 4 * 5))
            self.assertTrue(all(one["cpu_us"] > 0 and one["p99_us"] >= one["p50_us"] > 0 for one in points), points)
            timeouts = {one["delay_us"]: one["p50_us"] for one in points if one["strategy"] == "timeout" and one["senders"] == 1 and one["case"].startswith("128")}
            self.assertEqual(sorted(timeouts, key=timeouts.get), sorted(timeouts), "a longer delay is a longer wait")
            self.assertEqual(load("--again", lines, "--markdown"), (0, output, ""))

    def test_medians_of_the_rounds(self):
        rounds = [[point("frame", cpu, 10.0)] for cpu in (1.0, 9.0, 2.0)]
        self.assertEqual(bench_run.script_module("load").medians(rounds), [point("frame", 2.0, 10.0)])

    def test_what_cannot_be_read(self):
        status, _, errors = load("--again", "/nonexistent")
        self.assertEqual(status, bench_run.FAILED)
        self.assertRegex(errors, "^load: /nonexistent cannot be read as what --json writes: ")


class Documents(unittest.TestCase):
    @staticmethod
    def points(name):
        with open(os.path.join(POINTS, name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_the_adaptive_rule_stays_at_the_front(self):
        points = self.points("simulated.jsonl")
        for latency in load_front.LATENCIES:
            self.assertEqual(load_front.off_front(points, "adaptive", "cpu_us", latency), [])

    def test_the_page_has_the_tables_of_the_points(self):
        with open(os.path.join(ROOT, "docs", "performance", "load-latency.md"), encoding="utf-8") as file:
            page = file.read()
        for name in ("simulated.jsonl", "live.jsonl"):
            for line in load_front.summary(self.points(name), True):
                self.assertIn(line, page)


if __name__ == "__main__":
    unittest.main()
