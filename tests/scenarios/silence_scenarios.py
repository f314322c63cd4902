# SPDX-License-Identifier: BSD-3-Clause
"""A host falls silent: stopped, cut off, restarted or never reached. Nothing is lost or hangs without a message."""
import re
import time

from silence_stage import (GRACE_S, Failure, address, balance, fabric_job, go_on, judge_never, mpi_job, must_end, must_fail, must_succeed,
                           settings, stop)
from stage import SCENARIOS

PEER_S = 3
LINKS = ("raw", "udp")


def silence(links=LINKS, cables="2"):
    """Registers a scenario once for each link. The second cable is Open MPI's own."""

    def register(function):
        for link in links:
            def run(lab, link=link):
                function(lab, link)

            run.__doc__ = function.__doc__
            SCENARIOS[f"silence_{function.__name__}_{link}"] = (run, "9000", {"cables": cables} if cables else {})
        return function

    return register


@silence()
def short_stall(lab, link):
    """A rank is stopped for less than the time-out. Everything arrives, in order."""
    for victim, argv in ((1, ("stream", 1500)), (0, ("stream", 1500, "any")), (1, ("exchange", 600))):
        job = mpi_job(lab, 2, settings(lab.bin, link, peer_ms=6000), *argv)
        job.hear("rank 0 ready")
        stop(job.pid(victim))
        time.sleep(2)
        go_on(job.pid(victim))
        must_succeed(job, 60)


def long_stall(lab, link, victim, *argv):
    """A rank is stopped for longer than the time-out. The job ends, at the latest when the rank continues."""
    job = mpi_job(lab, 2, settings(lab.bin, link), *argv)
    job.hear("rank 0 ready")
    began = time.monotonic()
    stop(job.pid(victim))
    if not job.ended(PEER_S + 4):
        go_on(job.pid(victim))
        began = time.monotonic()
    must_fail(job, began, PEER_S)


@silence()
def stopped_receiver(lab, link):
    """The sender of short messages learns that its peer is gone. The receiver never skips a number."""
    long_stall(lab, link, 1, "stream", 20000)


@silence()
def stopped_sender(lab, link):
    """A receive from one rank ends when that rank is given up."""
    long_stall(lab, link, 0, "stream", 20000)


@silence()
def stopped_sender_of_any(lab, link):
    """A receive from any rank watches no peer, so the stopped sender may be given up or not. No number is skipped."""
    job = mpi_job(lab, 2, settings(lab.bin, link), "stream", 2000, "any")
    job.hear("rank 0 ready")
    stop(job.pid(0))
    job.ended(2 * PEER_S)
    go_on(job.pid(0))
    must_end(job, 60, PEER_S)


@silence()
def stopped_exchange(lab, link):
    """Three kinds of messages in both directions. No later message matches an earlier receive."""
    long_stall(lab, link, 1, "exchange", 20000)


def blackout(lab, seconds):
    lab.lab("fault", "h1", "--ethertype", "all", "--drop", 100)
    time.sleep(seconds)
    lab.lab("fault", "h1", "--clear")


@silence()
def blackout_and_back(lab, link):
    """All frames are lost for twice the time-out. The job ends with an error, although the cable works again."""
    job = mpi_job(lab, 2, settings(lab.bin, link), "stream", 20000)
    job.hear("rank 0 ready")
    began = time.monotonic()
    blackout(lab, 2 * PEER_S)
    must_fail(job, began, 2 * PEER_S)


@silence(links=("raw",))
def dropped_ethertype(lab, link):
    """A network that passes IP but not our frames. The first message of any kind fails and says why."""
    lab.lab("fault", "h1", "--drop", 100)
    for argv in (("sendrecv", 4), ("barrier",), ("sendrecv", 100000)):
        job = mpi_job(lab, 2, settings(lab.bin, link), *argv)
        job.pid(0)
        must_fail(job, time.monotonic(), PEER_S)


@silence()
def cut(lab, link):
    """The cable is cut and stays cut."""
    job = mpi_job(lab, 2, settings(lab.bin, link), "stream", 20000)
    job.hear("rank 0 ready")
    began = time.monotonic()
    lab.lab("cut", "h1", "--cable", 0)
    must_fail(job, began, PEER_S)


@silence()
def interface_down(lab, link):
    """The interface of one host goes down and stays down."""
    job = mpi_job(lab, 2, settings(lab.bin, link), "stream", 20000)
    job.hear("rank 0 ready")
    began = time.monotonic()
    lab.lab("exec", "h2", "--", "ip", "link", "set", "eth0", "down")
    must_fail(job, began, PEER_S)


@silence(links=("raw",))
def two_kinds_of_address(lab, _):
    """One rank uses UDP, the other raw frames. The error comes at once, with the setting that mends it."""
    # Time-outs that this scenario must not wait for.
    env = settings(lab.bin, None, peer_ms=120000, connect_ms=120000)
    mixed = 'test "$OMPI_COMM_WORLD_RANK" = 1 && export OMX_LINK=udp || export OMX_LINK=ethernet; exec "$0" "$@"'
    for argv in (("sendrecv", 4), ("barrier",)):
        job = mpi_job(lab, 2, env, "sh", "-c", mixed, "PROGRAM", *argv)
        # The error of rank 1 may end the job before rank 0 has started, so nothing waits for that.
        must_fail(job, time.monotonic(), GRACE_S, "OMX_LINK")


