#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs inside a lab host, for steer_lab_test.py.

where.py count                    count frames of eth0 by processor (where.bpf.c)
where.py read                     print the counts: {"0": {"1": 20}, "ip": ..., "board": ...}
where.py someone                  give eth0 an XDP program of somebody else
where.py datagrams CPU COUNT HOST send UDP datagrams from one processor
where.py frames CPU COUNT ENDPOINT  send Open-MX frames to h2, likewise
where.py enclosed CPU COUNT ENDPOINT HOST  the same in UDP datagrams
where.py take BYTES PORT          accept one TCP connection; print what was got and its checksum
where.py give BYTES PORT HOST     send that much; print the checksum
"""
import hashlib
import json
import os
import random
import socket
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "lab"))
sys.dont_write_bytecode = True
from omxlab.bpfmap import ArrayMap  # noqa: E402  (the path must be set first)

PROCESSORS, ENDPOINTS = 64, 256  # as in where.bpf.c
COUNTS = "/sys/fs/bpf/tc/globals/where_counts"
PEER = bytes.fromhex("024f4d580002")


def with_program(*command):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "where.bpf.c")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        path = os.path.join(directory, "where.o")
        subprocess.run(["clang", "-O2", "-g", "-target", "bpf", "-mcpu=v3",
                        f"-I/usr/include/{os.uname().machine}-linux-gnu", "-c", source, "-o", path], check=True)
        subprocess.run([*command[:command.index("OBJECT")], path, *command[command.index("OBJECT") + 1:]],
                       check=True)


def count():
    subprocess.run(["tc", "qdisc", "add", "dev", "eth0", "clsact"], check=True)
    with_program("tc", "filter", "add", "dev", "eth0", "ingress", "pref", "1", "bpf", "direct-action",
                 "object-file", "OBJECT", "section", "tc/where")


def read():
    counts = ArrayMap(COUNTS, "=Q")
    names = [*map(str, range(ENDPOINTS)), "ip", "board"]
    found = {}
    for row, name in enumerate(names):
        for cpu in range(min(PROCESSORS, os.cpu_count())):
            frames = counts.read(row * PROCESSORS + cpu)[0]
            if frames:
                found.setdefault(name, {})[str(cpu)] = frames
    print(json.dumps(found))


def someone():
    with_program("ip", "link", "set", "dev", "eth0", "xdp", "object", "OBJECT", "section", "xdp")


def datagrams(cpu, number, host):
    os.sched_setaffinity(0, {int(cpu)})
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for _ in range(int(number)):
            out.sendto(bytes(64), (host, 9))


def frames(cpu, number, endpoint):
    os.sched_setaffinity(0, {int(cpu)})
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
        out.bind(("eth0", 0))
        frame = PEER + bytes(6) + b"\x86\xdf\0\0" + bytes([37, int(endpoint)]) + bytes(42)
        for _ in range(int(number)):
            out.send(frame)


def enclosed(cpu, number, endpoint, host):
    os.sched_setaffinity(0, {int(cpu)})
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        frame = PEER + bytes(6) + b"\x86\xdf\0\0" + bytes([37, int(endpoint)]) + bytes(42)
        for _ in range(int(number)):
            out.sendto(frame, (host, 27200 + int(endpoint)))


def take(size, port):
    digest, got = hashlib.sha256(), 0
    with socket.create_server(("", int(port))) as server:
        print("ready", flush=True)
        stream, _ = server.accept()
        with stream:
            while data := stream.recv(1 << 16):
                digest.update(data)
                got += len(data)
            stream.send(b"x")
    assert got == int(size), f"{got} bytes of {size}"
    print(digest.hexdigest())


def give(size, port, host):
    data = random.Random(1).randbytes(int(size))
    with socket.create_connection((host, int(port))) as stream:
        stream.sendall(data)
        stream.shutdown(socket.SHUT_WR)
        stream.recv(1)
    print(hashlib.sha256(data).hexdigest())


if __name__ == "__main__":
    {f.__name__: f for f in (count, read, someone, datagrams, frames, enclosed, take, give)}[sys.argv[1]](*sys.argv[2:])
