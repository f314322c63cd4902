# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of the lab: registers, calls, skips and counts them."""
import json
import os
import signal
import subprocess
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(os.path.dirname(os.path.dirname(HERE)), "lab", "lab")
FRAMES = os.path.join(HERE, "frames.py")
UNABLE = 77  # the lab's status for "this user or machine cannot do it"
TIMEOUT_S = 60

tests = []


class Skip(Exception):
    """The test cannot run here. The message says why."""


def test(function):
    tests.append(function)
    return function


def lab(*arguments, env=None, prefix=()):
    """Runs the lab script and returns the finished process, output captured."""
    return subprocess.run([*prefix, LAB, *arguments], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=TIMEOUT_S, check=False, env=env)


def good(done):
    """Returns the output of a process that must have succeeded."""
    if done.returncode == UNABLE:
        raise Skip(done.stderr.strip())
    assert done.returncode == 0, f"{done.args} returned {done.returncode}: {done.stderr}"
    return done.stdout


class Lab:
    """A lab for the length of a with statement."""

    def __init__(self, *options):
        self.name = f"test-{os.getpid()}"
        self.options = options

    def __enter__(self):
        good(lab("up", "--name", self.name, *self.options))
        return self

    def __exit__(self, *_):
        good(lab("down", "--name", self.name))

    def do(self, command, *arguments):
        return lab(command, "--name", self.name, *arguments)

    def host(self, host, *argv):
        return good(self.do("exec", host, "--", *argv))

    def start(self, host, *argv):
        return subprocess.Popen([LAB, "exec", "--name", self.name, host, "--", *argv],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def traffic(self, sender, receiver, count, *send_options, ethertype="0x86DF"):
        """Sends frames from one host to another. Returns what arrived."""
        process = self.start(receiver, FRAMES, "receive", "--ethertype", ethertype)
        assert process.stdout.readline() == "ready\n"
        self.host(sender, FRAMES, "send", str(count), "--ethertype", ethertype, *send_options)
        result = json.loads(process.communicate(timeout=TIMEOUT_S)[0])
        assert result["overrun"] == 0, "the receiver lost frames for want of buffer"
        return result

    def counters(self, host, direction):
        for record in json.loads(good(self.do("faults", "--json"))):
            if (record["host"], record["direction"]) == (host, direction):
                return record["counters"]
        return None


def within(value, expected, tolerance, what):
    assert abs(value - expected) <= tolerance, f"{what}: {value}, expected {expected}±{tolerance}"


def run_all():
    passed = failed = 0
    for function in tests:
        try:
            function()
            passed += 1
            print(f"ok    {function.__name__}", flush=True)
        except Skip as reason:
            print(f"skip  {function.__name__}: {reason}", flush=True)
        except Exception as error:  # a failing test must not end the others
            failed += 1
            print(f"FAIL  {function.__name__}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    # Ctrl-C and a test runner's SIGTERM end the current test, whose lab is then taken down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    probe = lab("run", "--", "true")
    if probe.returncode == UNABLE:
        print(f"skipped: {probe.stderr.strip()}")
        return UNABLE
    return run_all()
