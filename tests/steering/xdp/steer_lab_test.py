#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""omx steer on hosts with several queues: where frames are taken in, what becomes of IP, and what is left behind.

steer_lab_test.py OMX [TEST...]
"""
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "lab"))
import harness  # noqa: E402  (the path must be set first)
from harness import Lab, Skip, good, test  # noqa: E402

OMX = os.path.realpath(sys.argv[1])
WHERE = ["/usr/bin/python3", os.path.join(HERE, "where.py")]
ONLINE = sorted(os.sched_getaffinity(0))


def two_processors():
    if len(ONLINE) < 2:
        raise Skip("this process may use one processor only")
    return ONLINE[0], ONLINE[1]


def omx_steer(lab, *arguments):
    return lab.do("exec", "h2", "--", OMX, "steer", *arguments)


def steer(lab, *arguments):
    done = omx_steer(lab, *arguments)
    if "takes root" in done.stderr:
        raise Skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return done.stdout


def attached(lab):
    return json.loads(steer(lab, "--show", "--json"))["interfaces"]


def counts(lab):
    return json.loads(lab.host("h2", *WHERE, "read"))


def since(before, now):
    """What was counted between the two, without zeros."""
    rows = {}
    for row, by_cpu in now.items():
        for cpu, count in by_cpu.items():
            if count > before.get(row, {}).get(cpu, 0):
                rows.setdefault(row, {})[int(cpu)] = count - before.get(row, {}).get(cpu, 0)
    return rows


def measure(lab, endpoint, *options):
    """omx perf from h1 to an endpoint of h2, every byte checked, and by frames only."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMX_", "MX_"))}
    environment = dict(plain, OMX_UDP_BULK="0")
    server = subprocess.Popen(
        [harness.LAB, "exec", "--name", lab.name, "h2", "--", OMX, "perf", "--once", "--endpoint", str(endpoint)],
        stdout=subprocess.PIPE, text=True, env=environment)
    try:
        line = server.stdout.readline()
        assert line, "no server"
        done = harness.lab("exec", "--name", lab.name, "h1", "--", OMX, "perf", "h2", "--peer-endpoint",
                           str(endpoint), "--verify", "--max-time", "0.2", *options, env=environment)
        assert done.returncode == 0, done.stderr
        assert server.wait(timeout=harness.TIMEOUT_S) == 0
        return done.stdout
    finally:
        server.kill()
        server.wait()


@test
def frames_of_each_endpoint_are_taken_in_on_its_processor():
    first, second = two_processors()
    tables = (["--cpus", f"{first},{second}"], ["--map", f"0:{second},1:{first}"])
    expected = ({"0": first, "1": second}, {"0": second, "1": first})
    for mtu, mode in (("1500", "native"), ("9000", "native"), ("9000", "generic")):
        with Lab("--queues", "2", "--mtu", mtu) as lab:
            for options, place in zip(tables, expected):
                said = steer(lab, "eth0", "--mode", mode, *options)
                assert f"steered in {mode} mode" in said, said
                if not counts_are_on(lab):
                    lab.host("h2", *WHERE, "count")
                before = counts(lab)
                # Sent on the first processor, and so arriving there.
                told = [measure(lab, endpoint, "--sizes", "8,4K,1M", "--cpu", str(first)) for endpoint in (0, 1)]
                found = since(before, counts(lab))
                for endpoint, cpu in place.items():
                    frames = found.get(endpoint, {})
                    assert set(frames) == {cpu}, f"{mode}, mtu {mtu}, {options}: endpoint {endpoint} on {frames}"
                    # One message of 1 MiB has 117 frames, however slow the machine is.
                    assert frames[cpu] > 100, f"{mode}, mtu {mtu}, {options}: {found}\n{told[int(endpoint)]}"
                moved = {str(e["endpoint"]): sum(e["moved_from"]) for e in attached(lab)[0]["endpoints"]}
                for endpoint, cpu in place.items():
                    assert cpu == first or moved[endpoint] > 100, f"{mode}, mtu {mtu}, {options}: {moved}"


def counts_are_on(lab):
    return "clsact" in lab.host("h2", "tc", "qdisc", "show", "dev", "eth0")


@test
def from_any_processor():
    """Sent from one processor after the other, whose interrupt takes them in; and the program counts the same."""
    first, second = two_processors()
    with Lab("--queues", "2") as lab:
        steer(lab, "eth0", "--cpus", f"{first},{second}")
        lab.host("h2", *WHERE, "count")
        for sender in (first, second):
            for endpoint in (6, 7):
                lab.host("h1", *WHERE, "frames", str(sender), "500", str(endpoint))
        # A frame that was handed over is taken in a moment later.
        deadline = time.monotonic() + 5
        while True:
            found = since({}, counts(lab))
            if sum(sum(row.values()) for row in found.values()) >= 2000 or time.monotonic() > deadline:
                break
        assert found == {"6": {first: 1000}, "7": {second: 1000}}, found
        counted = {e["endpoint"]: e for e in attached(lab)[0]["endpoints"]}
        for endpoint, home, away in ((6, first, second), (7, second, first)):
            moved = [0] * len(counted[endpoint]["moved_from"])
            moved[away] = 500
            assert counted[endpoint] == {"endpoint": endpoint, "processor": home, "stayed": 500,
                                         "moved_from": moved}, counted


