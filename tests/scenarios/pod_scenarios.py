# SPDX-License-Identifier: BSD-3-Clause
"""Containers of an ordinary user, as namespaces: they have nothing of the host but the broker's socket, or its network. docs/how-to/containers.md
says what these show."""
import os
import re
import shutil

from silence_stage import Job, skip
from slurm_stage import PATH, UID, USER
from stage import LAB, MAC, Failure, scenario

FOLDER = "/dev/shm/broker"
BOARD = "aa:4f:4d:58:00:01"  # the broker's on h1
# A /dev/shm of its own, with the broker's folder if there is one. Root of a user namespace has all capabilities in it, and engines take most of
# them away.
INSIDE = f"""\
mkdir -p {FOLDER} && mount --rbind {FOLDER} /mnt && mount -t tmpfs tmpfs /dev/shm && mkdir {FOLDER} && mount --rbind /mnt {FOLDER} || exit 1
exec setpriv --bounding-set=-all,$1 --inh-caps=-all sh -c "$0"
"""
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc"]


def pod(lab, host, network, script, env):
    """Starts a script in a container with a network of its own ("own raw": and with CAP_NET_RAW there) or the host's."""
    rights = "+net_raw" if network == "own raw" else "-net_raw"
    script = re.sub(r"\bomx (perf|info)", rf"{lab.bin.resolve()}/tools/omx \1", script)
    return Job([LAB, "exec", host, "--", *USER, *UNSHARE, *(["--net"] if network.startswith("own") else []),
                "sh", "-c", INSIDE, script, rights], env)


def ends(job, status):
    """Checks that a container ends with this status, and returns what it printed."""
    ended = job.ended(120)
    if not ended:
        job.process.kill()
    if not ended or job.process.returncode != status:
        raise Failure(f"{job.name} has status {job.process.returncode}, not {status}: {job.tail()}")
    return job.said()


def need(lab):
    """Skips the scenario where no such container can be made."""
    probe = pod(lab, "h1", "own", "true", {})
    if not probe.ended(60) or probe.process.returncode:
        skip(f"an ordinary user can make no container of namespaces here: {probe.tail()}")


def talk(lab, networks, hosts, peer, env, status=0):
    """Lets a container on the first host serve one on the second, which checks every byte. Returns what the client printed."""
    server = pod(lab, hosts[0], networks[0], "exec omx perf --once --endpoint 5", env)
    server.hear("waiting for clients", 60)
    client = pod(lab, hosts[1], networks[1], f"exec omx perf {peer} --peer-endpoint 5 --verify -s 8,4K,1M -n 20", env)
    said = ends(client, status)
    if status == 0:
        ends(server, 0)
    server.process.terminate()
    return said


def broker(lab):
    need(lab)
    return {"OMX_BROKER": lab.lab("broker").strip(), "OMX_LINK": "ethernet"}


@scenario("9000")
def pods_broker(lab):
    """On two hosts and on one, with networks of their own (which have no interface) and with the host's."""
    env = broker(lab)
    for networks in (("own", "own"), ("own raw", "own raw"), ("own", "host"), ("host", "host")):
        talk(lab, networks, ("h1", "h2"), BOARD, env)
    said = ends(pod(lab, "h1", "own raw", "exec omx info", env), 0)
    for part in "packet sockets (CAP_NET_RAW): allowed", "grants raw frames, confined":
        if part not in said:
            raise Failure(f"omx info does not say '{part}': {said}")
    said = talk(lab, ("host", "host"), ("h1", "h1"), BOARD, env)
    if "1048576" not in said:
        raise Failure(f"not all sizes: {said}")


@scenario("9000")
def pods_broker_one_host(lab):
    """Processes of one container with a network of its own reach each other. Containers of one host do not, and are told what to do."""
    env = broker(lab)
    both = pod(lab, "h1", "own", f"omx perf --once --endpoint 5 & server=$!; until omx perf {BOARD} --peer-endpoint 5 --verify -s 8,1M -n 20; do kill -0 $server || exit; done; "
               "wait $server", env)
    ends(both, 0)
    said = talk(lab, ("own", "own"), ("h1", "h1"), BOARD, env, 1)
    if "network namespace" not in said:
        raise Failure(f"the reason is not said: {said}")


