#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what bench/neighbours refuses, how its TCP flows fail, and what it prints, without a lab."""
import contextlib
import io
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True
BENCH = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "bench")
sys.path.insert(0, os.path.join(BENCH, "measure"))

import bench_run  # noqa: E402  (the path must be set first)
import neighbours_measure  # noqa: E402
import neighbours_report  # noqa: E402

FLOW = [sys.executable, "-B", os.path.join(BENCH, "measure", "tcp_flow.py")]


def said(action):
    """Returns (status, text on stderr)."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), mock.patch.object(bench_run, "cores_in_use", lambda: 0.0):
        status = bench_run.run_main("bench", action)
    return status, errors.getvalue()


class Neighbours(unittest.TestCase):
    """bench/neighbours refuses what it cannot measure before a lab starts, and says what its tables mean."""

    def test_wrong_usage_names_the_option(self):
        for options, text in ((["--rate", "fast"], "argument --rate: 'fast' is not a rate from 1mbit"), (["--rate", "0gbit"], "argument --rate: '0gbit'"),
                              (["--mtu", "100"], "argument --mtu: '100' is not an MTU from 576 to 65521"), (["--mtu", "99999"], "argument --mtu"),
                              (["--senders", "8,64"], "argument --senders: '64' is not a number from 1 to 63"),
                              (["--flows", "0"], "argument --flows: '0' is not a number from 1 to 64"), (["--flows", ""], "argument --flows: ''"),
                              (["--seconds", "0"], "argument --seconds: '0' is not a number of seconds from 0.1 to 40"),
                              (["--seconds", "-1"], "argument --seconds"), (["--seconds", "nan"], "argument --seconds"),
                              (["--links", ""], "--links: '' is none of raw, udp"), (["--links", "raw,raw"], "--links raw,raw: name each once"),
                              (["--control", "nosuch"], "--control nosuch: this kernel offers "),
                              (["--queue", "2048"], "--queue 2048 holds no frame of --mtu 9000: queue at least 9014 bytes"),
                              (["--json", "/nonexistent/x.json"], "--json: there is no folder /nonexistent: make it, or name another")):
            done = subprocess.run([os.path.join(BENCH, "neighbours"), "shares", *options], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, text in done.stderr), (2, True), done.stderr)

    def test_busy_machine_excuses_no_wrong_use_of_the_lab(self):
        with tempfile.TemporaryDirectory() as folder:
            lab = os.path.join(folder, "lab")
            with open(lab, "w", encoding="ascii") as out:
                out.write("#!/bin/sh\nexit 2\n")
            os.chmod(lab, 0o700)
            with mock.patch.object(bench_run, "LAB", lab), mock.patch.object(bench_run, "doubts", ["the machine is busy"]):
                self.assertEqual(said(lambda: bench_run.run_lab("compare", {}, 2)), (2, "bench: the lab ended with status 2, for the reason above\n"))

    def flows(self, *ends):
        """Runs the block of tcp_flows() with shell commands in place of a host's programs. Returns what it said."""
        commands = iter(["echo waiting; exec sleep 60"] * len(ends) + list(ends))
        bench = neighbours_measure.Neighbours({"programs": {"omx": "", "floor": "", "tcp": ""}, "control": "cubic"})

        def block():
            with bench.tcp_flows(len(ends), ["h2"]):
                time.sleep(0.5)
            return 0

        with mock.patch.object(neighbours_measure, "in_host", lambda host, command, settings=None: ["sh", "-c", next(commands)]):
            return said(block)

    def test_tcp_flows_that_send_nothing(self):
        sends = "echo sending; exec sleep 60"
        self.assertEqual(self.flows(sends, sends), (0, ""))
        self.assertEqual(self.flows(sends, "exit 1"), (1, "bench: a TCP flow with --control cubic sent nothing\n"))
        self.assertEqual(self.flows("echo sending; exit 1", sends), (1, "bench: a TCP flow ended before its measurement did\n"))

    def test_stream_that_fails_gives_no_figures(self):
        commands = iter(["echo waiting; exec sleep 60", "echo no route to h1 >&2; exit 1"])
        bench = neighbours_measure.Neighbours({"programs": {"omx": "omx", "floor": "", "tcp": ""}})

        def stream():
            with bench.omx_stream("raw", "h2", 8192, 1) as ended:
                ended()

        with mock.patch.object(neighbours_measure, "in_host", lambda host, command, settings=None: ["sh", "-c", next(commands)]):
            self.assertEqual(said(stream), (1, "bench: a stream of 8192 B by raw failed: no route to h1\n"))

    def test_bare_frames_last_as_long_and_have_no_row_for_messages_that_do_not_fit(self):
        row = '{"size":8,"median_us":35.5,"mean_us":40.0,"p99_us":60.0,"p999_us":90.0,"lost":2}'
        commands = iter(["exec sleep 60", f"echo '{row}'", "exec sleep 60", "true"] * 2)
        asked = []

        def in_host(host, command, settings=None):
            asked.append((host, command[1:]))
            return ["sh", "-c", next(commands)]

        bench = neighbours_measure.Neighbours({"programs": {"omx": "", "floor": "floor", "tcp": ""}, "seconds": 3})
        bench.asked = lambda hosts, command: ["02:4f:4d:58:00:01\n"]
        with mock.patch.object(neighbours_measure, "in_host", in_host):
            found = {"bare frames": bench.floor_probe(), "TCP": bench.tcp_probe()}
        figures = {"median": 35.5, "p99": 60.0, "p999": 90.0}
        self.assertEqual(found, {"bare frames": {8: figures | {"lost": 2}}, "TCP": {8: figures}})
        server = ["pingpong", "server", "--interface", "eth0", "--blocking"]
        client = ["pingpong", "client", "--interface", "eth0", "--peer", "02:4f:4d:58:00:01", "--blocking", "--repeats", "1"]
        limits = ["--iterations", "750000", "--at-most", "3", "--warm-up", "20"]
        self.assertEqual(asked[:4], [step for size in ("8", "65536") for step in (("h1", server), ("h2", [*client, "--sizes", size, *limits]))])
        tables = neighbours_report.render([{"part": "latency", "beside": "nothing", "what": what, "size": 8, **found[what][8]} for what in ("TCP", "bare frames")])
        self.assertIn("| nothing | TCP | 8 | 35.5 | 60.0 | 90.0 |  |\n| nothing | bare frames | 8 | 35.5 | 60.0 | 90.0 | 2 |", tables)

    def test_stream_that_ends_early_gives_no_figures(self):
        bench = neighbours_measure.Neighbours({"programs": {"omx": "omx", "floor": "", "tcp": ""}})

        def beside(client):
            commands = iter(["echo waiting; exec sleep 60", client])

            def block():
                with bench.omx_stream("raw", "h3", 8192, 1):
                    time.sleep(0.5)
                return 0

            with mock.patch.object(neighbours_measure, "in_host", lambda host, command, settings=None: ["sh", "-c", next(commands)]):
                return said(block)

        self.assertEqual(beside("exec sleep 60"), (0, ""))
        self.assertEqual(beside("exit 0"), (1, "bench: a stream of 8192 B by raw ended before its measurement did\n"))

    def test_tcp_flow_says_what_the_kernel_refuses(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            done = subprocess.run([*FLOW, "send", "127.0.0.1", str(server.getsockname()[1]), "nosuch"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)

    def test_tcp_flow_ends_quietly_when_interrupted(self):
        with subprocess.Popen([*FLOW, "receive", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as receiver:
            self.assertEqual(receiver.stdout.readline(), "waiting\n")
            errors = None
            while errors is None:  # a signal just before accept() begins ends only what comes after it
                receiver.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    errors = receiver.communicate(timeout=2)[1]
            self.assertEqual((errors, receiver.returncode), ("", 130))

    def test_legend_below_each_table(self):
        figures = [{"part": "shares", "flows": 1, "what": "TCP", "ours": 400, "others": 500},
                   {"part": "incast", "senders": 2, "what": "TCP", "rates": [1, 2], "sent": 9, "received": 8}]
        tables = neighbours_report.render(figures)
        self.assertIn("| 44 % | 0.89 |", tables)
        for part in ("shares", "incast"):
            self.assertEqual(tables.count(f"|\n\n{neighbours_report.LEGENDS[part]}"), 1)
        self.assertNotIn(neighbours_report.LEGENDS["latency"], tables)


if __name__ == "__main__":
    unittest.main()
