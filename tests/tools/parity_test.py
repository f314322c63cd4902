#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""parity_test.py FOLDER: tests the programs of Open-MX 1.x by their names. Scripts parse their output."""
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

SKIP, WRONG_USAGE = 77, 255
ETHERTYPE = 0x86DF
LAB = os.environ.get("LAB", "")
BOARD = r"h{0}:0 \(board #0 name eth0 addr 02:4f:4d:58:00:0{0}\)"
PROGRAMS = ("omx_info", "omx_counters", "omx_endpoint_info", "omx_hostname", "omx_init_peers", "omx_perf", "omx_check", "omxoed")
made = failed = 0


def check(what, truth, got):
    global made, failed
    made += 1
    if not truth:
        failed += 1
        print(f"FAILED: {what}\n{got}")


def command(folder, host, program, *options, become=()):
    start = [LAB, "exec", host, "--"] if host else []
    return [*start, *become, os.path.join(folder, program), *options]


def run(folder, host, program, *options, status=0, wanted=(), errors=(), become=()):
    """Runs a program to its end. All expressions must match whole lines of its output."""
    done = subprocess.run(command(folder, host, program, *options, become=become), capture_output=True, text=True, timeout=120)
    said = f"{program} {' '.join(options)}: status {done.returncode}\n{done.stdout}{done.stderr}"
    check(f"{program} {options}: status {status}", done.returncode == status, said)
    for pattern in wanted:
        check(f"{program} {options}: /{pattern}/", re.search(f"^{pattern}$", done.stdout, re.M), said)
    for pattern in errors:
        check(f"{program} {options}: stderr /{pattern}/", re.search(pattern, done.stderr), said)
    return done.stdout


class Background:
    """A program that runs until it is ended. `ready` is part of the first line that it writes."""

    def __init__(self, folder, host, program, *options, ready, stream="stdout"):
        self.process = subprocess.Popen(command(folder, host, program, *options), text=True, **{stream: subprocess.PIPE})
        self.lines = getattr(self.process, stream)
        first = self.lines.readline()
        check(f"{program} starts", re.search(ready, first), first)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()


def usage(folder):
    for program in PROGRAMS:
        run(folder, None, program, "-h", status=WRONG_USAGE, errors=[f"^{program}"])
        run(folder, None, program, "-Z", status=WRONG_USAGE, errors=[f"^{program}: E932: -Z is not an option of this program\n{program}"])
    for program in ("omx_info", "omx_counters", "omx_endpoint_info", "omx_hostname", "omx_perf"):
        run(folder, None, program, "-b", "x", status=WRONG_USAGE, errors=["-b takes a whole number from 0 to 255, not \"x\""])
    run(folder, None, "omx_hostname", "-b", status=WRONG_USAGE, errors=["^omx_hostname: E932: -b needs a value\n"])
    run(folder, None, "omx_perf", "-S", "10", "-E", "10", status=WRONG_USAGE, errors=["no length from 10 is below 10"])
    run(folder, None, "omx_perf", "-M", "1", status=WRONG_USAGE, errors=["do not grow"])
    run(folder, None, "omx_perf", "-N", "0", status=WRONG_USAGE, errors=["nothing to measure"])