@scenario("9000")
def pods_udp(lab):
    """By UDP with the host's network, on two hosts and on one."""
    need(lab)
    env = {"OMX_LINK": "udp"}
    for hosts in ("h1", "h2"), ("h1", "h1"):
        talk(lab, ("host", "host"), hosts, "10.77.0.1", env)


PODMAN = "/dev/shm/podman"
# A system for containers, without an image: its programs are the host's. crun wants control groups of one kind only.
SYSTEM = f"""\
umask 022
mkdir -p {PODMAN}/home {PODMAN}/run {PODMAN}/system/etc && cd {PODMAN}/system || exit 1
mkdir -p usr proc sys dev tmp var/tmp run/open-mx .$0
for folder in bin sbin lib lib64; do ln -s usr/$folder $folder; done
cp /etc/ld.so.cache etc && chown -R {UID}:{UID} {PODMAN} && chmod 700 {PODMAN}/run
"""
CGROUPS = 'mount -t cgroup2 none /sys/fs/cgroup && exec "$@"'


def podman(lab, host, script, *options, **env):
    """Starts a script in a container of rootless Podman, which has the broker's socket where packages put it, if there is one."""
    build = lab.bin.resolve()
    script = re.sub(r"\bomx (perf|info)", rf"{build}/tools/omx \1", script)
    settings = [word for name, value in env.items() for word in ("-e", f"{name}={value}")]
    return Job([LAB, "exec", host, "--", "unshare", "--mount", "sh", "-c", CGROUPS, "sh", *USER[:3], "--clear-groups", "env", f"HOME={PODMAN}/home",
                f"XDG_RUNTIME_DIR={PODMAN}/run", f"PATH={PATH}", "podman", "--root", f"{PODMAN}/home/storage", "--runroot", f"{PODMAN}/run/containers",
                "--cgroup-manager=cgroupfs", "run", "--rm", "--cgroups=disabled", *options, *settings, "-v", "/usr:/usr:ro", "-v", f"{build}:{build}:ro",
                "--rootfs", f"{PODMAN}/system", "sh", "-c", script], {})


@scenario("9000")
def podman_rootless(lab):
    """Rootless Podman: by the broker without a network, with CAP_NET_RAW or without, and by UDP with the host's network."""
    if not shutil.which("podman"):
        skip("podman is missing: apt-get install podman crun")
    if os.geteuid() != 0:
        skip("only root can start a broker and containers of another user")
    for host in MAC:
        if lab.start(host, ["sh", "-c", SYSTEM, str(lab.bin.resolve())]).wait():
            raise Failure(f"no system for containers on {host}")
    need(lab)
    lab.lab("broker")
    by_broker = ("--network", "none", "-v", f"{FOLDER}/socket:/run/open-mx/broker:ro")
    probe = podman(lab, "h1", "omx info", *by_broker)
    if not probe.ended(60) or "Open-MX version" not in probe.said():
        skip(f"rootless Podman starts no container here: {probe.tail()}")
    for part in "packet sockets (CAP_NET_RAW): not allowed", "/run/open-mx/broker grants raw frames, confined":
        if part not in probe.said():
            raise Failure(f"omx info does not say '{part}': {probe.tail()}")
    for peer, env, options in ((BOARD, {}, by_broker), (BOARD, {}, (*by_broker, "--cap-add", "NET_RAW")),
                               ("10.77.0.1", {"OMX_LINK": "udp"}, ("--network", "host"))):
        server = podman(lab, "h1", "exec omx perf --once --endpoint 5", *options, **env)
        server.hear("waiting for clients", 60)
        ends(podman(lab, "h2", f"exec omx perf {peer} --peer-endpoint 5 --verify -s 8,4K,1M -n 20", *options, **env), 0)
        ends(server, 0)
