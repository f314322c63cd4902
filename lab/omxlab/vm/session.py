# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command in a guest, by the agent there."""
import json
import os
import selectors
import signal
import socket
import sys
import time

from .. import kernel
from ..errors import EXIT_LAB, LabError
from . import frames, machine
from .vmholder import CONTROL_PORT

CONNECT_TIMEOUT_S = 30
CONNECT_TRY_S = 3
FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


def inside_guest():
    return os.path.exists("/run/open-mx-vm/config.json")


def join_network(lab):
    """Moves this process into the network of the lab, where agents and monitors are."""
    if not kernel.same_namespace(lab.pid, "user"):
        user = os.open(f"/proc/{lab.pid}/ns/user", os.O_RDONLY)
        network = os.open(f"/proc/{lab.pid}/ns/net", os.O_RDONLY)
        kernel.setns(user, kernel.CLONE_NEWUSER)
    else:
        network = os.open(f"/proc/{lab.pid}/ns/net", os.O_RDONLY)
    kernel.setns(network, kernel.CLONE_NEWNET)
    os.close(network)


def connect(lab, host):
    join_network(lab)
    deadline = time.monotonic() + CONNECT_TIMEOUT_S
    while True:
        try:
            connection = socket.create_connection((host["control"], CONTROL_PORT), timeout=CONNECT_TRY_S)
        except OSError as error:
            if time.monotonic() < deadline and machine.runs(host):
                time.sleep(0.1)
                continue
            raise LabError(f"{host['name']} takes no commands ({error}): its machine has ended or hangs, "
                           "see lab vm console") from None
        connection.settimeout(None)
        return connection


def connect_inside():
    """Returns a connection to the agent of this guest, which passes the session on to another."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(frames.SERVICE)
    except OSError as error:
        raise LabError(f"the agent of this guest does not answer ({error}): end the lab with lab vm down") from None
    return connection


def run(connection, host_name, argv, environment, user=None):
    """Runs a command with our input and output. Returns its status."""
    request = {"host": host_name, "argv": argv, "env": environment, "cwd": os.getcwd(), "user": user}
    send(connection, b"Q", json.dumps(request).encode())
    chosen = selectors.DefaultSelector()
    chosen.register(connection, selectors.EVENT_READ)
    waker, woken = os.pipe(), []
    os.set_blocking(waker[1], False)
    for number in FORWARDED:
        signal.signal(number, lambda number, _frame: woken.append(number))
    signal.set_wakeup_fd(waker[1])
    chosen.register(waker[0], selectors.EVENT_READ)
    try:
        chosen.register(0, selectors.EVENT_READ)
        input_ended = False
    except (OSError, PermissionError, ValueError):
        input_ended = True  # a file or nothing, which is not to be waited for
        send_file(connection)
    while True:
        for key, _ in chosen.select():
            if key.fileobj is connection:
                status = take(connection)
                if status is not None:
                    return status
            elif key.fileobj == waker[0]:
                os.read(waker[0], frames.CHUNK)
                while woken:
                    send(connection, b"S", str(int(woken.pop(0))).encode())
            elif not input_ended:
                data = os.read(0, frames.CHUNK)
                send(connection, b"I", data)
                if not data:
                    chosen.unregister(0)
                    input_ended = True


def send_file(connection):
    while True:
        try:
            data = os.read(0, frames.CHUNK)
        except OSError:
            data = b""
        send(connection, b"I", data)
        if not data:
            return


def send(connection, kind, data):
    try:
        frames.send(connection, kind, data)
    except OSError:
        pass  # the guest has gone, which reading reports


def take(connection):
    """Takes one frame. Returns the status with the last."""
    try:
        kind, data = frames.receive(connection)
    except (EOFError, OSError):
        print("lab: the guest has gone: see lab vm console", file=sys.stderr, flush=True)
        return EXIT_LAB
    if kind == b"X":
        answer = json.loads(data)
        if "error" in answer:
            print(f"lab: {answer['error']}", file=sys.stderr, flush=True)
        return answer["status"]
    write_all(1 if kind == b"O" else 2, data)
    return None


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data):]