@test
def watched_frames_are_shown_where_they_are_taken_in():
    """By frames and by UDP, steered by nobody and by us."""
    first, second = two_processors()
    for options in (None, ["--cpus", str(second)]):
        with Lab("--queues", "2") as lab:
            if options:
                steer(lab, "eth0", *options)
            watch = subprocess.Popen([harness.LAB, "exec", "--name", lab.name, "h2", "--", OMX, "steer", "eth0", "--show",
                                      "--json", "--watch", "600"],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                assert watch.stderr.readline() == "watching eth0 for 600 s\n"
                for sender, number in ((first, 30), (second, 50)):
                    lab.host("h1", *WHERE, "frames", str(sender), str(number), "6")
                    lab.host("h1", *WHERE, "enclosed", str(sender), str(number), "7", "10.77.0.2")
                time.sleep(1)  # frames that were handed over come a moment later
                watch.send_signal(signal.SIGINT)
                said = watch.communicate(timeout=harness.TIMEOUT_S)[0]
            finally:
                watch.kill()
                watch.wait()
            (arrivals,) = json.loads(said)["arrivals"]
            assert arrivals["interface"] == "eth0" and arrivals["missed"] == 0, arrivals
            found = {e["endpoint"]: {cpu: n for cpu, n in enumerate(e["frames"]) if n} for e in arrivals["endpoints"]}
            assert found == {6: {second: 80} if options else {first: 30, second: 50}, 7: {first: 30, second: 50}}, found


@test
def ip_stays_where_it_arrives():
    first, second = two_processors()
    with Lab("--queues", "2") as lab:
        # The neighbour's address must be known, or the datagrams wait for it and leave from another
        # processor.
        lab.host("h1", "ip", "neigh", "replace", "10.77.0.2", "lladdr", "02:4f:4d:58:00:02", "dev", "eth0", "nud",
                 "permanent")
        lab.host("h2", *WHERE, "count")
        for options in ([], ["--cpus", str(first)], ["--cpus", str(second)]):
            if options:
                steer(lab, "eth0", *options)
            for sender in (first, second):
                before = counts(lab)
                lab.host("h1", *WHERE, "datagrams", str(sender), "500", "10.77.0.2")
                found = since(before, counts(lab)).get("ip", {})
                assert found == {sender: 500}, f"{options}: sent from {sender}, taken in on {found}"


@test
def tcp_and_messages_at_once():
    two_processors()
    size, port = 30_000_000, 5001
    for mode in ("native", "generic"):
        with Lab("--queues", "2", "--mtu", "9000") as lab:
            steer(lab, "eth0", "--mode", mode)
            taker = lab.start("h2", *WHERE, "take", str(size), str(port))
            assert taker.stdout.readline() == "ready\n"
            giver = lab.start("h1", *WHERE, "give", str(size), str(port), "10.77.0.2")
            measure(lab, 1, "--sizes", "64K,1M")
            sent, got = giver.communicate(timeout=60)[0], taker.communicate(timeout=60)[0]
            assert sent == got and len(sent) == 65, f"{mode}: sent {sent}, got {got}"


@test
def another_program_stays():
    with Lab("--queues", "2") as lab:
        steer(lab)
        lab.host("h2", *WHERE, "someone")
        refused = omx_steer(lab, "eth0")
        assert refused.returncode == 1 and "another XDP program" in refused.stderr, refused.stderr
        assert re.search(r'^eth0: another XDP program, "\w+" \(id \d+, native\)\nno interface is steered$',
                         steer(lab), re.M)
        for options in (["eth0", "--off"], ["--off"]):
            assert "nothing was steered" in steer(lab, *options)
        assert [(a["interface"], a["ours"]) for a in attached(lab)] == [("eth0", False)]
        # There is room once the other program is gone.
        lab.host("h2", "ip", "link", "set", "dev", "eth0", "xdp", "off")
        steer(lab, "eth0")
        assert attached(lab)[0]["ours"]


@test
def off_takes_all_of_ours():
    with Lab() as lab:
        steer(lab, "eth0")
        steer(lab, "lo", "--mode", "generic")
        assert [a["interface"] for a in attached(lab)] == ["lo", "eth0"]
        assert [a["mode"] for a in attached(lab)] == ["generic", "native"]
        assert steer(lab, "eth0", "--show").startswith("eth0: steered in native mode")
        steer(lab, "--off")
        assert attached(lab) == []
        assert "nothing was steered" in steer(lab, "--off")
        assert "eth0 is not steered" in steer(lab, "eth0", "--show")
        assert "xdp" not in lab.host("h2", "ip", "link", "show")


@test
def killed_at_any_time():
    """Steered wholly or not at all, and --off leaves nothing; no timing is asserted, only spread."""
    pick = random.Random(5)
    with Lab("--queues", "2") as lab:
        steer(lab)
        for _ in range(12):
            # The shell becomes omx, so its process number is the one to kill, in the lab's own numbering.
            process = lab.start("h2", "sh", "-c", f"(sleep {pick.uniform(0, 0.02)}; kill -9 $$ 2>/dev/null) & "
                                f"exec {OMX} steer eth0")
            process.communicate(timeout=60)
            killed = process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
            found = attached(lab)
            assert killed or found, f"status {process.returncode}, {found}"
            if found:
                assert len(found) == 1 and found[0]["ours"] and "problem" not in found[0], found
                assert found[0]["table"] == [processors_online()[e % len(processors_online())] for e in range(256)]
                steer(lab, "--off")
            assert attached(lab) == []
            assert "xdp" not in lab.host("h2", "ip", "link", "show")


def processors_online():
    with open("/sys/devices/system/cpu/online", encoding="ascii") as file:
        parts = [part.split("-") for part in file.read().strip().split(",")]
    return [cpu for part in parts for cpu in range(int(part[0]), int(part[-1]) + 1)]


@test
def binding_goes_by_the_table():
    first, second = two_processors()
    with Lab("--queues", "2") as lab:
        steer(lab, "eth0", "--cpus", f"{first},{second}", "--map", f"2:{second}")
        (board,) = json.loads(lab.host("h2", OMX, "info", "--json"))["boards"]
        assert board["steered_to"][:4] == [first, second, second, second], board["steered_to"]
        for endpoint, cpu in ((0, first), (1, second), (2, second)):
            server = lab.start("h2", "env", "OMX_PROCESS_BINDING=auto", OMX, "perf", "--once", "--endpoint", str(endpoint))
            try:
                assert server.stdout.readline(), "no server"
                (board,) = json.loads(lab.host("h2", OMX, "info", "--json"))["boards"]
                bound = {e["id"]: e["bound_to"] for e in board["endpoints"]}
                assert bound == {endpoint: str(cpu)}, f"{bound}, not {cpu}"
                lines = lab.host("h2", OMX, "prepare-binding", "-").splitlines()
                assert any(f" ep {endpoint} " in line for line in lines), lines
            finally:
                lab.host("h1", OMX, "perf", "h2", "--peer-endpoint", str(endpoint), "--sizes", "0", "--iterations", "1")
                server.wait(timeout=harness.TIMEOUT_S)


@test
def rps_is_told():
    """RPS puts a frame that was handed over onto another processor."""
    first, second = two_processors()
    with Lab("--queues", "2") as lab:
        try:
            lab.host("h2", "sh", "-c", f"echo {1 << first:x} >/sys/class/net/eth0/queues/rx-0/rps_cpus")
        except AssertionError as error:
            raise Skip("no RPS in this kernel") from error
        for arguments in (["eth0", "--cpus", str(second)], ["eth0", "--show"], ["--show", "--json"]):
            done = omx_steer(lab, *arguments)
            assert done.returncode == 0, done.stderr
            assert re.fullmatch(r"warning: E925: eth0: RPS is on for receive queue 0 and [^\n]+\n", done.stderr), done.stderr
        # The command that it names helps.
        lab.host("h2", "sh", "-c", done.stderr.strip().split("processors: ")[1])
        assert omx_steer(lab, "eth0", "--show").stderr == ""


@test
def refusals():
    with Lab() as lab:
        steer(lab)
        for arguments, sentence in (
                (["nonesuch"], "there is no interface nonesuch here; there are: lo, eth0"),
                (["eth0", "--cpus", "9999"], "no processor|not a list"),
                (["eth0", "--cpus", "0,"], "--cpus \"0,\" is not a list"),
                (["eth0", "--map", "256:0"], "--map \"256:0\" is not ENDPOINT:PROCESSOR"),
                (["lo", "--mode", "native"], "lo takes no XDP program in native mode: .*--mode generic")):
            done = omx_steer(lab, *arguments)
            assert done.returncode == 1, arguments
            assert re.search(f"^omx steer: .*({sentence})", done.stderr), done.stderr
            assert done.stderr.count("\n") == 1, done.stderr
        assert attached(lab) == []


if __name__ == "__main__":
    if len(sys.argv) > 2:
        harness.tests[:] = [function for function in harness.tests if function.__name__ in sys.argv[2:]]
    if not any(os.access(os.path.join(folder, "clang"), os.X_OK) for folder in os.environ["PATH"].split(":")):
        print("skipped: the counting program needs clang")
        sys.exit(harness.UNABLE)
    if os.geteuid() != 0:
        print("skipped: only root may load XDP programs")
        sys.exit(harness.UNABLE)
    sys.exit(harness.main())
