# SPDX-License-Identifier: BSD-3-Clause
"""Finds running labs.

There is no state directory that could become stale. A lab is found by its holder, a process named omx-lab whose
descriptor STATE_FD is a memfd with the lab's description. This works both from outside and from inside a host.
"""
import json
import os
import select
import signal

from .errors import LabError
from .holder import NAMESPACES, STATE_FD


class Lab:
    """One running lab, as seen from the caller's PID namespace."""

    def __init__(self, pid, depth, state):
        self.pid = pid
        self.depth = depth
        self.state = state
        self.name = state["name"]
        self.hosts = {host["name"]: host for host in state["hosts"]}

    def host(self, wanted):
        router = self.state.get("router")
        for host in [*self.hosts.values(), *([router] if router else [])]:
            if wanted in (host["name"], host["ip"]):
                return host
        raise LabError(f"lab {self.name} has no host {wanted}: "
                       f"its hosts are {' '.join(self.hosts)}")

    def fd_path(self, fd):
        """Returns a path by which another process opens a descriptor of the holder."""
        return f"/proc/{self.pid}/fd/{fd}"


def running(kind=NAMESPACES):
    """Returns all visible labs of this user and kind, the outermost first."""
    labs = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            lab = read_holder(int(entry), kind)
            if lab is not None:
                labs.append(lab)
    return sorted(labs, key=lambda lab: (lab.depth, lab.name))


def read_holder(pid, kind):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as comm:
            if comm.read().strip() != kind.process_name:
                return None
        # Another user's lab is not to be entered or trusted.
        if os.stat(f"/proc/{pid}").st_uid != os.geteuid():
            return None
        path = f"/proc/{pid}/fd/{STATE_FD}"
        if not os.readlink(path).startswith(f"/memfd:{kind.state_name} "):
            return None
        with open(path, encoding="utf-8") as state:
            description = json.load(state)
        return Lab(pid, pid_depth(pid), description)
    except (OSError, ValueError):
        return None  # it ended while we read


def pid_depth(pid):
    """Returns how many PID namespaces lie between the caller's and the holder's."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        for line in status:
            if line.startswith("NSpid:"):
                return len(line.split()) - 2
    return 1


def find(name, kind=NAMESPACES, command="lab up"):
    labs = running(kind)
    for lab in labs:
        if lab.name == name:
            return lab
    names = " ".join(lab.name for lab in labs)
    if names:
        raise LabError(f"no lab named {name} is up: choose one of {names} with --name, "
                       f"or start it with: {command} --name {name}")
    raise LabError(f"no lab named {name} is up: start it with: {command} --name {name}")


def end(lab, timeout_s=10):
    """Kills the holder. The kernel removes the rest before the holder is gone."""
    try:
        pidfd = os.pidfd_open(lab.pid)
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    except ProcessLookupError:
        return
    with os.fdopen(pidfd) as handle:
        if not select.select([handle], [], [], timeout_s)[0]:
            raise LabError(f"lab {lab.name} was killed but is not gone after {timeout_s} s: "
                           f"a stopped 'lab exec' may hold it; see ps for process {lab.pid}")