def info(folder):
    lines = ["Open-MX version .*", " build: .*", r"Found 1 boards \(\d+ max\) supporting 256 endpoints each:", " " + BOARD.format(1),
             "   managed by driver 'veth'", "Peer table is ready, mapper is ff:ff:ff:ff:ff:ff", "=" * 48,
             r"  0\) 02:4f:4d:58:00:01 h1:0"]
    run(folder, "h1", "omx_info", wanted=lines)
    quiet = run(folder, "h1", "omx_info", "-q", wanted=lines[2:4])
    check("omx_info -q says no more", len(quiet.splitlines()) == 2, quiet)
    with open("/dev/full", "w", encoding="ascii") as full:
        lost = subprocess.run(command(folder, "h1", "omx_info"), stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    check("omx_info says that its output is lost", (lost.returncode, lost.stderr) == (WRONG_USAGE, "omx_info: E902: cannot write: No space left on device\n"),
          f"{lost.returncode}: {lost.stderr}")
    run(folder, "h1", "omx_info", "-b", "3", status=WRONG_USAGE, errors=["there is no board 3"])
    subprocess.run([LAB, "exec", "h1", "--", "ip", "link", "set", "dev", "eth0", "down"], check=True)
    run(folder, "h1", "omx_info", "-q", status=WRONG_USAGE, wanted=[r"Found 0 boards .*"], errors=["no usable Ethernet interface"])
    subprocess.run([LAB, "exec", "h1", "--", "ip", "link", "set", "dev", "eth0", "up"], check=True)


def names(folder, peers):
    run(folder, "h1", "omx_hostname", wanted=[r"Board #0 \(eth0 02:4f:4d:58:00:01\) hostname was h1:0"])
    with open(peers, "w", encoding="ascii") as out:
        out.write("# a comment stays\n02:00:00:00:00:44 four:0\n")
    run(folder, "h1", "omx_hostname", "-n", "one:0", wanted=["Board #0 .* hostname was h1:0", "Board #0 .* hostname is one:0 now, in .*"])
    run(folder, "h1", "omx_hostname", wanted=["Board #0 .* hostname was one:0"])
    run(folder, "h1", "omx_info", "-q", wanted=[r" one:0 \(board #0 name eth0 addr 02:4f:4d:58:00:01\)"])
    run(folder, "h1", "omx_hostname", "-n", "two words", status=WRONG_USAGE, errors=["\"words\" behind the name"])
    run(folder, "h1", "omx_hostname", "-n", "four:0", status=WRONG_USAGE, errors=["names another NIC"])
    run(folder, "h1", "omx_hostname", "-c", wanted=["No names of remote peers are kept.*"])

    run(folder, "h1", "omx_init_peers", "02:00:00:00:00:33", "three:0", wanted=["Added peer 02:00:00:00:00:33 three:0"])
    run(folder, "h1", "omx_init_peers", "02:00:00:00:00:33", "drei:0", wanted=["Renamed peer 02:00:00:00:00:33 from three:0 to drei:0"])
    with tempfile.NamedTemporaryFile("w", suffix=".peers") as more:
        more.write("# others\n\n02:00:00:00:00:55 five:0\n02:00:00:00:00:33 drei:0\n")
        more.flush()
        run(folder, "h1", "omx_init_peers", "-v", more.name, wanted=["Added peer 02:00:00:00:00:55 five:0", "Kept peer .* drei:0"])
        more.write("no mac\n")
        more.flush()
        run(folder, "h1", "omx_init_peers", more.name, status=2, errors=["\"no\" is not a MAC address"])
    with open(peers, encoding="ascii") as lines:
        text = lines.read()
    check("the peers file", text == "# a comment stays\n02:00:00:00:00:44 four:0\n02:4f:4d:58:00:01 one:0\n"
          "02:00:00:00:00:33 drei:0\n02:00:00:00:00:55 five:0\n", text)
    run(folder, "h1", "omx", "peers", wanted=[r"02:00:00:00:00:55 five:0 \(configured\)"])
    run(folder, "h1", "omx_init_peers", "-c", "-d", wanted=["Cleared 3 remote peers", "Peer table is ready, .*"])
    with open(peers, encoding="ascii") as lines:
        check("the peers file after -c", lines.read() == "# a comment stays\n02:4f:4d:58:00:01 one:0\n", "")
    run(folder, "h1", "omx_init_peers", "a", "b", "c", status=WRONG_USAGE)
    run(folder, "h1", "omx_init_peers", "/nowhere", status=2, errors=["cannot read /nowhere: No such file"])
    nobody = ["setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    if subprocess.run(command(folder, "h1", "omx", "--version", become=nobody), capture_output=True).returncode == 0:
        run(folder, "h1", "omx_init_peers", "02:00:00:00:00:77", "seven:0", status=2, errors=["cannot write .*Permission denied"],
            become=nobody)
    else:
        print("no other user here may run omx: the test of a file without write permission is left out")
    with open(peers, "w", encoding="ascii"):
        pass


def lengths(text):
    return [int(found) for found in re.findall(r"^length +(\d+):\t\d+\.\d{3} us\t\d+\.\d\d MB/s\t \d+\.\d\d MiB/s$", text, re.M)]


def perf(folder):
    with Background(folder, "h2", "omx_perf", "-s", ready="Successfully open endpoint 0 for hostname 'h2:0' iface 'eth0'"):
        quick = ("-N", "20", "-P", "1")
        said = run(folder, "h1", "omx_perf", "-d", "h2:0", *quick, "-E", "200000", "-M", "7",
                   wanted=["Successfully open any endpoint for hostname 'h1:0' iface 'eth0'", "Starting sender to 'h2:0'..."])
        check("lengths of omx_perf", lengths(said) == [0, 1, 7, 49, 343, 2401, 16807, 117649], said)
        said = run(folder, "h1", "omx_perf", "-d", "h2:0", *quick, "-S", "10", "-E", "100", "-M", "2", "-I", "5", "-e", "4", "-aUY", "-w",
                   wanted=["Successfully open endpoint 4 for hostname 'h1:0' iface 'eth0'"])
        check("lengths by -M and -I", lengths(said) == [10, 25, 55], said)
        run(folder, "h1", "omx_perf", "-d", "h2:0", *quick, "-E", "1", "-y", "-r", "0", "-b", "0", wanted=["length +0:\t.*"])
        look_at_it(folder)
        # A sender that breaks off must not block the next sender.
        sender = subprocess.Popen(command(folder, "h1", "omx_perf", "-d", "h2:0", "-N", "100000000", "-S", "8"), stdout=subprocess.PIPE, text=True)
        sender.stdout.readline()
        sender.stdout.readline()
        sender.kill()
        sender.communicate()
    with Background(folder, "h2", "omx_perf", "-e", "9", "-v", ready="Successfully open endpoint 9") as receiver:
        run(folder, "h1", "omx_perf", "-d", "h2:0", "-r", "9", "-E", "1", "-N", "1")
        check("a receiver without -s ends", receiver.process.wait() == 0, "")
    run(folder, "h1", "omx_perf", "-d", "nonesuch", status=WRONG_USAGE, errors=["cannot find \"nonesuch\""])


def look_at_it(folder):
    """Examines h2, where a receiver has its endpoint open."""
    title = BOARD.format(2)
    said = run(folder, "h2", "omx_endpoint_info", wanted=[title, "=" * 46, r"  0\topen by pid \d+ \(omx_perf\)", r"1 regular endpoints open \(out of 256\)"])
    check("omx_endpoint_info shows the open ones", "not open" not in said, said)
    run(folder, "h2", "omx_endpoint_info", "-v", "-b", "0", wanted=[r"  raw\tnot open", r"  255\tnot open"])
    counters = [title, "=" * 55, r"000: +\d+ Send Tiny", r"002: +\d+ Send MediumSQ Frag", r"019: +\d+ Recv Rndv", r"027: +\d+ Recv Pull Reply"]
    said = run(folder, "h2", "omx_counters", wanted=["Shared Communication .addr 00:00:00:00:00:00.", *counters])
    check("omx_counters shows what is not zero", not re.search(r"^\d{3}: +0 ", said, re.M), said)
    check("widths of omx_counters", all(re.match(r"\d{3}: [ \d]{8}\d \S", line) for line in said.splitlines() if line[:3].isdigit()), said)
    run(folder, "h2", "omx_counters", "-v", wanted=["003:         0 Send MediumVA Frag", r"071: +\d+ Drop Unknown Packet Type",
                                                    r"081: +\d+ Shared Pull", r"084: +0 DMA Shared Large only Partial", r"\d{3}: +\d+ Messages Sent"])
    said = run(folder, "h2", "omx_counters", "-s", wanted=["Shared Communication .*"])
    check("omx_counters -s shows no board", "board #" not in said, said)
    said = run(folder, "h2", "omx_counters", "-b", "0", "-c", wanted=counters, errors=["counters are not cleared"])
    check("omx_counters -b shows no other", "Shared Communication" not in said, said)


def discovery(folder):
    run(folder, "h1", "omx", "peers", "--discover", wanted=["no other host answered .*"])
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE)) as wire:
        wire.bind(("eth0", ETHERTYPE))
        wire.settimeout(20)
        with Background(folder, "h2", "omxoed", ready="Now managing 1 NICs", stream="stderr") as daemon:
            first, second = announcement(wire), announcement(wire)
            nic = struct.pack(">Q", 0x024F4D580002)
            check("omxoed announces its NIC", first[32:40] == nic and len(first) == 64 and first[:6] == b"\xff" * 6, first)
            check("omxoed repeats its serial number", first[40:44] == second[40:44], (first, second))
            run(folder, "h1", "omx_info", wanted=[r"  1\) 02:4f:4d:58:00:02 h2:0"])
            run(folder, "h1", "omx_perf", "-d", "h2:0", status=WRONG_USAGE, errors=["cannot connect to \"h2:0\": .*not open"])
            daemon.process.send_signal(signal.SIGTERM)
            check("omxoed ends with status 0", daemon.process.wait() == 0, "")
    run(folder, "h1", "omxoed", status=WRONG_USAGE, errors=["CAP_NET_RAW"], become=["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"])


