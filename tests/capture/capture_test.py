#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""capture_test.py OMX: tests omx capture between two hosts of a lab, and the dissector on its recordings."""
import collections
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import shark  # noqa: E402  (beside this file)

TYPES = {"CONNECT": 36, "TINY": 37, "SMALL": 38, "MEDIUM": 39, "RNDV": 40, "PULL": 41, "PULL_REPLY": 42, "NOTIFY": 43,
         "PROBE": 64, "PACK": 65}
MESSAGES, WARMUP = 2, 1
MEDIUMS, PULLED = (5000, 30000), (150000, 300000)
MASK = 2**64 - 1
LAB = os.environ.get("LAB", "")
check = shark.Checks()


def unmix(x):
    """Inverts the function by which omx perf fills messages (tools/perf/perf_pattern.cc)."""
    x ^= x >> 31
    x ^= x >> 62
    x = x * pow(0x94D049BB133111EB, -1, 2**64) & MASK
    x ^= x >> 27
    x ^= x >> 54
    x = x * pow(0xBF58476D1CE4E5B9, -1, 2**64) & MASK
    x ^= x >> 30
    x ^= x >> 60
    return (x - 0x9E3779B97F4A7C15) & MASK


def in_order(data):
    """Returns whether these bytes are one message of omx perf --verify, with every byte in its place."""
    words = [int.from_bytes(data[at:at + 8], "little") for at in range(0, len(data) - 7, 8)]
    seed = unmix(words[0])
    return all(unmix(word) == (seed + 8 * n) & MASK for n, word in enumerate(words))


def host(name, command, **more):
    return subprocess.Popen([LAB, "exec", name, "--", *command], text=True, **more)


class Recording:
    """Runs omx capture on h1 until it is ready."""

    def __init__(self, omx, path, *options):
        self.process = host("h1", [omx, "capture", "-w", path, *options], stderr=subprocess.PIPE)
        self.said = self.process.stderr.readline()
        check.that("omx capture says that it is ready", "capturing on eth0" in self.said, self.said)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.said = self.process.communicate()[1]
        check.equal("status of omx capture after SIGINT", self.process.returncode, 0)
        found = re.search(r"(\d+) frames captured on eth0: (\d+) received, (\d+) sent; (\d+) dropped", self.said)
        check.that("omx capture says what it has captured", found, self.said)
        return [int(number) for number in found.groups()] if found else [0, 0, 0, 0]


def perf(omx, environment, *options):
    settings = ["env", *environment]
    server = host("h2", [*settings, omx, "perf", "--timeout", "60"], stdout=subprocess.PIPE)
    server.stdout.readline()
    client = host("h1", [*settings, omx, "perf", "h2", "--verify", *options], stdout=subprocess.DEVNULL)
    check.equal("status of omx perf", client.wait(), 0)
    server.terminate()
    server.communicate()


def record(omx, path, environment):
    recording = Recording(omx, path)
    sizes = ",".join(str(size) for size in (0, 20, 100, *MEDIUMS, *PULLED))
    perf(omx, environment, "--sizes", sizes, "-n", str(MESSAGES), "--warmup", str(WARMUP))
    perf(omx, environment, "-t", "stream", "--sizes", "8,100", "-n", "64", "--warmup", "0")
    total, received, sent, dropped = recording.end()
    check.that(f"{path}: both directions", received > 20 and sent > 20, recording.said)
    check.equal(f"{path}: dropped", dropped, 0)
    return total


BAD = ("omx.malformed", "omx.unknown_type", "omx.bad_checksum", "omx.cut", "_ws.lua.error", "_ws.malformed")
TOLD = ("frame.number", "omx", "omx_udp", "udp", "omx.type", "omx.layout", "omx.pack.count", "omx.message", "omx.checksum.status", "omx.ack.frame",
        "omx.ack.message", "omx.acked_in", *BAD)


def frames_of(path):
    """Returns a dictionary for each frame. tshark takes a second to start, so all fields are read at once."""
    return [dict(zip(TOLD, row)) for row in shark.fields(path, "frame", *TOLD)]


def look_at_frames(name, frames, layout):
    absent = {"mxoe": ("PROBE", "PACK"), "udp": ("PACK",)}.get(name, ())
    check.equal(f"{name}: frames that are not ours", [f for f in frames if not f["omx"] and not f["omx_udp"]], [])
    check.equal(f"{name}: bad frames", [f for f in frames if any(f[bad] for bad in BAD)], [])
    types = collections.Counter(int(value) for f in frames for value in f["omx.type"])
    wanted = [t for t in TYPES if t not in absent]
    for what in wanted:
        check.that(f"{name}: there is a {what}", types[TYPES[what]] > 0, types)
    check.equal(f"{name}: layouts", {value for f in frames for value in f["omx.layout"]}, {str(layout)})
    for f in frames:
        if "65" in f["omx.type"]:
            messages, counts = f["omx.message"], f["omx.pack.count"]
            check.that(f"{name}: messages of a PACK", len(messages) >= sum(map(int, counts)), (counts, messages))
    udp = sum(bool(f["udp"]) for f in frames)
    check.that(f"{name}: UDP", udp == 0 if name in ("mxoe", "checksum") else udp > 0, udp)
    good = sum("1" in f["omx.checksum.status"] for f in frames)
    check.that(f"{name}: checksums", good > 0 if name == "checksum" else good == 0, good)


