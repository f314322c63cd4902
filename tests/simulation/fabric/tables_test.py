#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What omx_fabric prints as JSON becomes the tables of bench/congestion, and two engines stand below each other."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench" / "measure"))

import congestion_report  # noqa: E402

RUNS = [
    "incast --senders 4 --size 64K --rate 1",
    "incast --senders 4 --size 64K --rate 1 --duration 50 --tcp 1 --tcp-alone 50 --ping 100",
    "traffic --hosts 16 --leaf 4 --pod 2 --oversubscription 2 --workload hpc --duration 2",
]


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = []
        for arguments in RUNS:
            printed = subprocess.run([PROGRAM, *arguments.split(), "--json"], capture_output=True, text=True, check=True).stdout
            cls.rows.append(json.loads(printed) | {"arguments": arguments})

    def cells(self, lines, heading):
        """The cells of the rows of the first table below a heading."""
        table = lines.partition(heading)[2].partition("|---")[2].split("\n")[1:]
        return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[:next(i for i, row in enumerate(table) if not row)]]

    def test_each_run_has_its_row(self):
        text = congestion_report.render({"before": self.rows})
        (once,) = self.cells(text, "## Many senders, one message each")
        self.assertEqual(once[:4], ["4", "64 KiB", "1", "before"])
        self.assertEqual(once[4], f"{self.rows[0]['share'] * 100:.0f} %")
        (beside,) = self.cells(text, "## Many senders that go on")
        self.assertEqual(beside[3:7], ["1", "before", f"{self.rows[1]['wire_share'] * 100:.0f} %", "80 %"])
        self.assertLessEqual(self.rows[1]["wire_share"] + self.rows[1]["tcp_share"], 1.01)
        buckets = self.cells(text, "### hpc, load 0.5")
        self.assertEqual(len(buckets), len(self.rows[2]["slowdown"]))
        self.assertEqual(sum(int(bucket[1]) for bucket in buckets), self.rows[2]["messages"])

    def test_two_engines(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("after", "before"):
                lines = "".join(json.dumps(row) + "\n" for row in self.rows)
                (pathlib.Path(folder) / f"{name}.jsonl").write_text(lines, encoding="utf-8")
            engines = congestion_report.read(folder)
        self.assertEqual(list(engines), ["before", "after"])
        text = congestion_report.render(engines)
        self.assertEqual([row[3] for row in self.cells(text, "## Many senders, one message each")], ["before", "after"])
        self.assertIn("| before alone | p50 | p99 | p99.9 | after alone |", text)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
