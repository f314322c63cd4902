# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of an ordinary user under Slurm, by the broker and by UDP. docs/how-to/slurm.md says what these show."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import time

from silence_stage import must_fail, must_succeed, skip
from slurm_stage import FOLDER, LINKS, PATH, UID, USER, Cluster, until
from stage import MAC, ROOT, SCENARIOS, Failure, scenario

PEER_S = 3  # the peer time-out of these jobs
SLURM_S = 32  # what srun waits for the end of a job that it has aborted
GIVEN_UP = r"(aa:4f:4d:58:00:01|10\.77\.0\.1), endpoint \d+ has been silent .* is given up; \d+ operations with it have failed"
DOCUMENT = ROOT / "docs" / "how-to" / "slurm.md"
REPORTED = {"broker": "raw frames", "udp": "UDP"}
BROKER = "/dev/shm/broker/socket"
PATTERNS = ["large ok", "probe ok", "mprobe ok", "cancel ok", "truncate ok"]


def slurm(*links):
    """Registers a scenario once for each link."""

    def register(function):
        for link in links:
            def run(lab, link=link):
                function(lab, link)

            run.__doc__ = function.__doc__
            SCENARIOS[f"slurm_{function.__name__}_{link}"] = (run, "9000", {})
        return function

    return register


def must_have_used(job, link, ranks=4):
    """Checks that each rank says at its end that this link carried its messages."""
    used = re.findall(r"OMX: eth0 endpoint \d+: messages by (.*?), MTU \d+, wire mode omx, [1-9]", job.said())
    if used != [LINKS[link]] * ranks:
        raise Failure(f"{ranks} ranks by {LINKS[link]}, not {used}: {job.tail()}")


def must_have_granted(cluster, ranks):
    """Checks the brokers' own account: each rank of a host sent frames by an endpoint, and all endpoints have ended."""
    for host in MAC:
        log = cluster.on(host, "cat", "/dev/shm/broker/log")
        ended = re.findall(rf"end: user \S+ \({UID}\) process \d+ endpoint \d+ of eth0: closed; (\d+) frames sent, 0 not allowed, 0 too fast", log)
        if log.count("grant: ") != len(ended) or sum(sent != "0" for sent in ended) != ranks:
            raise Failure(f"{ranks} ranks of {host} that sent frames, not: {log}")


def run_patterns(cluster, link, mpi, program):
    show = 'echo "$(hostname) $(id -u) $(grep CapEff /proc/self/status)"; exec "$0"'
    job = cluster.srun(mpi, "sh", "-c", show, program, OMX_REPORT=1)
    must_succeed(job, 200)
    if [line for line in job.lines if line in PATTERNS] != PATTERNS:  # once: the ranks are those of one job
        raise Failure(f"not said once, in this order: {PATTERNS}; but: {job.tail()}")
    for host in MAC:
        if job.lines.count(f"{host} {UID} CapEff:\t0000000000000000") != 2:
            raise Failure(f"not two ranks of an ordinary user on {host}: {job.tail()}")
        if len(re.findall(rf"^OMX: report of {host}: 2 processes, \d endpoints on eth0 by {REPORTED[link]}; messages sent [1-9]", job.said(), re.MULTILINE)) != 1:
            raise Failure(f"not one report of both ranks of {host}: {job.tail()}")
    must_have_used(job, link)
    if link == "broker":
        must_have_granted(cluster, 2)
    cluster.must_leave_nothing()


@slurm("broker", "udp")
def open_mpi(lab, link):
    """Debian's Open MPI by PMIx: five patterns between all pairs of four ranks on two hosts."""
    cluster = Cluster(lab, link)
    cluster.open_mpi()
    run_patterns(cluster, link, "pmix", lab.bin.resolve() / "tests/mpi/omx_mpi_patterns")


@slurm("broker", "udp")
def mpich(lab, link):
    """MPICH by PMI-2: the same."""
    compiler = pathlib.Path(os.environ.get("OMX_MPICH", "/var/tmp/omx-mpich/mpich")) / "bin" / "mpicc"
    if not compiler.exists():
        skip(f"{compiler} is missing: tests/mpi/mpich_suite builds an MPICH for libfabric (Debian's is for UCX); OMX_MPICH names another one")
    cluster = Cluster(lab, link)
    # On h1 and h2 at the same path, and gone with the lab.
    for host in MAC:
        cluster.on(host, compiler, "-O2", ROOT / "tests/mpi/patterns.c", "-o", f"{FOLDER}/patterns")
    cluster.env["FI_PROVIDER"] = "omx"
    run_patterns(cluster, link, "pmi2", f"{FOLDER}/patterns")


