#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold between two hosts: storms of verified messages, faults, killed processes, different MTUs.

  scenarios.py --bin BUILD [--messages N] [--seconds N] [NAME...]      runs the named scenarios (default: all)
  scenarios.py --list

Each scenario starts a lab of its own. Exit 77 when no lab can be made here.
"""
import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from stage import (LAB, MAC, ROOT, SCENARIOS, Failure, Lab, await_counter, end_steady, finish,  # noqa: E402
                   finish_pair, hear, killed_under_load, must_run, pair, scenario, steady, storm)
import hook_scenarios  # noqa: E402,F401  (these register their own)
import pod_scenarios  # noqa: E402,F401
import rails_scenarios  # noqa: E402,F401
import silence_scenarios  # noqa: E402,F401
import slurm_scenarios  # noqa: E402,F401
import stacked_scenarios  # noqa: E402,F401
import udp_scenarios  # noqa: E402,F401
import xdp_scenarios  # noqa: E402,F401


# Scenarios that --link may run over another link than frames.
BY_ANY_LINK = ("blocking", "kill", "restart_under_traffic", "cut_and_mend", "cut_for_good", "interface_down_and_up", "local", "local_kill",
               "mesh", "mesh_kills")


def storm_scenario(mode, mtu, faults):
    def run(lab):
        env = {"OMX_LINK": mode} if mode in ("udp", "udp6") else {"OMX_WIRE_MODE": mode}
        if faults:
            env["OMX_CHECKSUM"] = "1"
            for host in MAC:
                lab.lab("fault", host, "--direction", "in", "--ethertype", "all", "--drop", 1, "--dup", 1, "--corrupt", 0.1,
                        "--seed", 5)
        storm(lab, env)
        if faults:
            print("  " + lab.lab("faults").strip().replace("\n", "\n  "))

    run.__name__ = f"storm_{mode}_{mtu}_{'faults' if faults else 'clean'}"
    SCENARIOS[run.__name__] = (run, str(mtu), {"family": "ipv6"} if mode == "udp6" else {})


for mode_ in ("omx", "mxoe", "udp", "udp6"):
    for mtu_ in (1500, 9000):
        for faults_ in (False, True):
            storm_scenario(mode_, mtu_, faults_)


@scenario(mtu="1500,9000")
def mixed_mtu(lab):
    """A 1500-byte interface and a 9000-byte one agree on a size, and say so."""
    env = {"OMX_VERBOSE": "2"}
    a = lab.soak("h1", env)
    b = lab.soak("h2", env)
    said = finish("h1", a, 0, 300) + finish("h2", b, 0, 300)
    agreed = [line for line in said.splitlines() if "1514" in line and "agreed" in line]
    if not agreed:
        raise Failure(f"no log line shows the agreed size: {said[-500:]}")
    print("  " + agreed[0])


@scenario(mtu="9000")
def blocking(lab):
    """Both sides sleep in mx_wait_any instead of polling."""
    storm(lab, {"OMX_SPIN_US": "0"}, more=("--wait",))


@scenario(mtu="9000")
def copy_engine(lab):
    """A copy thread copies large messages from the receive ring, without and with faults."""
    env = {"OMX_COPY_ENGINE": "thread", "OMX_PLACEMENT": "ring", "OMX_COPY_MIN_PIECE": "1K", "OMX_COPY_MIN_WAITED": "64K"}
    storm(lab, env)
    storm(lab, {"OMX_COPY_ENGINE": "thread"})  # the engine's measured choice, which may be not to offload
    for host in MAC:
        lab.lab("fault", host, "--direction", "in", "--ethertype", "all", "--drop", 1, "--dup", 1, "--seed", 5)
    soaks = steady(lab, env, "--seed", 12)
    await_counter(lab, soaks, "Pull Reply Copied by an Engine")
    end_steady(soaks)


def placed(lab, placement, *more, **env):
    """Large messages by frames alone, until a way to receive them into their final place was seen, or found by
    trying."""
    env = {"OMX_UDP_BULK": "0", "OMX_PLACEMENT": placement, "OMX_RING_BYTES": "4M", "OMX_VERBOSE": "2", **env}
    soaks = steady(lab, env, "--seed", 14, *more)
    if placement == "auto":
        hear(soaks, "tried now", 120)
    else:
        await_counter(lab, soaks, "Link Bulk Frames Placed")
    end_steady(soaks)


def with_faults(lab):
    for host in MAC:
        lab.lab("fault", host, "--direction", "in", "--ethertype", "all", "--drop", 1, "--dup", 1, "--seed", 6)


@scenario(mtu="9000")
def placements(lab):
    """The kernel receives large messages into their final place, by each way that is tried in turn, without and with
    faults."""
    placed(lab, "kernel")
    placed(lab, "auto")
    with_faults(lab)
    placed(lab, "kernel")
    placed(lab, "auto")


@scenario(mtu="1500")
def placements_asleep(lab):
    """The same while both sides sleep: on the ring, and on sockets that are opened and closed meanwhile."""
    placed(lab, "auto", "--wait", OMX_SPIN_US="0")
    with_faults(lab)
    placed(lab, "auto", "--wait", OMX_SPIN_US="0")


@scenario(mtu="9000")
def kill(lab):
    """kill -9 of one side: the other notices in time, the id is free at once, and reconnecting works."""
    env = {"OMX_PEER_TIMEOUT_MS": "2000"}
    for round_ in range(2):
        a = killed_under_load(lab, env, "--seed", round_ + 1)
        began = time.time()
        finish("h1", a, 3, 30)
        if time.time() - began > 8:
            raise Failure(f"the survivor took {time.time() - began:.1f} s with a limit of 2 s")
        left = lab.lab("exec", "h2", "--", "ss", "-xlH")
        if "omx" in left:
            raise Failure(f"the killed process left a socket: {left}")
    storm(lab, {})


@scenario(mtu="1500")
def bulk_path_lost_and_found(lab):
    """The IP address goes away and comes back under load. Large messages go by frames meanwhile, then by UDP again."""
    soaks = steady(lab, {})
    await_counter(lab, soaks, "Link UDP Batches Sent")
    lab.lab("exec", "h2", "--", "ip", "address", "del", "10.77.0.2/24", "dev", "eth0")
    await_counter(lab, soaks, "UDP Bulk Path Given Up")
    lab.lab("exec", "h2", "--", "ip", "address", "add", "10.77.0.2/24", "dev", "eth0")
    must_run(soaks, "the address was back")
    end_steady(soaks)


def sends_without_copies(lab, env, counter):
    """Traffic without loss, and then with loss and repeated frames. All messages arrive as they were sent."""
    soaks = steady(lab, {"OMX_ZEROCOPY": "1", **env})
    await_counter(lab, soaks, counter)
    for host in ("h1", "h2"):
        lab.lab("fault", host, "--direction", "in", "--ethertype", "all", "--drop", 1, "--dup", 1, "--seed", 9)
    await_counter(lab, soaks, "Recv Duplicate")
    time.sleep(2)
    end_steady(soaks)


@scenario(mtu="9000")
def without_a_copy(lab):
    """Large messages by UDP leave from the application's memory, with and without loss."""
    sends_without_copies(lab, {}, "Link UDP Batches without a Copy")


