# SPDX-License-Identifier: BSD-3-Clause
"""The command broker: Open-MX's broker on each host, which gives ordinary users raw frames."""
import contextlib
import glob
import os
import shutil
import subprocess

from .errors import EXIT_UNABLE, LabError

FOLDER = "/dev/shm/broker"  # private to each host, and removed with it
SOCKET = f"{FOLDER}/socket"
POLICY = f"{FOLDER}/policy"
LOG = f"{FOLDER}/log"
PATIENCE_S = 10
# Every user, also those whom this machine does not know.
ANYONE = "users = *\n"


def add_command(command, add_name, default_name):
    sub = command("broker", "start the broker on each host, for the users' jobs that follow")
    add_name(sub, default_name)
    sub.add_argument("--policy", metavar="FILE", help="a broker.conf (default: any user may have raw frames)")


def find_omxd(script):
    """Returns the program: $OMXD, the build or installation that this lab belongs to, or that of the PATH."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(script)))
    built = os.path.join(root, "build", "release", "tools", "broker", "omxd")
    for place in (os.environ.get("OMXD"), built, shutil.which("omxd", path=os.environ.get("PATH", "") + ":/usr/sbin")):
        if place and os.path.exists(place):
            return os.path.abspath(place)
    raise LabError("there is no omxd: build Open-MX, install open-mx-broker, or name the program in OMXD", EXIT_UNABLE)


def leftovers_remove():
    """Removes the empty cgroups that brokers leave when their host ends."""
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        own = next((line[3:].strip() for line in file if line.startswith("0::")), "")
    for mount in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        for leftover in glob.glob(f"{mount}{own}/omx-broker.*"):
            with contextlib.suppress(OSError):  # a broker that runs is in it
                os.rmdir(leftover)


def start(lab, script, policy=None):
    """Starts the broker on each host that has none. Returns the path of its socket, the same on all hosts."""
    if os.geteuid() != 0:
        raise LabError("only root can start a broker: leave it out", EXIT_UNABLE)
    omxd = find_omxd(script)
    with open(policy, encoding="utf-8") if policy else open(os.devnull, encoding="utf-8") as file:
        text = file.read() or ANYONE
    for host in lab.hosts:
        # The shell ends, so that the broker belongs to the host and ends with it.
        line = (f"[ ! -S {SOCKET} ] || exit 0; mkdir -p {FOLDER} && cat > {POLICY} && "
                f": > {LOG} && {{ setsid {omxd} --config {POLICY} --socket {SOCKET} > {LOG} 2>&1 < /dev/null & }}; "
                f"for i in $(seq {PATIENCE_S * 50}); do grep -q serving {LOG} && exit 0; "
                f"kill -0 $! 2>/dev/null || break; sleep 0.02; done; cat {LOG} >&2; exit 1")
        done = subprocess.run([script, "exec", "--name", lab.name, host, "--", "sh", "-c", line], input=text, text=True,
                              check=False)
        if done.returncode:
            raise LabError(f"no broker on {host}, see above")
    return SOCKET