def look_at_whole_messages(name, path):
    lengths = collections.Counter()
    for numbers, data in shark.fields(path, "omx.reassembled.data", "omx.reassembled.length", "omx.reassembled.data"):
        for length, text in zip(map(int, numbers), data):
            lengths[length] += 1
            if length in MEDIUMS + PULLED:
                check.that(f"{name}: a message of {length} bytes is put together right",
                           len(text) == 2 * length and in_order(bytes.fromhex(text)))
    for length in MEDIUMS + PULLED:
        check.equal(f"{name}: whole messages of {length} bytes", lengths[length], 2 * (MESSAGES + WARMUP))


def one(values):
    return values[0] if values else None


def look_at_links(name, path):
    """Checks the links of a large message, found by its number."""
    largest = PULLED[-1]
    # On a busy machine packets may be sent again. The first of each is examined.
    rndvs = shark.fields(path, f"omx.rndv.length == {largest} && !omx.sent_again", "frame.number", "omx.message", "omx.first_pull_in", "omx.notify_in",
                         "omx.acked_in")
    check.equal(f"{name}: announcements of {largest} bytes", len(rndvs), 2 * (MESSAGES + WARMUP))
    # In a datagram with several frames, tshark does not say to which frame a value belongs.
    alone = [row for row in rndvs if len(row[1]) == 1]
    check.that(f"{name}: announcements that came alone", alone or name == "udp", rndvs)
    for frame, message, first_pull, notify, acked in alone[:2]:
        rows = shark.fields(path, f"omx.message == {message[0]}", "frame.number", "omx.type", "omx.rndv_in", "omx.pull_in",
                            "omx.reply.length", "omx.rndv.tail", "omx.message", "omx.pull.magic")
        of_type = collections.defaultdict(list)
        for row in rows:
            if set(row[6]) == set(message):
                of_type[int(one(row[1]))].append(row)
        check.equal(f"{name}: RNDV of message {message}", [row[0] for row in of_type[40]][:1], [frame])
        pulls = {one(row[0]) for row in rows if "41" in row[1]}
        check.that(f"{name}: PULLs of message {message}", one(first_pull) in pulls, (first_pull, pulls))
        check.that(f"{name}: NOTIFY of message {message}", notify in [row[0] for row in rows if "43" in row[1]], notify)
        check.that(f"{name}: message {message} is acknowledged", acked)
        data = sum(int(length) for row in rows for length in row[4])
        tail = sum(len(one(row[5]) or "") // 2 for row in of_type[40][:1])
        check.that(f"{name}: data of message {message}", data + tail >= largest, data)
        for row in of_type[42]:
            unscheduled = all(int(magic, 16) >> 16 == 0x55A5 for magic in row[7])
            check.that(f"{name}: reply {row[0]} was asked for", unscheduled or set(row[3]) & pulls, row[3])
        for row in of_type[41] + of_type[42] + of_type[43]:
            check.that(f"{name}: {row[0]} knows its RNDV", frame[0] in row[2], (frame, row[2]))


def look_at_acks(name, frames):
    acks = [f for f in frames if f["omx.ack.frame"]]
    check.that(f"{name}: acknowledgements", len(acks) > 10, len(acks))
    acked_in = {f["frame.number"][0]: set(f["omx.acked_in"]) for f in frames}
    for f in acks:
        number, of = f["frame.number"][0], f["omx.ack.frame"]
        check.equal(f"{name}: as many frames as messages in {number}", len(of), len(f["omx.ack.message"]))
        for frame in of:
            check.that(f"{name}: {frame} says that {number} acknowledges it", number in acked_in.get(frame, ()))


def look_at_both_orders(name, path, frames):
    """Checks that one pass shows the same packets, without knowing what comes later."""
    # Only links to later frames are missing in one pass.
    once = shark.fields(path, "frame", "omx.type", "omx.message", two_pass=False)
    check.equal(f"{name}: messages in one pass", once, [[f["omx.type"], f["omx.message"]] for f in frames])


def look_at_loss(omx, path):
    fault = subprocess.run([LAB, "fault", "h1", "--drop", "15", "--seed", "7", "--type", str(TYPES["MEDIUM"])],
                           capture_output=True, text=True)
    if fault.returncode:
        print(f"no faults are possible here, so the test of lost frames is left out: {(fault.stderr or fault.stdout).strip()[-200:]}")
        return
    recording = Recording(omx, path)
    perf(omx, ["OMX_WIRE_MODE=mxoe"], "--sizes", "30000", "-n", "20", "--warmup", "0")
    recording.end()
    subprocess.run([LAB, "fault", "h1", "--clear"], check=True)
    again = shark.fields(path, "omx.sent_again && omx.type == 39", "omx.message", "omx.sent_again_of")
    check.that("loss: fragments that were sent again", len(again) > 0)
    for message, before in again[:3]:
        frames = [row[0][0] for row in shark.fields(path, f"omx.message == {message[0]}", "frame.number")]
        check.that("loss: the fragment before is of the same message", set(before) <= set(frames), (before, frames))
    check.equal("loss: malformed", shark.tshark(path, "-Y", "omx.malformed"), "")


def look_at_options(omx, folder):
    path = os.path.join(folder, "some")
    recording = Recording(omx, path, "-c", "5", "-s", "60", "--no-udp")
    perf(omx, [], "--sizes", "20000", "-n", "3")
    recording.process.wait()
    check.equal("omx capture -c 5", shark.count(path, "frame"), 5)
    check.equal("omx capture -s 60", shark.count(path, "frame.cap_len > 60"), 0)
    check.equal("omx capture -s 60: Lua errors", shark.tshark(path, "-Y", "_ws.lua.error"), "")
    recording.process.communicate()
    sentences = [
        (["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"], ["-w", path], "needs CAP_NET_RAW"),
        ([], ["-w", "/nowhere/file"], "cannot write /nowhere/file"),
        ([], ["-w", path, "-b", "7"], "there is no board 7"),
        ([], ["-w", path, "-i", "nonesuch"], "there is no interface nonesuch; there are: lo, eth0"),
    ]
    for become, options, wanted in sentences:
        run = subprocess.run([LAB, "exec", "h1", "--", *become, omx, "capture", *options], capture_output=True, text=True)
        check.that(f"omx capture {options}", run.returncode == 1 and wanted in run.stderr, run.stderr)
    check.equal("a capture that is not allowed leaves the file alone", shark.count(path, "frame"), 5)
    run = subprocess.run([LAB, "exec", "h1", "--", omx, "capture", "--seconds", "0.1", "-i", "lo"], capture_output=True)
    check.that("omx capture --seconds to a pipe", run.returncode == 0 and run.stdout[:4] == b"\x0a\x0d\x0d\x0a", run.stderr)


FLOOD = """
import socket
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
out.bind(("lo", 0x86DF))
print("ready", flush=True)
while True:
    out.send(bytes(12) + b"\\x86\\xdf" + bytes(60000))
"""


def look_at_a_flood(omx):
    """Sends more than the output can take. The capture must end nevertheless when it is told to."""
    flood = host("h1", [sys.executable, "-c", FLOOD], stdout=subprocess.PIPE)
    flood.stdout.readline()
    capture = subprocess.Popen([LAB, "exec", "h1", "--", omx, "capture", "-i", "lo", "--seconds", "0.5", "-w", "-"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    # The reader is slower than the flood. It reads far more than twice the ring, which the capture may still
    # write.
    ends = False
    for _ in range(5000):
        if not capture.stdout.read1(32768):
            ends = True
            break
        time.sleep(0.001)
    flood.kill()
    flood.communicate()
    if not ends:
        capture.kill()
    capture.communicate()
    check.that("omx capture ends while more comes than it can write", ends)


def inside(omx):
    with tempfile.TemporaryDirectory() as folder:
        for name, layout, environment in (("omx", 1, []), ("mxoe", 0, ["OMX_WIRE_MODE=mxoe"]), ("udp", 1, ["OMX_LINK=udp"]),
                                          ("checksum", 1, ["OMX_CHECKSUM=1", "OMX_UDP_BULK=0"])):
            path = os.path.join(folder, name)
            total = record(omx, path, environment)
            frames = frames_of(path)
            check.equal(f"{name}: frames in the file", len(frames), total)
            look_at_frames(name, frames, layout)
            look_at_whole_messages(name, path)
            look_at_links(name, path)
            look_at_acks(name, frames)
            look_at_both_orders(name, path, frames)
        look_at_loss(omx, os.path.join(folder, "loss"))
        look_at_options(omx, folder)
        look_at_a_flood(omx)
    check.finish()


def main():
    omx = os.path.realpath(sys.argv[1])
    if len(sys.argv) > 2:
        inside(omx)
    shark.skip_without_tshark()
    for name in list(os.environ):
        if name.startswith(("OMX_", "MX_")):
            del os.environ[name]
    me = os.path.realpath(__file__)
    lab = os.path.join(shark.ROOT, "lab", "lab")
    os.execv(lab, [lab, "run", "--hosts", "2", "--mtu", "9000", "--", sys.executable, me, omx, "inside"])


if __name__ == "__main__":
    main()
