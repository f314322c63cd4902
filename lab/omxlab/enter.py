# SPDX-License-Identifier: BSD-3-Clause
"""Moves a process into a host, and waits for it from outside."""
import os
import select
import signal
import sys
import time

from . import kernel
from .errors import EXIT_CANNOT_EXECUTE, EXIT_NOT_FOUND
from .holder import HOST_NAMESPACES

FORWARDED = {
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM,
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGCONT,
}
WATCHED = FORWARDED | {signal.SIGCHLD}
SI_KERNEL = 0x80  # the signal came from the terminal, not from kill(2)
GRACE_S = 5.0  # how long CMD of `lab run` may clean up after a SIGTERM

original_mask = None


def watch_signals():
    """Blocks signals from here on until wait_for() takes them."""
    global original_mask
    original_mask = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)


def become(argv, environment):
    """Replaces this process by a command; never returns."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores these two
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if original_mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, original_mask)
    try:
        os.execvpe(argv[0], argv, environment)
    except FileNotFoundError:
        status, reason = EXIT_NOT_FOUND, "there is no such command"
    except OSError as error:
        status, reason = EXIT_CANNOT_EXECUTE, error.strerror
    print(f"lab: cannot run {argv[0]}: {reason}", file=sys.stderr, flush=True)
    os._exit(status)


def enter_namespaces(lab, targets):
    """Joins the given (path, flag) namespaces. Only children are in the PID namespace."""
    cwd = os.getcwd()
    if not kernel.same_namespace(lab.pid, "user"):
        # First, because joining it gives the right to join the others.
        targets = [(f"/proc/{lab.pid}/ns/user", kernel.CLONE_NEWUSER)] + targets
    targets = targets + [(f"/proc/{lab.pid}/ns/pid", kernel.CLONE_NEWPID)]
    # Opens all before joining any, because /proc changes with the mount namespace.
    opened = [(os.open(path, os.O_RDONLY), flag) for path, flag in targets]
    for fd, flag in opened:
        kernel.setns(fd, flag)
        os.close(fd)
    try:
        os.chdir(cwd)  # joining a mount namespace moved us to its root
    except OSError:
        os.chdir("/")


def host_targets(lab, host, network=None):
    """Returns the namespaces of a host, or those with another network in its place."""
    net = host["net"] if network is None else network
    targets = [(lab.fd_path(net), kernel.CLONE_NEWNET)]
    others = sorted(HOST_NAMESPACES, key=lambda item: item[0] == "mnt")  # mounts last
    return targets + [(lab.fd_path(host[kind]), flag) for kind, flag in others]


def call_inside(lab, targets, action):
    """Runs action() inside and returns its exit status.

    If the caller already is in the lab's PID namespace, no fork is needed. Then a command is the caller's own
    process, with its signals and status.
    """
    born_inside = kernel.same_namespace(lab.pid, "pid")
    if not born_inside:
        watch_signals()
    enter_namespaces(lab, targets)
    if born_inside:
        return action()
    caller = os.pidfd_open(os.getpid())
    child = os.fork()
    if child == 0:
        status = 1
        try:
            kernel.die_with_parent(signal.SIGKILL)
            if select.select([caller], [], [], 0)[0]:
                os._exit(1)  # the caller died before the line above
            status = action()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return wait_for(child)


def wait_for(child, give_up=None):
    """Waits for a child, passes signals on, and returns its exit status.

    With give_up, a signal sent to us starts a time limit, after which give_up() is called. Ctrl-C needs neither: the
    terminal sends it to the child as well, and a debugger or shell may want to survive it.
    """
    deadline = None
    while True:
        if deadline is None:
            info = signal.sigwaitinfo(WATCHED)
        else:
            info = signal.sigtimedwait(WATCHED, max(0.0, deadline - time.monotonic()))
        if info is None:
            deadline = None
            give_up()
            give_up = None
            continue
        if info.si_signo == signal.SIGCHLD:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid == child:
                return exit_status(status)
        elif info.si_code != SI_KERNEL:
            os.kill(child, info.si_signo)
            fatal = info.si_signo in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
            if give_up is not None and deadline is None and fatal:
                deadline = time.monotonic() + GRACE_S


def exit_status(status):
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code
