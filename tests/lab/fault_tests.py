# SPDX-License-Identifier: BSD-3-Clause
"""Tests of lab fault, cut, mend and faults.

Bounds are five standard deviations wide, and the seed is fixed, so a pass or a failure repeats.
"""
import math
import os
import time

from harness import Lab, good, test, within

COUNT = 20_000
TOPOLOGIES = ("cable", "bridge")


def spread(count, probability):
    return 5 * math.sqrt(count * probability * (1 - probability))


@test
def fault__rates_are_right():
    for topology in TOPOLOGIES:
        with Lab("--topology", topology) as it:
            good(it.do("fault", "h1", "--direction", "out", "--drop", "10", "--dup", "5",
                       "--corrupt", "2", "--seed", "7"))
            result = it.traffic("h1", "h2", COUNT)
            counters = it.counters("h1", "out")
            assert counters["matched"] == COUNT, counters
            within(counters["dropped"], 0.10 * COUNT, spread(COUNT, 0.10), "dropped")
            kept = COUNT - counters["dropped"]
            within(counters["duplicated"], 0.05 * kept, spread(kept, 0.05), "duplicated")
            within(counters["corrupted"], 0.02 * kept, spread(kept, 0.02), "corrupted")
            # The frames that arrived are those that the program reports. On a switch a damaged destination or
            # ethertype may keep a frame from the receiver.
            within(result["arrived"], kept + counters["duplicated"], 40, "arrived")
            within(result["damaged"], counters["corrupted"], 40, "damaged")
            assert it.counters("h2", "in") is None


@test
def fault__small_rates():
    with Lab() as it:
        good(it.do("fault", "h2", "--direction", "in", "--drop", "0.1"))
        result = it.traffic("h1", "h2", COUNT)
        lost = COUNT - result["arrived"]
        assert 1 <= lost <= 50, f"{lost} of {COUNT} lost at 0.1%"
        assert it.counters("h2", "in")["dropped"] == lost


@test
def fault__certain():
    with Lab() as it:
        good(it.do("fault", "h2", "--direction", "in", "--dup", "100"))
        result = it.traffic("h1", "h2", 500)
        assert (result["arrived"], result["repeats"]) == (1000, 500), result
        good(it.do("fault", "h2", "--direction", "in", "--corrupt", "100"))
        result = it.traffic("h1", "h2", 500)
        assert result["arrived"] == 500 and result["damaged"] >= 450, result
        good(it.do("fault", "h2", "--direction", "in", "--drop", "100"))
        assert it.traffic("h1", "h2", 500)["arrived"] == 0


@test
def fault__a_seed_replays():
    with Lab() as it:
        def arrived_with(seed):
            good(it.do("fault", "h1", "--direction", "out", "--drop", "20", "--seed", seed))
            return it.traffic("h1", "h2", 500)["whole"]

        first = arrived_with("42")
        assert 300 < len(first) < 500
        assert arrived_with("43") != first
        assert arrived_with("42") == first


@test
def fault__both_directions_of_both_ends():
    with Lab() as it:
        for host in ("h1", "h2"):
            good(it.do("fault", host, "--drop", "50"))
        result = it.traffic("h1", "h2", 4000)
        within(result["arrived"], 1000, spread(4000, 0.25), "arrived after two halvings")
        result = it.traffic("h2", "h1", 4000)
        within(result["arrived"], 1000, spread(4000, 0.25), "arrived on the way back")


@test
def fault__duplicates_through_both_ends():
    with Lab() as it:
        good(it.do("fault", "h1", "--direction", "out", "--dup", "100"))
        good(it.do("fault", "h2", "--direction", "in", "--dup", "100"))
        assert it.traffic("h1", "h2", 100)["arrived"] == 400


@test
def fault__only_one_packet_type():
    with Lab() as it:
        good(it.do("fault", "h2", "--direction", "in", "--drop", "100", "--type", "2"))
        assert it.traffic("h1", "h2", 100, "--type", "1")["arrived"] == 100
        assert it.traffic("h1", "h2", 100, "--type", "2")["arrived"] == 0
        counters = it.counters("h2", "in")
        assert (counters["seen"], counters["matched"]) == (200, 100), counters


@test
def fault__only_one_ethertype():
    with Lab() as it:
        good(it.do("fault", "h2", "--drop", "100"))
        assert it.traffic("h1", "h2", 100, ethertype="0x88B5")["arrived"] == 100
        assert it.traffic("h1", "h2", 100)["arrived"] == 0
        good(it.do("fault", "h2", "--drop", "100", "--ethertype", "all"))
        assert it.traffic("h1", "h2", 100, ethertype="0x88B5")["arrived"] == 0