@silence()
def stopped_while_connecting(lab, link):
    """Both ranks are stopped during their first connection for longer than it may take. Then they connect."""
    lab.lab("fault", "h1", "--ethertype", "all", "--drop", 100)
    job = mpi_job(lab, 2, settings(lab.bin, link, connect_ms=4000), "sendrecv", 4)
    both = job.pid(0), job.pid(1)
    time.sleep(0.5)
    for pid in both:
        stop(pid)
    lab.lab("fault", "h1", "--clear")
    time.sleep(6)
    for pid in both:
        go_on(pid)
    must_succeed(job, 30)


def restart(lab, link, how, end):
    env = settings(lab.bin, link)
    first = fabric_job(lab, "h2", env, "serve", 5)
    first.hear("^ready")
    client = fabric_job(lab, "h1", env, "restart", address("h2", link), how, end)
    client.hear("^alone", 60)
    if not first.ended(15):  # until then it holds the endpoint
        raise Failure(f"the first server did not end; it said: {first.tail()}")
    second = fabric_job(lab, "h2", env, "serve", 5)
    if not client.ended(60):
        raise Failure(f"the client did not end; it said: {client.tail()}")
    for server in first, second:
        if not server.ended(15):
            raise Failure(f"a server did not end; it said: {server.tail()}")
    balance(client, first, second, kept=2)
    if client.process.returncode not in (0, 3) or not numbers_follow(second):
        raise Failure(f"the client did not go on with the second server: {client.tail()}")


def numbers_follow(server):
    return re.search(r"^got \d+", server.said(), re.MULTILINE)


@silence(cables=None)
def restarted_server(lab, link):
    """A libfabric server ends and restarts at its address. Lost messages are reported, and the client continues."""
    for how in ("inject", "send"):
        for end in ("killed", "closed"):
            restart(lab, link, how, end)


@silence(cables=None)
def fabric_blackout(lab, link):
    """All frames are lost for twice the time-out. Every message that did not arrive is reported, and none is skipped.
    """
    env = settings(lab.bin, link)
    for how in ("inject", "send"):
        server = fabric_job(lab, "h2", env, "serve", 5)
        server.hear("^ready")
        client = fabric_job(lab, "h1", env, "stream", address("h2", link), how, 15000)
        client.hear("^streaming")
        began = time.monotonic()
        blackout(lab, 2 * PEER_S)
        client.ended(PEER_S + GRACE_S)
        server.ended(0.5)
        judge_never(server)
        must_fail(client, began, 2 * PEER_S)
        server.process.terminate()
        server.ended(5)
        balance(client, server)


@silence(cables=None)
def fabric_waits(lab, link):
    """A directed receive ends with an error when its peer is cut off. A wildcard receive waits, and the next send
    fails."""
    env = settings(lab.bin, link)
    for how, ms in (("directed", 30000), ("any", 5000)):
        server = fabric_job(lab, "h2", env, "serve", 5)
        server.hear("^ready")
        client = fabric_job(lab, "h1", env, "wait", address("h2", link), how, ms)
        client.hear("^waiting")
        began = time.monotonic()
        lab.lab("cut", "h1")
        must_fail(client, began, PEER_S)
        lab.lab("mend", "h1")
        server.process.kill()
        server.ended(5)


@silence(cables=None)
def fabric_two_kinds_of_address(lab, link):
    """The address of a server that is reached by another link is refused at once, with the setting that mends it."""
    env = settings(lab.bin, link, peer_ms=120000, connect_ms=120000)
    other = "raw" if link == "udp" else "udp"
    client = fabric_job(lab, "h1", env, "stream", address("h2", other), "send", 1)
    must_fail(client, time.monotonic(), GRACE_S, "OMX_LINK")


@silence(links=("raw",))
def few_descriptors(lab, link):
    """Eight ranks that may open only 32 files each. The job says what to raise, and ends."""
    job = mpi_job(lab, 8, settings(lab.bin, link), "sh", "-c", 'ulimit -n 32; exec "$0" "$@"', "PROGRAM", "mesh")
    must_fail(job, time.monotonic(), 30, "ulimit -n")


@silence(links=("raw",))
def last_first(lab, link):
    """More unexpected messages than the receiver may keep. It receives the last one first, and all of them arrive."""
    job = mpi_job(lab, 2, settings(lab.bin, link, peer_ms=None, connect_ms=None), "inverted", 140000)
    must_succeed(job, 90)


@silence()
def host_stopped_for_a_minute(lab, link):
    """Default settings and four ranks, those of one host stopped for 60 s. The job continues, and says what it waits
    for."""
    job = mpi_job(lab, 4, settings(lab.bin, link, peer_ms=None, connect_ms=None), "stream", 2000)
    job.hear("rank 0 ready", 60)
    job.hear("rank 2 ready", 60)
    victims = job.pid(1), job.pid(3)
    for pid in victims:
        stop(pid)
    job.hear("silent for 1[0-9] s", 30)
    if job.ended(60):
        raise Failure(f"the job ended meanwhile; it said: {job.tail()}")
    for pid in victims:
        go_on(pid)
    must_succeed(job, 120)
