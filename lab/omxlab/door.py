# SPDX-License-Identifier: BSD-3-Clause
"""Runs an ordinary user's job. An ordinary user may not enter hosts, so root keeps a door for the job.

A client connects to the socket from any host, and passes its standard files and the name of a host. The keeper starts
the command there, as that user and without any capability, and answers with its exit status.
"""
import contextlib
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile

from . import enter, kernel
from .errors import EXIT_LAB, unable

VARIABLE = "LAB_DOOR"  # the socket
MOST_BYTES = 1 << 16
LAST_WORDS_S = 10


def as_user(uid):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]


def run_job(lab, uid, argv, script):
    """Runs argv in the first host, with the door open. Returns its status."""
    if os.geteuid() != 0:
        raise unable("only root can be another user: leave --user out")
    if not shutil.which("setpriv"):
        raise unable("setpriv is missing: apt-get install util-linux")
    if subprocess.run([*as_user(uid), "test", "-x", script], check=False).returncode:
        raise unable(f"user {uid} may not read {script}: put the tree where all users may read it")
    with tempfile.TemporaryDirectory(prefix="omx-lab-") as home, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        path = os.path.join(home, "door")
        listener.bind(path)
        listener.listen()
        for mine in (home, path):
            os.chown(mine, uid, uid)
        keeper = os.fork()
        if keeper == 0:
            try:
                keep(listener, lab, uid, script, home)
            finally:
                os._exit(0)
        try:
            enter.watch_signals()
            job = os.fork()
            if job == 0:
                first = next(iter(lab.hosts))
                enter.become([script, "exec", "--name", lab.name, first, "--", *as_user(uid), *argv],
                             dict(os.environ, HOME=home, **{VARIABLE: path}))
            return enter.wait_for(job)
        finally:
            os.kill(keeper, signal.SIGTERM)
            os.waitpid(keeper, 0)


class Closed(Exception):
    pass


def keep(listener, lab, uid, script, home):
    def close(*_):
        raise Closed

    kernel.die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGTERM, close)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the job handles it, and its end reaches us
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                try:
                    for number in (signal.SIGTERM, signal.SIGCHLD):
                        signal.signal(number, signal.SIG_DFL)
                    kernel.die_with_parent(signal.SIGKILL)
                    serve(connection, lab, uid, script, home)
                finally:
                    os._exit(0)
            connection.close()
    except Closed:
        # The clients have ended with the job, so the processes that they started end now.
        signal.alarm(LAST_WORDS_S)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def serve(connection, lab, uid, script, home):
    text, files, _, _ = socket.recv_fds(connection, MOST_BYTES, 3)
    wanted = json.loads(text)
    process = subprocess.Popen([script, "exec", "--name", lab.name, wanted["host"], "--", *as_user(uid), *wanted["argv"]],
                               stdin=files[0], stdout=files[1], stderr=files[2], env=dict(os.environ, HOME=home))
    for file in files:
        os.close(file)
    ended = os.pidfd_open(process.pid)
    # If a client is killed, the process that it started is killed too.
    if connection in select.select([connection, ended], [], [])[0]:
        process.terminate()
    status = process.wait()
    with contextlib.suppress(OSError):
        connection.send(struct.pack("=i", 128 - status if status < 0 else status))


def knock(path, host, argv):
    """Runs argv in the host through the door. Returns its status."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(path)
        socket.send_fds(connection, [json.dumps({"host": host, "argv": argv}).encode()], [0, 1, 2])
        answer = connection.recv(4)
    return struct.unpack("=i", answer)[0] if answer else EXIT_LAB  # the job has ended, and its door is closed
