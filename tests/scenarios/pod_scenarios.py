# SPDX-License-Identifier: BSD-3-Clause
"""Containers of an ordinary user, as namespaces: they have nothing of the host but the broker's socket, or its network. docs/how-to/containers.md
says what these show."""
import re

from silence_stage import Job, skip
from slurm_stage import USER
from stage import LAB, Failure, scenario

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