@scenario(mtu="9000")
def transmit_ring(lab):
    """Large raw frames leave by the transmit ring, with and without loss."""
    sends_without_copies(lab, {"OMX_UDP_BULK": "0"}, "Link Frames by Transmit Ring")


@scenario(mtu="9000")
def restart_under_traffic(lab):
    """The killed side restarts at once with the same endpoint id. Old requests fail, new ones work."""
    env = {"OMX_PEER_TIMEOUT_MS": "5000"}
    a = killed_under_load(lab, env)
    again = lab.soak("h2", env, 100, "--connect-s", 2)
    finish("h1", a, 3, 30)
    again.send_signal(signal.SIGTERM)
    again.wait(timeout=10)


@scenario(mtu="1500")
def cut_and_mend(lab):
    """Two seconds without a cable under load: nothing is lost."""
    soaks = steady(lab, {})
    time.sleep(1)
    lab.lab("cut", "h1")
    time.sleep(2)
    must_run(soaks, "the cable was cut")
    lab.lab("mend", "h1")
    time.sleep(0.5)
    end_steady(soaks)


@scenario(mtu="1500")
def cut_for_good(lab):
    """A cable that is never mended: both sides fail within the limit."""
    env = {"OMX_PEER_TIMEOUT_MS": "2000"}
    soaks = pair(lab, env, 10_000_000, "--tolerate")
    time.sleep(1)
    lab.lab("cut", "h1")
    finish_pair(soaks, 3, 20)


@scenario(mtu="1500")
def interface_down_and_up(lab):
    """The interface goes down and comes back under load."""
    soaks = steady(lab, {})
    time.sleep(1)
    lab.lab("exec", "h1", "--", "ip", "link", "set", "eth0", "down")
    time.sleep(1)
    lab.lab("exec", "h1", "--", "ip", "link", "set", "eth0", "up")
    time.sleep(0.5)
    end_steady(soaks)