@test
def fault__only_gso_batches():
    send = ("import socket, sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('10.77.0.2', 9)); "
            "s.setsockopt(17, 103, 1000); [s.send(bytes(int(sys.argv[1]))) for _ in range(20)]")  # UDP_SEGMENT
    take = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.77.0.2', 9)); s.settimeout(60); "
            "print('ready', flush=True); print([len(s.recv(65536)) for _ in range(20)] == [1000] * 20)")
    with Lab() as it:
        good(it.do("fault", "h2", "--direction", "in", "--drop", "100", "--ethertype", "0x0800", "--gso-batches"))
        taker = it.start("h2", "python3", "-c", take)
        assert taker.stdout.readline() == "ready\n"
        it.host("h1", "python3", "-c", send, "3000")
        it.host("h1", "python3", "-c", send, "1000")
        assert taker.communicate(timeout=60)[0] == "True\n"
        assert it.counters("h2", "in")["dropped"] == 20


@test
def fault__large_frames():
    for topology in TOPOLOGIES:
        with Lab("--mtu", "65535", "--topology", topology) as it:
            good(it.do("fault", "h1", "--direction", "out", "--dup", "50", "--corrupt", "50"))
            for size in ("1514", "9014", "65549"):
                before = it.counters("h1", "out")
                result = it.traffic("h1", "h2", 200, "--size", size)
                after = it.counters("h1", "out")
                done = {name: after[name] - before[name] for name in after}
                within(done["duplicated"], 100, spread(200, 0.5), f"duplicated of {size}")
                within(done["corrupted"], 100, spread(200, 0.5), f"corrupted of {size}")
                # A flipped header bit may hide a frame behind a switch, but few do at this size.
                within(result["damaged"], done["corrupted"], 8, f"damaged of {size}")
                within(result["arrived"], 200 + done["duplicated"], 8, f"arrived of {size}")


@test
def fault__a_sender_cannot_step_over_it():
    for topology in TOPOLOGIES:
        with Lab("--topology", topology) as it:
            good(it.do("fault", "h1", "--direction", "out", "--drop", "100"))
            assert it.traffic("h1", "h2", 100, "--bypass")["arrived"] == 0


@test
def fault__clear_removes_the_program():
    with Lab() as it:
        good(it.do("fault", "h1", "--clear"))
        good(it.do("fault", "h1", "--drop", "100"))
        assert "in_at_ingress" in it.host("h1", "tc", "filter", "show", "dev", "eth0", "ingress")
        good(it.do("fault", "h1", "--clear"))
        assert it.host("h1", "tc", "filter", "show", "dev", "eth0", "ingress") == ""
        assert it.traffic("h1", "h2", 100)["arrived"] == 100


@test
def cut__nothing_passes_until_mended():
    for topology in TOPOLOGIES:
        with Lab("--topology", topology) as it:
            good(it.do("fault", "h1", "--direction", "in", "--drop", "50"))
            good(it.do("cut", "h1"))
            for ethertype in ("0x86DF", "0x0806"):  # ARP is cut as well
                assert it.traffic("h1", "h2", 50, ethertype=ethertype)["arrived"] == 0
                assert it.traffic("h2", "h1", 50, ethertype=ethertype)["arrived"] == 0
            assert it.host("h1", "cat", "/sys/class/net/eth0/carrier") == "1\n"
            good(it.do("mend", "h1"))
            assert it.traffic("h1", "h2", 50)["arrived"] == 50
            # The rates set before the cut are still there.
            assert 5 < it.traffic("h2", "h1", 50)["arrived"] < 45


@test
def cut__carrier():
    for topology in TOPOLOGIES:
        with Lab("--topology", topology) as it:
            good(it.do("cut", "h1", "--carrier"))
            assert it.host("h1", "cat", "/sys/class/net/eth0/carrier") == "0\n"
            assert "UP" in it.host("h1", "ip", "link", "show", "dev", "eth0")
            good(it.do("mend", "h1"))
            assert it.traffic("h1", "h2", 50)["arrived"] == 50
            assert it.traffic("h2", "h1", 50)["arrived"] == 50


@test
def faults__table():
    with Lab() as it:
        assert "no faults were set" in good(it.do("faults"))
        good(it.do("fault", "h1", "--drop", "0.1", "--type", "3"))
        good(it.do("cut", "h2"))
        out = good(it.do("faults"))
        assert "drop 0.1%, ethertype 0x86DF, type 3, seed 1" in out and " cut\n" in out, out



@test
def faults__program_dies_with_the_lab():
    with Lab() as it:
        good(it.do("fault", "h1", "--drop", "1"))
        ids = it.host("h1", "tc", "filter", "show", "dev", "eth0", "ingress")
        number = ids.split(" id ")[1].split()[0]
    # The kernel removes network namespaces a moment after their last user has gone.
    deadline = time.monotonic() + 10
    while os.system(f"bpftool prog show id {number} >/dev/null 2>&1") == 0:
        assert time.monotonic() < deadline, f"eBPF program {number} outlives its lab"