@slurm("broker", "udp")
def array(lab, link):
    """Three jobs of an array run at once. One is cancelled, and the others go on. Then these are: nothing is left."""
    cluster = Cluster(lab, link)
    cluster.open_mpi()
    program = lab.bin.resolve() / "tests/mpi/omx_mpi_patterns"
    array = cluster.sbatch(f"exec srun --mpi=pmix {program} forever", "--array=1-3", "-o", f"{FOLDER}/jobs/%a")

    def rounds(task):
        return cluster.on("h1", "sh", "-c", f"grep -c 'truncate ok' {FOLDER}/jobs/{task} || true").strip() or "0"

    def all_advance(tasks):
        """Checks that each of these jobs begins and completes another round from now on."""
        for task, before in [(task, int(rounds(task))) for task in tasks]:
            until(lambda: int(rounds(task)) > before + 1, 200, lambda: f"rounds of job {task} after {before}; {cluster.logs()}")

    # Open MPI opens two in each rank: for messages, and for windows.
    until(lambda: cluster.endpoints() == [6, 6], 60, lambda: f"six endpoints on each host; {cluster.endpoints()}; {cluster.logs()}")
    all_advance((1, 2, 3))
    cluster.on("h1", *USER, "scancel", f"{array}_2")
    until(lambda: cluster.endpoints() == [4, 4], 60, lambda: f"four endpoints on each host; {cluster.endpoints()}; {cluster.logs()}")
    all_advance((1, 3))
    cluster.on("h1", *USER, "scancel", array)
    cluster.must_leave_nothing()
    if link == "broker":
        must_have_granted(cluster, 3)


@slurm("broker", "udp")
def check(lab, link):
    """Tasks of srun examine their hosts, which are fit. A lost frame makes them unfit, and the step has that status."""
    cluster = Cluster(lab, link)
    with tempfile.TemporaryDirectory(prefix="omx-slurm-") as meet:
        os.chown(meet, UID, UID)

        def checked(ranks):
            # srun's own messages must not come between.
            job = cluster.srun("none", "-o", f"{FOLDER}/jobs/check", lab.bin.resolve() / "tools/omx", "check", "--job", "--meet", meet,
                               "--links", "udp" if link == "udp" else "raw", "--deviations", "0", "--frames", "1000", "--json", ranks=ranks)
            if not job.ended(120):
                raise Failure(f"omx check has not ended: {job.tail()}")
            text = cluster.on("h1", "cat", f"{FOLDER}/jobs/check")
            if os.listdir(meet):
                raise Failure(f"left in the folder of the meeting: {os.listdir(meet)}")
            return job, json.loads(text)

        for ranks in 1, 2:
            job, report = checked(ranks)
            paths = [(path["from"], path["to"], path["received"]) for path in report["paths"]]
            if job.process.returncode or not report["fit"] or paths != [("h1", "h2", 1000), ("h2", "h1", 1000)]:
                raise Failure(f"two hosts that are fit, by {ranks} ranks on each, not {paths}: {job.tail()}")
        lab.lab("fault", "h2", "--drop", 3, "--ethertype", "0x0800" if link == "udp" else "0x86DF", "--seed", 3)
        job, report = checked(1)
        if job.process.returncode != 1 or "loss" not in {finding["trouble"] for finding in report["findings"] if finding["unfit"]}:
            raise Failure(f"status 1 and a finding of loss, not {job.process.returncode} and {report['findings']}")
        lab.lab("fault", "h2", "--clear")
    cluster.must_leave_nothing()


@scenario("9000")
def slurm_file_capability(lab):
    """Tasks whose program has a file capability send raw frames by sockets of their own."""
    if not shutil.which("setcap", path=PATH):
        skip("setcap is missing: apt-get install libcap2-bin")
    cluster = Cluster(lab, "udp")
    # Not in the hosts' own folders, whose files give no capabilities (nosuid).
    with tempfile.TemporaryDirectory(prefix="omx-slurm-") as folder:
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            skip(f"programs in {folder} get no capabilities (nosuid); name another folder in TMPDIR")
        os.chmod(folder, 0o755)
        omx = shutil.copy(lab.bin / "tools/omx", folder)
        subprocess.run(["setcap", "cap_net_raw+ep", omx], check=True, env={**os.environ, "PATH": PATH})
        talk = f"[ $SLURM_PROCID = 1 ] || exec {omx} perf --once; until {omx} perf h1 --verify -s 8,64K -n 20; do sleep 0.2; done"
        job = cluster.srun("none", "sh", "-c", talk, ranks=1, OMX_LINK="ethernet", OMX_BROKER="off")
        must_succeed(job, 60)
    must_have_used(job, "broker", 2)
    cluster.must_leave_nothing()


def stream(cluster, *argv):
    """Starts a job of numbered messages, and returns it when all ranks have sent or received some."""
    job = cluster.srun("pmix", cluster.program, *argv, OMX_PEER_TIMEOUT_MS=1000 * PEER_S)
    for rank in range(4):
        job.hear(rf"^rank {rank} ready", 60)
    return job