def local_soak(lab, endpoint, env, messages, *more):
    argv = [lab.bin / "tests/soak/omx_soak", "--endpoint", endpoint, "--peer", lab.nic("h1"), "--peer-endpoint",
            1 - endpoint, "--messages", messages or lab.messages, *more]
    return lab.start("h1", argv, env)


@scenario(mtu="9000")
def local(lab):
    """Two processes of one host, polling and blocking, with one copy and two. No frame goes over the cable."""
    sent = "cat /sys/class/net/eth0/statistics/tx_packets"
    before = int(lab.lab("exec", "h1", "--", "sh", "-c", sent))
    for more, env in (((), {}), (("--wait",), {}), ((), {"OMX_LOCAL_DIRECT": "0"}),
                      (("--wait",), {"OMX_LOCAL_DIRECT": "0", "OMX_LOCAL_RNDV_THRESHOLD": "4096"})):
        a = local_soak(lab, 0, env, None, *more)
        b = local_soak(lab, 1, env, None, *more)
        finish("endpoint 0", a, 0, 120)
        finish("endpoint 1", b, 0, 120)
    if int(lab.lab("exec", "h1", "--", "sh", "-c", sent)) - before > 20:
        raise Failure("their messages went over the cable")


@scenario(mtu="9000")
def local_kill(lab):
    """kill -9 of one of two processes of one host: the other notices at once, and the successor is a new peer."""
    for round_ in range(3):
        a = local_soak(lab, 0, {}, 10_000_000, "--tolerate", "--seed", round_ + 1)
        b = local_soak(lab, 1, {}, 10_000_000, "--tolerate", "--seed", round_ + 1)
        time.sleep(1)
        lab.lab("exec", "h1", "--", "pkill", "-9", "-f", "omx_soa[k].*--endpoint 1")
        b.wait(timeout=10)
        began = time.time()
        finish("endpoint 0", a, 3, 30)
        if time.time() - began > 5:
            raise Failure(f"the survivor took {time.time() - began:.1f} s")
    a = local_soak(lab, 0, {}, None)
    b = local_soak(lab, 1, {}, None)
    finish("endpoint 0", a, 0, 120)
    finish("endpoint 1", b, 0, 120)


MESH = [("h1", 0), ("h1", 1), ("h2", 0), ("h2", 1)]


def mesh_start(lab, member, seconds, *more):
    argv = [lab.bin / "tests/soak/omx_mesh", "--self", member, "--threads", 4, "--seconds", f"{seconds:.1f}", *more]
    for host, endpoint in MESH:
        argv += ["--member", f"{lab.nic(host)}:{endpoint}"]
    return lab.start(MESH[member][0], argv, {"OMX_PEER_TIMEOUT_MS": "5000"})


def mesh_kill(lab, victim):
    # On a busy machine it may not have begun yet.
    for _ in range(100):
        try:
            return lab.lab("exec", "h1", "--", "pkill", "-9", "-f", f"omx_mes[h] --self {victim} ")
        except Failure:
            time.sleep(0.1)
    raise Failure(f"there is no member {victim} to kill")


def mesh_run(lab, kills):
    """Two hosts with two processes of four threads each, all pairs. With kills, a process is killed every second or
    two."""
    random_ = random.Random(time.time_ns())
    seconds = max(lab.seconds, 10) if kills else lab.seconds  # no process is killed in the last six seconds
    end = time.time() + seconds
    more = ["--kills"] if kills else []
    running = [mesh_start(lab, member, seconds, *more) for member in range(len(MESH))]
    killed = 0
    while kills and time.time() + 6 < end:
        time.sleep(random_.uniform(0.5, 2))
        victim = random_.randrange(len(MESH))
        if running[victim].poll() is not None:
            raise Failure(f"member {victim} ended by itself: {running[victim].stdout.read()[-800:]}")
        mesh_kill(lab, victim)
        running[victim].communicate(timeout=10)
        time.sleep(random_.uniform(0, 0.5))
        running[victim] = mesh_start(lab, victim, end - time.time(), *more)
        killed += 1
    for member, process in enumerate(running):
        finish(f"member {member}", process, 0, seconds + 120)
    print(f"  {killed} killed")
    for host in MAC:
        left = lab.lab("exec", host, "--", "ss", "-xlH")
        if "omx" in left:
            raise Failure(f"a socket is left on {host}: {left}")


@scenario(mtu="9000")
def mesh(lab):
    """Threads of four processes on two hosts, by shared memory and by the network."""
    mesh_run(lab, False)


@scenario(mtu="9000")
def mesh_kills(lab):
    """The same while processes are killed and restarted."""
    mesh_run(lab, True)


