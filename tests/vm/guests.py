# SPDX-License-Identifier: BSD-3-Clause
"""Guests of `lab vm` for tests: starts them, runs commands in them, and ends them."""
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAB = ROOT / "lab" / "lab"
UNABLE = 77  # the lab's status for "this user or machine cannot do it"
BOOT_TIMEOUT_S = 600  # half a minute on a machine without other work
UP_TIMEOUT_S = 1500  # the first start fetches packages
QUIET = "LAB_", "OMX_"  # prefixes of variables that must not reach the guests by chance


class Unable(Exception):
    """Guests cannot be had here. The message says why."""


class Failure(Exception):
    pass


class Absent(Exception):
    """This machine lacks what a trial needs. The message names it."""


class Guests:
    """A lab of virtual machines for the length of a with statement."""

    def __init__(self, *options, build=None):
        self.name = f"vm-test-{os.getpid()}"
        self.options = options
        self.build = pathlib.Path(build) if build else None

    def __enter__(self):
        done = self.do("up", "--timeout", BOOT_TIMEOUT_S, *self.options, timeout=UP_TIMEOUT_S)
        if done.returncode == UNABLE:
            raise Unable(done.stderr.strip())
        if done.returncode:
            raise Failure(f"the guests did not start: {done.stderr.strip()}")
        return self

    def __exit__(self, *_):
        self.do("down")

    def argv(self, command, *arguments):
        # The tests of a build must not depend on the load that they put on others.
        return ["nice", "-n", "10", str(LAB), "vm", command, "--name", self.name, *map(str, arguments)]

    def environment(self, more=None):
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(QUIET) or key == "LAB_VM_CACHE"}
        if self.build:
            kept["PATH"] = f"{self.build / 'tools'}:{self.build / 'tests/soak'}:/usr/sbin:/sbin:{kept['PATH']}"
        return {**kept, **(more or {})}

    def do(self, command, *arguments, timeout=120):
        return subprocess.run(self.argv(command, *arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout, check=False, env=self.environment())

    def must(self, command, *arguments):
        done = self.do(command, *arguments)
        if done.returncode:
            raise Failure(f"lab vm {command} {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def run(self, host, line, env=None, timeout=60, user=None):
        """Runs a line of shell in a guest. Returns its status and all that it said. Status 124: not within the time."""
        argv = self.argv("exec", *(("--user", user) if user else ()), host, "--", "sh", "-c", line)
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", timeout=timeout, check=False, env=self.environment(env))
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"").decode(errors="replace")
            return 124, f"{said}[no end after {timeout} s]"
        return done.returncode, done.stdout

    def good(self, host, line, **options):
        status, said = self.run(host, line, **options)
        if status:
            raise Failure(f"{host}: {line}: status {status}: {said.strip()[-500:]}")
        return said

    def start(self, host, line, env=None, user=None):
        """Starts a line of shell, which ends with the returned process."""
        argv = self.argv("exec", *(("--user", user) if user else ()), host, "--", "sh", "-c", line)
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace", env=self.environment(env))

    def netpipe(self, sizes):
        """Runs NetPIPE with a rank on each of two guests, over the built provider. It checks every byte."""
        provider = self.build and self.build / "lib/libfabric"
        if not provider or not (provider / "libomx-fi.so").exists():
            raise Absent(f"{provider} has no provider: cmake --build {self.build} --target omx_libfabric")
        if not shutil.which("NPopenmpi"):
            raise Absent("NPopenmpi is missing: apt-get install netpipe-openmpi")
        argv = self.argv("mpirun", "--provider-path", provider, "-n", "2", "--", "NPopenmpi", "-i", *sizes)
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300, check=False, env=self.environment({"OMX_VERBOSE": "1"}))
        for words in ("0: h1", "1: h2", " bytes ", "messages by raw frames"):
            if done.returncode or words not in done.stdout:
                raise Failure(f"mpirun: status {done.returncode}, without {words!r}: {done.stdout.strip()[-500:]}")
        # A line of Open-MX may come in the middle of a line of NetPIPE, so sizes and verdicts are counted.
        sizes_tried, passed = len(re.findall(r" bytes +\d+ times", done.stdout)), done.stdout.count("Integrity check passed")
        if sizes_tried != passed:
            raise Failure(f"mpirun: {sizes_tried} sizes were tried, and {passed} passed: {done.stdout.strip()[-500:]}")
