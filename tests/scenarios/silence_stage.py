# SPDX-License-Identifier: BSD-3-Clause
"""For silence_scenarios.py: jobs of numbered messages, whose processes can be stopped and whose ends are judged."""
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from stage import LAB, MAC, UDP_NIC, Failure

# A job that lost a peer must have ended this long after the time-out.
GRACE_S = 5
# More on a busy machine, on which even these processes do not run all the time.
SLACK_S = 10
# The words that a message must contain about a peer, by its name or its address.
GIVEN_UP = r"(given up|no answer).*(h1|h2|02:4f:4d|0a:55|10\.77\.)|(h1|h2|02:4f:4d|0a:55|10\.77\.).*(given up|no answer)"
NEVER = re.compile(r"hole: received|wrong content: |MPI_ERR_TRUNCATE|^only \d+ answers")


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(77)


def settings(bindir, link, peer_ms=3000, connect_ms=3000, **more):
    """Returns the environment of a job: its link, time-outs short enough for a test, and eth0 alone. None leaves a
    default."""
    chosen = {"FI_PROVIDER_PATH": str(pathlib.Path(bindir).resolve() / "lib" / "libfabric"), "FI_OMX_IFACE": "eth0",
              "OMX_LINK": link, "FI_OMX_CONNECT_TIMEOUT": connect_ms, "OMX_PEER_TIMEOUT_MS": peer_ms, **more}
    if link == "raw":
        chosen["OMX_LINK"] = "ethernet"
    return {name: str(value) for name, value in chosen.items() if value is not None}