def announcement(wire):
    while True:
        frame = wire.recv(2048)
        if frame[16] == 1 and frame[6:12] == bytes.fromhex("024f4d580002"):
            return frame


def local_check(folder):
    said = run(folder, "h1", "omx_check", wanted=["TEST loopback_self ... ok", "TEST loopback_shared ... ok", "TEST vect_shared ... ok"])
    check("lines of omx_check", all(re.fullmatch(r"TEST \w+ ... (ok|skip|failed)", line) for line in said.splitlines()), said)


def inside(folder):
    with tempfile.TemporaryDirectory() as scratch:
        peers = os.path.join(scratch, "peers")
        with open(peers, "w", encoding="ascii"):
            os.chmod(scratch, 0o755)
        os.environ["OMX_PEERS_FILE"] = peers
        info(folder)
        names(folder, peers)
        perf(folder)
        local_check(folder)
    print(f"{made} checks, {failed} failed")
    sys.exit(1 if failed else 0)


def main():
    folder, what = os.path.realpath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    if what == "inside":
        inside(folder)
    if what == "on h1":  # a socket of this process listens to the cable
        os.environ.pop("OMX_PEERS_FILE", None)
        discovery(folder)
        print(f"{made} checks, {failed} failed")
        sys.exit(1 if failed else 0)
    for name in list(os.environ):
        if name.startswith(("OMX_", "MX_")):
            del os.environ[name]
    usage(folder)
    me = os.path.realpath(__file__)
    lab = os.path.realpath(os.path.join(os.path.dirname(me), "..", "..", "lab", "lab"))
    start = [lab, "run", "--hosts", "2", "--mtu", "9000", "--"]
    statuses = [subprocess.run([*start, sys.executable, me, folder, "inside"], check=False).returncode,
                subprocess.run([*start, "sh", "-c", '$LAB exec h1 -- "$@"', "sh", sys.executable, me, folder, "on h1"], check=False).returncode]
    print(f"{made} checks, {failed} failed")
    if SKIP in statuses and not failed:
        sys.exit(SKIP)
    sys.exit(1 if failed or any(statuses) else 0)


if __name__ == "__main__":
    main()
