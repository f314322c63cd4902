#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""report_test.py PROGRAM OMX: tests the report at the end of a job (OMX_REPORT) with two processes of MX in a lab.

PROGRAM is mx_pingpong, whose two processes send each other the same number of messages, from 0 bytes to 4 MiB.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True

LAB = os.environ.get("LAB", "")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT_S = 120
PREFIX = "OMX: report of "
SLURM = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0"}


def require(truth, what):
    if not truth:
        sys.exit(f"FAILED: {what}")


def start(host, *command, **settings):
    return subprocess.Popen([LAB, "exec", host, "--", *command], text=True, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                            env={**os.environ, **settings})


def job(program, receiver, sender, **settings):
    """Runs both processes. Returns what each wrote on stderr: that of the receiver first."""
    processes = [start(receiver, program, **settings), start(sender, program, receiver, **settings)]
    said = [process.communicate(timeout=LIMIT_S)[1] for process in reversed(processes)]
    for process in processes:
        require(process.returncode == 0, f"{process.args} ended with {process.returncode}: {said}")
    return said[::-1]


def reports(text):
    return [line for line in text.splitlines() if line.startswith(PREFIX)]


def figures(program, receiver, sender, **settings):
    """The JSON lines of a job, by host. Each line has all the text that its process wrote."""
    return [json.loads(text) for text in job(program, receiver, sender, OMX_REPORT="json", **settings) if text]


def nothing_unless_asked(program):
    for text in job(program, "h1", "h2"):
        require(not text, f"it says something: {text}")


def two_hosts(program):
    """One line a host. Small messages go by raw frames, large ones by UDP beside them."""
    for host, text in zip(("h1", "h2"), job(program, "h1", "h2", OMX_REPORT="1", **SLURM)):
        lines = reports(text)
        require(len(lines) == 1 and text.count("\n") == 1, f"not one line: {text}")
        wanted = (rf"{PREFIX}{host}: 1 process, 1 endpoint on eth0 by raw frames; messages sent \d+ \(\S+ MB\), received \d+ \(\S+ MB\); "
                  r"by raw frames sent \d+ \(\S+ [kM]B\), received \d+ \(\S+ [kM]B\); by UDP bulk path sent \d+ \(\S+ MB\), "
                  r"received \d+ \(\S+ MB\); repeats \d+; wake-ups \d+; stalls \d+; copies: \d+ unexpected, \d+ moved, "
                  r"\d+ by an engine, \d+ in one copy")
        require(re.fullmatch(wanted, lines[0]), lines[0])


def sums_agree(program):
    """What one host sent the other one received, on each path."""
    first, second = figures(program, "h1", "h2")
    require([first["host"], second["host"]] == ["h1", "h2"], f"{first} {second}")
    for one, other in ((first, second), (second, first)):
        require(one["messages_sent"] == other["messages_received"] > 0, f"{one} {other}")
        require(one["bytes_sent"] == other["bytes_received"] > 0, f"{one} {other}")
        for path, sums in one["paths"].items():
            theirs = other["paths"][path]
            require(sums["messages_sent"] == theirs["messages_received"], f"{path}: {one} {other}")
            require(sums["bytes_sent"] == theirs["bytes_received"], f"{path}: {one} {other}")
        require(one["messages_sent"] == sum(sums["messages_sent"] for sums in one["paths"].values()), f"{one}")
        require(one["paths"]["udp_bulk_path"]["bytes_sent"] > 0, f"{one}")
        require(one["frames_sent"] > one["paths"]["raw_frames"]["messages_sent"], f"{one}")


def one_host(program):
    """Two processes of one job on one host: one line for both, whichever ends last."""
    lines = figures(program, "h1", "h1", **SLURM)
    require(len(lines) == 1, f"{len(lines)} lines: {lines}")
    (line,) = lines
    require(line["processes"] == 2 and line["endpoints"] == 2 and line["processes_without_report"] == 0, f"{line}")
    require(line["messages_sent"] == line["messages_received"] == line["paths"]["shared_memory"]["messages_sent"] > 0, f"{line}")
    require(line["paths"]["raw_frames"]["messages_sent"] == 0, f"{line}")
    require(line["one_copy_reads"] > 0, f"{line}")
    left = subprocess.run([LAB, "exec", "h1", "--", "ls", "/dev/shm"], capture_output=True, text=True, check=True).stdout
    require("omx-report" not in left, f"left in /dev/shm: {left}")


def without_launcher(program):
    """No launcher says which processes belong together: a line for each."""
    lines = figures(program, "h1", "h1")
    require([line["processes"] for line in lines] == [1, 1], f"{lines}")


def other_links(program, omx):
    links = [("udp", "eth0 by UDP")]
    if "AF_XDP does not work" in subprocess.run([LAB, "exec", "h1", "--", omx, "info"], capture_output=True, text=True, check=True,
                                                env={**os.environ, "OMX_LINK": "xdp", "OMX_XDP_MODE": "generic"}).stdout:
        print("AF_XDP does not work here: its part is left out")
    else:
        links.append(("xdp", "eth0 by raw frames (AF_XDP)"))
    for link, text in links:
        key = {"udp": "udp", "xdp": "af_xdp"}[link]
        for line in figures(program, "h1", "h2", OMX_LINK=link, OMX_XDP_MODE="generic", OMX_UDP_BULK="0"):
            require(line["links"] == text, f"{line}")
            require(line["paths"][key]["messages_sent"] == line["messages_sent"] > 0, f"{line}")


def exit_without_close(omx):
    """A process that does not close its endpoint reports when it exits."""
    code = ("import ctypes, sys; mx = ctypes.CDLL(sys.argv[1]); mx.mx__init_api(0x301); endpoint = ctypes.c_void_p();"
            "sys.exit(mx.mx_open_endpoint(-1, -1, 1, None, 0, ctypes.byref(endpoint)))")
    library = pathlib.Path(omx).parent.parent / "lib" / "libmyriexpress.so"
    process = start("h1", "/usr/bin/python3", "-c", code, str(library), OMX_REPORT="1")
    said = process.communicate(timeout=LIMIT_S)[1]
    require(process.returncode == 0, f"status {process.returncode}: {said}")
    require(len(reports(said)) == 1 and "1 process, 1 endpoint on eth0 by raw frames; messages sent 0 (0 B)" in said, said)


def log_file_too(program):
    """The line is on stderr as well as in the log file, there with the time."""
    for text in job(program, "h1", "h2", OMX_REPORT="1", OMX_LOG_FILE="/dev/shm/log-%h"):
        require(len(reports(text)) == 1, text)
    log = subprocess.run([LAB, "exec", "h2", "--", "cat", "/dev/shm/log-h2"], capture_output=True, text=True, check=True).stdout
    require(re.fullmatch(rf"[-0-9]{{10}} [0-9:.]{{12}} {PREFIX}h2: .*\n", log), log)


def main():
    program, omx = map(os.path.realpath, sys.argv[1:3])
    for variable in [v for v in os.environ if v.startswith(("OMX_", "MX_", "SLURM_", "PMI"))]:
        del os.environ[variable]
    if not LAB:
        os.execv(ROOT / "lab" / "lab", ["lab", "run", "--hosts", "2", "--mtu", "9000", "--", sys.executable, __file__, program, omx])
    nothing_unless_asked(program)
    two_hosts(program)
    sums_agree(program)
    one_host(program)
    without_launcher(program)
    other_links(program, omx)
    exit_without_close(omx)
    log_file_too(program)
    print("8 tests passed")


if __name__ == "__main__":
    main()