class Job:
    """A process (with its children) whose output is read line by line as it comes."""

    def __init__(self, argv, env):
        self.name = " ".join(str(word) for word in argv[-4:])
        self.lines, self.arrived, self.began = [], queue.Queue(), time.monotonic()
        self.process = subprocess.Popen([str(word) for word in argv], text=True, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.arrived.put(line.rstrip("\n"))
        self.arrived.put(None)

    def said(self):
        return "\n".join(self.lines)

    def tail(self):
        return "\n".join(line for line in self.lines if not line.startswith("got "))[-2500:]

    def take(self, end):
        """Returns the next line, or None if there is none before `end`, or ever again."""
        try:
            line = self.arrived.get(timeout=max(end - time.monotonic(), 0.001))
        except queue.Empty:
            return None
        if line is None:
            self.arrived.put(None)
            return None
        self.lines.append(line)
        return line

    def hear(self, pattern, seconds=30):
        """Returns the match of the first line that has the pattern, among earlier lines too."""
        for line in self.lines:
            if found := re.search(pattern, line):
                return found
        end = time.monotonic() + seconds
        while (line := self.take(end)) is not None:
            if found := re.search(pattern, line):
                return found
        raise Failure(f"{self.name} did not say '{pattern}' within {seconds} s; it said: {self.tail()}")

    def ended(self, seconds):
        """Returns whether the job ends within that time. Its output meanwhile is kept."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > end:
                return False
            if self.take(min(end, time.monotonic() + 0.1)) is None:
                time.sleep(0.02)  # the program may have closed its output
        while self.take(time.monotonic() + 0.3) is not None:
            pass
        return True

    def pid(self, rank):
        return int(self.hear(rf"^rank {rank} started pid (\d+)")[1])


def mpi_job(lab, ranks, env, *argv):
    """Starts ranks on both hosts in turn. Open MPI's own control uses eth1, so that it survives faults of eth0."""
    if not shutil.which("mpirun.openmpi"):
        skip("mpirun.openmpi is missing: apt-get install openmpi-bin")
    program = lab.bin / "tests/scenarios/omx_silence_mpi"
    if not program.exists():
        skip("omx_silence_mpi was not built, which needs mpicc.openmpi and libfabric-dev: apt-get install libopenmpi-dev libfabric-dev")
    wrapped = argv if argv[0] == "sh" else (program, *argv)
    return Job([LAB, "mpirun", "-n", ranks, "--control", "eth1", "--", *(str(word).replace("PROGRAM", str(program)) for word in wrapped)], env)


def fabric_job(lab, host, env, *argv):
    program = lab.bin / "tests/scenarios/omx_silence_fabric"
    if not program.exists():
        skip("omx_silence_fabric was not built, which needs libfabric-dev: apt-get install libfabric-dev")
    return Job([LAB, "exec", host, "--", program, *argv], env)


def address(host, link, endpoint=5):
    return f"fi_omx://{(UDP_NIC if link == 'udp' else MAC)[host]}/{endpoint}"


def stop(pid):
    os.kill(pid, signal.SIGSTOP)


def go_on(pid):
    """Lets a stopped process continue, which may have been killed meanwhile."""
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass


def nothing_left(job):
    """Checks that the ranks of a job end with it, even those that were stopped."""
    end = time.monotonic() + GRACE_S + SLACK_S
    pids = re.findall(r"^rank \d+ started pid (\d+)", job.said(), re.MULTILINE)
    while left := [pid for pid in pids if pathlib.Path(f"/proc/{pid}").exists()]:
        if time.monotonic() > end:
            raise Failure(f"{job.name} has ended, but not its processes {left}")
        time.sleep(0.05)


def judge_never(job):
    for line in job.lines:
        if NEVER.search(line):
            raise Failure(f"{job.name}: {line}; it said: {job.tail()}")


def must_end(job, seconds, limit):
    """Checks that the job ends with either status, without a hole. An error must have a reason."""
    began = time.monotonic()
    if job.ended(seconds) and job.process.returncode:
        return must_fail(job, began, limit)
    return must_succeed(job, 0.1)


def must_succeed(job, seconds):
    """Checks that the job ends with status 0, without a hole."""
    ended = job.ended(seconds)
    judge_never(job)
    if not ended:
        job.process.kill()
        raise Failure(f"{job.name} did not end within {seconds} s; it said: {job.tail()}")
    if job.process.returncode:
        raise Failure(f"{job.name} ended with {job.process.returncode}; it said: {job.tail()}")
    nothing_left(job)


def must_fail(job, since, limit, words=GIVEN_UP):
    """Checks that the job ends with another status than 0 within `limit` and the grace, names cause and peer, and has
    no hole."""
    ended = job.ended(limit + GRACE_S + SLACK_S - (time.monotonic() - since))
    took = time.monotonic() - since
    judge_never(job)
    if not ended:
        job.process.kill()
        raise Failure(f"{job.name} did not end within {took:.1f} s; it said: {job.tail()}")
    status = job.process.returncode
    if status == 0:
        raise Failure(f"{job.name} ended with status 0 after {took:.1f} s; it said: {job.tail()}")
    reason = next((line for line in job.lines if re.search(words, line, re.IGNORECASE)), None)
    if not reason:
        raise Failure(f"{job.name} ended with {status} after {took:.1f} s, but not with '{words}'; it said: {job.tail()}")
    print(f"  {job.name}: status {status} after {took:.1f} s: {reason.strip()[:300]}")
    nothing_left(job)
    if took > limit + GRACE_S:
        print(f"  (more than {limit} s and {GRACE_S} s of grace: busy machine?)")


def numbers(job):
    """Returns what a server received."""
    return [int(line[4:]) for line in job.lines if re.fullmatch(r"got \d+", line)]


def balance(client, *servers, kept=0):
    """Checks that each number that no server received was reported, and none was received twice.

    `kept` is the most that the library of an ended server may have held, acknowledged and not yet read.
    """
    total = re.search(r"sent (\d+), reported (\d+) by name and (\d+) without", client.said())
    if not total:
        raise Failure(f"the client did not count: {client.tail()}")
    sent, named, unnamed = map(int, total.groups())
    received = [number for server in servers for number in numbers(server)]
    twice = len(received) - len(set(received))
    reported = {int(n) for n in re.findall(r"^reported (\d+):", client.said(), re.MULTILINE)}
    silent = set(range(1, sent + 1)) - set(received) - reported
    print(f"  sent {sent}, received {' + '.join(str(len(numbers(server))) for server in servers)}, reported {named} by name and {unnamed} without; "
          f"without a word {max(len(silent) - unnamed, 0)}")
    if twice:
        raise Failure(f"{twice} numbers were received twice")
    if len(silent) > unnamed + kept:
        raise Failure(f"{len(silent) - unnamed} messages were lost without a word: of {sorted(silent)[:10]} ...; "
                      f"the servers said: {'; '.join(server.tail() for server in servers)}")
    for job in client, *servers:
        judge_never(job)
