# SPDX-License-Identifier: BSD-3-Clause
"""The base of all scenarios: their list, the hosts, soaks, and the ends of processes."""
import os
import pathlib
import re
import select
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[2]
LAB = ROOT / "lab" / "lab"
MAC = {"h1": "02:4f:4d:58:00:01", "h2": "02:4f:4d:58:00:02"}
UDP_NIC = {"h1": "0a:55:0a:4d:00:01", "h2": "0a:55:0a:4d:00:02"}  # of 10.77.0.1 and 10.77.0.2
UDP = {"OMX_LINK": "udp"}
UDP6 = {"OMX_LINK": "udp6"}
SCENARIOS = {}


def udp6_nic(address):
    """Returns the NIC id of an IPv6 address, which is its CRC-32C (docs/reference/wire.md 16)."""
    crc = 0xFFFFFFFF
    for byte in socket.inet_pton(socket.AF_INET6, address):
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return "0a:56:" + (crc ^ 0xFFFFFFFF).to_bytes(4, "big").hex(":")


UDP6_NIC = {"h1": udp6_nic("fd4f:4d58::1"), "h2": udp6_nic("fd4f:4d58::2")}

def scenario(mtu="1500", **parameters):
    def register(function):
        SCENARIOS[function.__name__] = (function, mtu, parameters)
        return function

    return register


class Failure(Exception):
    pass


class Lab:
    """The hosts, seen from inside `lab run`."""

    def __init__(self, bindir, messages, seconds, link=None):
        self.bin = pathlib.Path(bindir)
        self.messages = messages
        self.seconds = seconds  # of a mesh
        self.link = link  # of all processes for which a scenario chooses no other

    def nic(self, host, env=None):
        return {"udp": UDP_NIC, "udp6": UDP6_NIC}.get((env or {}).get("OMX_LINK", self.link), MAC)[host]

    def start(self, host, argv, env=None):
        full = {**os.environ, **({"OMX_LINK": self.link} if self.link else {}), **(env or {})}
        return subprocess.Popen([str(LAB), "exec", host, "--", *map(str, argv)], env=full, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def soak(self, host, env=None, messages=None, *more):
        peer = "h2" if host == "h1" else "h1"
        # Routers do not forward questions for the host of an IPv6 id, but names work everywhere.
        nic = self.nic(peer, env)
        return self.soak_with(host, peer if nic == UDP6_NIC[peer] else nic, env, messages, *more)

    def soak_with(self, host, peer, env=None, messages=None, *more):
        argv = [self.bin / "tests/soak/omx_soak", "--endpoint", 0, "--peer", peer, "--peer-endpoint", 0,
                "--messages", messages or self.messages, *more]
        return self.start(host, argv, env)

    def lab_or_skip(self, *argv):
        """Runs a lab command, and skips the scenario if this kernel cannot do it."""
        run = subprocess.run([str(LAB), *map(str, argv)], capture_output=True, text=True)
        if run.returncode:
            print(f"SKIP: {' '.join(map(str, argv))}: {run.stderr.strip()}")
            sys.exit(77)

    def lab(self, *argv):
        run = subprocess.run([str(LAB), *map(str, argv)], capture_output=True, text=True)
        if run.returncode == 77:
            print(f"SKIP: {run.stderr.strip()}")
            sys.exit(77)
        if run.returncode:
            raise Failure(f"lab {' '.join(map(str, argv))}: {run.stderr.strip()}")
        return run.stdout


def finish(name, process, expected, timeout):
    try:
        out, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        raise Failure(f"{name} did not end within {timeout} s; it said: {out[-600:]}") from None
    print(f"  {name}: {out.strip().splitlines()[-1] if out.strip() else '(silent)'}")
    if process.returncode != expected:
        raise Failure(f"{name} ended with {process.returncode}, not {expected}; it said: {out[-1200:]}")
    return out


def kill_soak_of_h2(lab):
    # The hosts of a lab share one PID namespace. The process on h2 is the one whose peer is h1. The brackets
    # keep the pattern from matching the command that contains it.
    lab.lab("exec", "h2", "--", "pkill", "-9", "-f", f"omx_soa[k].*--peer ({MAC['h1']}|{UDP_NIC['h1']}|{UDP6_NIC['h1']}|h1) ")


def pair(lab, env, messages=None, *more):
    return [lab.soak(host, env, messages, *more) for host in MAC]


def steady(lab, env, *more):
    """Starts a pair that continues, however fast the machine is, until end_steady()."""
    return pair(lab, env, None, "--until-told", *more)


def steady_with(lab, env, macs):
    """Starts the same with other addresses than those of eth0."""
    peers = {"h1": macs["h2"], "h2": macs["h1"]}
    return [lab.soak_with(host, peers[host], env, None, "--until-told") for host in macs]


def end_steady(soaks, timeout=120):
    for soak in soaks:
        soak.terminate()
    finish_pair(soaks, 0, timeout)


def finish_pair(soaks, expected=0, timeout=300):
    for host, soak in zip(MAC, soaks):
        finish(host, soak, expected, timeout)


def hear(processes, words, seconds=30):
    """Waits until one of the processes has printed these words."""
    said, end = "", time.time() + seconds
    pipes = {process.stdout.fileno() for process in processes}
    while words not in said:
        ready, _, _ = select.select(pipes, [], [], max(end - time.time(), 0))
        if not ready:
            raise Failure(f"no process printed '{words}' within {seconds} s; they printed: {said[-1500:]}")
        for pipe in ready:
            heard = os.read(pipe, 65536)
            said += heard.decode()
            if not heard:
                pipes.remove(pipe)


def must_run(soaks, event):
    for host, soak in zip(MAC, soaks):
        if soak.poll() is not None:
            said = soak.communicate()[0]
            raise Failure(f"the storm of {host} ended before {event}, with {soak.returncode}; it said: {said[-1500:]}")


def await_counter(lab, soaks, label):
    """Waits until a counter of h1 is no longer zero. A busy process publishes its counters once a second, and one
    that is just opening does not yet."""
    end = time.time() + 8
    counters = ""
    while not re.search(rf"[1-9]\d* {label}", counters):
        if time.time() > end:
            other = lab.lab("exec", "h2", "--", lab.bin / "tools/omx", "counters")
            raise Failure(f"'{label}' stayed zero: {counters}\nof the other host: {other}")
        time.sleep(0.3)
        must_run(soaks, f"'{label}' was not zero")
        try:
            counters = lab.lab("exec", "h1", "--", lab.bin / "tools/omx", "counters")
        except Failure as failure:
            counters = str(failure)


def killed_under_load(lab, env, *more):
    """Runs the soak of h1, whose peer was killed in the midst of traffic."""
    a, b = pair(lab, env, 10_000_000, "--tolerate", *more)
    time.sleep(1.5)
    kill_soak_of_h2(lab)
    b.wait(timeout=10)
    return a


def storm(lab, env, timeout=420, more=()):
    finish_pair(pair(lab, env, None, "--seed", 11, *more), 0, timeout)