def stopped(job, ranks=range(4)):
    """Returns whether these ranks are all stopped."""
    return {pathlib.Path(f"/proc/{job.pid(rank)}/stat").read_text().rpartition(")")[2].split()[0] for rank in ranks} == {"T"}


@slurm("broker", "udp")
def suspended(lab, link):
    """A job is suspended for longer than the peer time-out, and resumed. Time in which it is stopped counts for no time-out:
    everything arrives, in order."""
    cluster = Cluster(lab, link)
    cluster.open_mpi()
    for number, argv in enumerate((("stream", 2000), ("stream", 2000, "any"), ("exchange", 1000)), start=1):
        job = stream(cluster, *argv)
        cluster.on("h1", "scontrol", "suspend", number)
        until(lambda: stopped(job), 30, lambda: f"stopped ranks; {cluster.logs()}")
        time.sleep(2 * PEER_S)  # the time-out that must not count, not a wait for something
        if not stopped(job) or "complete" in job.said():
            raise Failure(f"the job was not suspended: {job.tail()}")
        cluster.on("h1", "scontrol", "resume", number)
        must_succeed(job, 120)
        if len(re.findall(r"^rank \d complete", job.said(), re.MULTILINE)) != 4 or re.search("given up|silent", job.said()):
            raise Failure(f"not four complete ranks without a word about silence: {job.tail()}")
        must_have_used(job, link)
    cluster.must_leave_nothing()


@slurm("broker", "udp")
def half_suspended(lab, link):
    """The slurmd of one host does not hear that the job is suspended, so its ranks run on alone. They give up the others with a
    sentence. The others end when the job is resumed, and nothing is left."""
    cluster = Cluster(lab, link)
    cluster.open_mpi()
    job = stream(cluster, "exchange", 100000)
    cluster.on("h2", "sh", "-c", f"kill -STOP $(cat {FOLDER}/slurmd.pid)")
    cluster.on("h1", "scontrol", "suspend", 1)
    until(lambda: stopped(job, (0, 2)), 30, lambda: f"stopped ranks of h1; {cluster.logs()}")
    job.hear(GIVEN_UP, 60)
    cluster.on("h2", "sh", "-c", f"kill -CONT $(cat {FOLDER}/slurmd.pid)")
    cluster.on("h1", "scontrol", "resume", 1)
    must_fail(job, time.monotonic(), SLURM_S, GIVEN_UP)
    cluster.must_leave_nothing()


def scripts(omx):
    """Returns the prolog and the epilog of the document, with the paths of this test."""
    found = re.findall(r"^(    #!/bin/sh\n    # (prolog|epilog): .*\n(?:    .*\n)+)", DOCUMENT.read_text(), re.MULTILINE)
    return {name: textwrap.dedent(text).replace("/usr/bin/omx", omx).replace("/var/log/", f"{FOLDER}/") for text, name in found}


@slurm("broker")
def drained(lab, link):
    """A drained host ends its job and gets no other. The document's prolog drains a host that gives its users no raw frames."""
    config = f"Prolog={FOLDER}/prolog\nEpilog={FOLDER}/epilog\nPrologFlags=Alloc\n"
    files = scripts(f"/usr/bin/env OMX_BROKER={BROKER} {lab.bin.resolve()}/tools/omx")
    cluster = Cluster(lab, link, config, files)
    cluster.open_mpi()
    job = stream(cluster, "exchange", 1000)
    cluster.on("h1", "scontrol", "update", "nodename=h2", "state=drain", "reason=test")
    must_succeed(job, 60)
    cluster.nodes_until({"idle", "drained"})
    waiting = cluster.sbatch(f"exec srun --mpi=pmix {cluster.program} barrier", "-o", f"{FOLDER}/jobs/waiting")
    time.sleep(1)
    if cluster.job(waiting, "JobState") != "PENDING":
        raise Failure(f"a job started on a drained host: {cluster.logs()}")
    cluster.on("h1", "scontrol", "update", "nodename=h2", "state=resume")
    cluster.job_until(waiting, "COMPLETED")
    for host in MAC:
        if "could be better" not in cluster.on(host, "cat", f"{FOLDER}/omx-check"):
            raise Failure("the epilog wrote nothing")
    cluster.on("h2", "rm", BROKER)
    refused = cluster.sbatch(f"exec srun --mpi=pmix {cluster.program} barrier", "-o", f"{FOLDER}/jobs/refused")
    until(lambda: cluster.nodes().get("h2") == "drained", 60, lambda: f"h2 drained; {cluster.nodes()}; {cluster.logs()}")
    if cluster.job(refused, "JobState") not in ("PENDING", "REQUEUED", "REQUEUE_HOLD"):
        raise Failure(f"the job was not kept back: {cluster.on('h1', 'scontrol', 'show', 'job', refused)}")
    cluster.on("h1", "scancel", refused)
    cluster.must_leave_nothing()
