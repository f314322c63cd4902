#!/usr/bin/python3 -ES
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of `lab vm` with one model of a NIC.  Usage: vm_test.py [--bin BUILD].  Exit status 77: no guests can be had."""
import argparse
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from guests import LAB, UNABLE, Absent, Failure, Guests, Unable  # noqa: E402

NOBODY = 65534
MODEL = "e1000e"
tests = []


def test(function):
    tests.append(function)
    return function


def expect(found, wanted, what):
    if found != wanted:
        raise Failure(f"{what}: {found!r}, not {wanted!r}")


def await_that(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"not within {seconds} s: {what}")
        time.sleep(0.2)


@test
def exec__status_input_user_and_signal(guests):
    expect(guests.run("h1", "exit 7")[0], 7, "status of a command")
    expect(guests.run("h1", "kill -9 $$")[0], 137, "status of a killed command")
    expect(guests.do("exec", "h1", "--", "no-such-command").returncode, 127, "status of a missing command")
    done = subprocess.run(guests.argv("exec", "h2", "--", "wc", "-c"), input="x" * 300000, capture_output=True, text=True,
                          check=False, env=guests.environment())
    expect(done.stdout.strip(), "300000", "bytes of input that arrived")
    expect(guests.run("h1", "id -u", user=NOBODY), (0, f"{NOBODY}\n"), "the user")
    process = guests.start("h1", "trap 'echo caught; exit 5' TERM; echo ready; while :; do sleep 0.1; done")
    expect(process.stdout.readline(), "ready\n", "the command's first line")
    process.terminate()
    expect((process.communicate(timeout=30)[0], process.returncode), ("caught\n", 5), "a command after SIGTERM")


@test
def exec__a_command_ends_with_its_caller(guests):
    process = subprocess.Popen(guests.argv("exec", "h1", "--", "sleep", "54321"), stdin=subprocess.DEVNULL,
                               env=guests.environment())
    await_that(lambda: guests.run("h1", "pgrep -x sleep")[0] == 0, "the command starts")
    process.kill()
    process.wait()
    await_that(lambda: guests.run("h1", "pgrep -x sleep")[0] == 1, "the command of a killed caller ends")


@test
def guests__their_own_kernel_and_driver(guests):
    for host in ("h1", "h2"):
        expect(guests.good(host, "hostname").strip(), host, "host name")
        expect(f"driver: {MODEL}" in guests.good(host, "ethtool -i eth0"), True, "driver of eth0")
        expect(guests.good(host, "ls /sys/class/net").split(), ["eth0", "lo"], "interfaces")
    if guests.good("h1", "uname -r").strip() == os.uname().release:
        raise Failure("the guest runs the kernel of this machine")
    guests.good("h1", "touch /etc/from-a-guest")
    expect(os.path.exists("/etc/from-a-guest"), False, "a guest's file on this machine")
    guests.good("h1", "ping -c 1 -W 10 h2")


@test
def cut__and_mend(guests):
    guests.must("cut", "h1")
    await_that(lambda: guests.good("h1", "cat /sys/class/net/eth0/carrier") == "0\n", "the carrier goes")
    guests.must("mend", "h1")
    await_that(lambda: guests.good("h1", "cat /sys/class/net/eth0/carrier") == "1\n", "the carrier comes back")


@test
def unplug__and_plug(guests):
    guests.must("unplug", "h1")
    expect(guests.good("h1", "ls /sys/class/net").split(), ["lo"], "interfaces without the NIC")
    expect(guests.do("unplug", "h1").returncode, 1, "status of a second unplug")
    guests.must("plug", "h1")
    await_that(lambda: guests.run("h1", "ping -c 1 -W 1 10.77.0.2")[0] == 0, "the NIC works again")


@test
def perf__every_byte_checked(guests):
    if guests.build is None:
        return
    server = guests.start("h1", "exec omx perf")
    said = server.stdout.readline()
    if "waiting for clients" not in said:
        raise Failure(f"the server said: {said}")
    guests.good("h2", "omx perf h1 --sizes 8,4K,256K --max-time 0.5 --verify", timeout=120)
    server.terminate()
    server.communicate(timeout=30)


@test
def mpirun__a_rank_on_each_guest(guests):
    if guests.build is None:
        return
    try:
        guests.netpipe(("-l", "8", "-u", "8"))
    except Absent as reason:
        print(f"  not tried: {reason}")


@test
def killed__a_machine(guests):
    """Must be near the end, because h2 does not come back."""
    pids = subprocess.run(["pgrep", "-f", "qemu-system.*02:4f:4d:58:00:02"], capture_output=True, text=True,
                          check=False).stdout.split()
    own = [pid for pid in map(int, pids) if holder_of(pid) == holder_pid(guests)]
    expect(len(own), 1, "machines of h2")
    os.kill(own[0], signal.SIGKILL)
    expect(guests.run("h2", "true")[0], 125, "status of a command for a guest that is gone")
    guests.good("h1", "true")


@test
def killed__the_holder(guests):
    """Must be the last."""
    holder = holder_pid(guests)
    os.kill(holder, signal.SIGKILL)
    await_that(lambda: not machines(holder), "the machines end with their holder")
    expect(guests.name in guests.do("list").stdout, False, "a lab without a holder is listed")


def holder_pid(guests):
    for line in guests.do("list").stdout.splitlines():
        if line.startswith(f"{guests.name}:"):
            return int(line.partition("holder ")[2].partition(",")[0])
    raise Failure("the lab is not listed")


def holder_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("PPid:"))


def machines(holder):
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and holder_of(int(entry)) == holder:
                found.append(int(entry))
        except OSError:
            pass  # it ended meanwhile
    return found


def run_all(guests):
    failed = 0
    for function in tests:
        began = time.monotonic()
        try:
            function(guests)
            print(f"ok    {function.__name__} ({time.monotonic() - began:.0f} s)", flush=True)
        except Failure as error:
            failed += 1
            print(f"FAIL  {function.__name__}: {error}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", help="build folder; without it, Open-MX itself is not tried")
    options = parser.parse_args()
    # A test runner's SIGTERM ends the guests, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with Guests("--nic", MODEL, build=options.bin) as guests:
            return run_all(guests)
    except Unable as reason:
        print(f"skipped: {reason}")
        return UNABLE


if __name__ == "__main__":
    sys.exit(main() if os.path.exists(LAB) else 1)