@scenario()
def sleepers(lab):
    """Both ends sleep between frames of large messages by the bulk path. Frames that have come never wait for the
    timer."""
    # Nothing else may end a sleep that a solicited flag should have ended.
    env = {"OMX_SPIN_US": "0", "OMX_PROGRESS": "off", "OMX_MODERATION_US": "1000000", "OMX_PULL_DELAY_EXTENDED_MS": "60000",
           "OMX_RESEND_DELAY_LEAST_US": "60000000", "OMX_KEEPALIVE_MS": "60000"}
    omx = lab.bin / "tools/omx"
    server = lab.start("h2", [omx, "perf"], env)
    time.sleep(0.5)
    finish("client", lab.start("h1", [omx, "perf", MAC["h2"], "--wait", "-s", "1M", "-n", 100], env), 0, 60)
    counters = lab.lab("exec", "h2", "--", omx, "counters", "-v")
    server.kill()
    server.communicate()
    def count(label):
        found = re.search(rf"(\d+) {label}$", counters, re.MULTILINE)
        return int(found[1]) if found else 0

    by_frames = count("Sleeps Ended by a Frame") + count("Sleeps Ended by a Solicited Frame") + count("Sleeps Ended by Announced Data")
    if count("Link UDP Batches Received") < 100 or by_frames < 100:
        raise Failure(f"no bulk path or no sleeps, so not a test: {counters}")
    # Some deadlines end sleeps in any case.
    if count("Sleeps Ended") - by_frames > count("Messages Received"):
        raise Failure(f"too many sleeps ended by time: {counters}")


@scenario(mtu="9000")
def hello(lab):
    """The C example between two hosts, built with pkg-config from an installed tree as the README says."""
    with tempfile.TemporaryDirectory() as prefix:
        quiet = {"check": True, "capture_output": True, "text": True}
        subprocess.run(["cmake", "--install", str(lab.bin), "--prefix", prefix], **quiet)
        pc = next(pathlib.Path(prefix).rglob("open-mx.pc")).parent
        env = dict(os.environ, PKG_CONFIG_PATH=str(pc))
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "open-mx"], env=env, **quiet).stdout.split()
        program = f"{prefix}/hello"
        source = str(ROOT / "examples/hello.c")
        rpath = f"-Wl,-rpath,{pc.parent}"
        subprocess.run(["cc", "-Wall", "-Werror", source, "-o", program, *flags, rpath], **quiet)
        receiver = lab.start("h2", [program])
        time.sleep(0.5)
        sender = lab.start("h1", [program, "h2:0"])
        finish("sender", sender, 0, 30)
        finish("receiver", receiver, 0, 30)


def inside(args):
    function, _, _ = SCENARIOS[args.inside]
    try:
        lab = Lab(args.bin, args.messages, args.seconds, args.link)
        for host in MAC if args.loss else ():
            lab.lab("fault", host, "--direction", "in", "--ethertype", "all", "--drop", args.loss, "--seed", 3)
        function(lab)
    except Failure as problem:
        print(f"  FAILED: {problem}")
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release"))
    parser.add_argument("--messages", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--link", choices=("udp", "udp6"), help="runs the scenarios that can use it over this link")
    parser.add_argument("--loss", type=float, default=0, help="percent of all packets, where the scenario has no faults of its own")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.list:
        print("\n".join(SCENARIOS))
        return 0
    if args.inside:
        return inside(args)
    passed, failed, skipped = 0, 0, 0
    for name in args.names or SCENARIOS:
        if name not in SCENARIOS:
            parser.error(f"no scenario {name}: see --list")
        began = time.time()
        if args.link and name not in BY_ANY_LINK:
            print(f"SKIP: {name} is about one link")
            skipped += 1
            continue
        options = [text for key, value in {**SCENARIOS[name][2], **({"family": "ipv6"} if args.link == "udp6" else {})}.items()
                   for text in (f"--{key}", value)]
        more = [text for key in ("link", "loss") if getattr(args, key) for text in (f"--{key}", str(getattr(args, key)))]
        print(f"{name}", flush=True)
        run = subprocess.run([str(LAB), "run", "--hosts", "2", "--mtu", SCENARIOS[name][1], *options, "--", sys.executable, str(pathlib.Path(__file__).resolve()),
                              "--bin", args.bin, "--messages", str(args.messages), "--seconds", str(args.seconds),
                              *more, "--inside", name])
        verdict = {0: "ok", 77: "skipped"}.get(run.returncode, "FAILED")
        passed += verdict == "ok"
        skipped += verdict == "skipped"
        failed += verdict == "FAILED"
        print(f"{name}: {verdict} ({time.time() - began:.1f} s)", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 77 if not passed else 0


if __name__ == "__main__":
    sys.exit(main())
