# SPDX-License-Identifier: BSD-3-Clause
"""For slurm_scenarios.py: Slurm on the hosts of a lab.

The controller runs on h1, and a slurmd and a munged on each host. All their files, also those of jobs, lie in the hosts'
own /dev/shm. So everything is gone with the lab, even when the test is killed.
"""
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import time

from silence_stage import Job, settings, skip
from stage import LAB, MAC, Failure

FOLDER = "/dev/shm/slurm"
PREFIX = "/dev/shm/open-mx"
UID = 65534
USER = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
PATH = os.environ.get("PATH", "") + ":/usr/sbin"
PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client"}
# What lies in the /dev/shm of a host without a job.
KEPT = {"slurm", "open-mx", "broker"}
LINKS = {"broker": "raw frames", "udp": "UDP over IPv4"}
# The hosts are the namespaces of one machine, so they share its processors, and Slurm may not look for control groups.
CONFIG = f"""\
ClusterName=lab
SlurmctldHost=h1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={FOLDER}/munge/socket
StateSaveLocation={FOLDER}/state
SlurmdSpoolDir={FOLDER}/spool
SlurmctldPidFile={FOLDER}/slurmctld.pid
SlurmdPidFile={FOLDER}/slurmd.pid
SlurmctldLogFile={FOLDER}/slurmctld.log
SlurmdLogFile={FOLDER}/slurmd.log
TmpFS=/dev/shm
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=h[1-2] CPUs=4
PartitionName=all Nodes=ALL Default=YES
"""
# By itself, PMIx takes the same folder in /tmp on all hosts, which here is one folder.
PMIX_CONFIG = "PMIxCliTmpDirBase=/dev/shm\n"
START = f"""\
umask 022
mkdir {FOLDER}/munge {FOLDER}/spool {FOLDER}/state
mkdir -m 1777 {FOLDER}/jobs
munged --key-file={FOLDER}/key --socket={FOLDER}/munge/socket --pid-file={FOLDER}/munge.pid --log-file={FOLDER}/munge.log \
--seed-file={FOLDER}/munge.seed
[ $(hostname) != h1 ] || slurmctld -f {FOLDER}/slurm.conf
slurmd -f {FOLDER}/slurm.conf -N $(hostname)
"""
LOGS = f"for log in {FOLDER}/*.log; do echo == $(hostname):$log; tail -n 15 $log; done"


def until(question, seconds, what):
    """Asks until the answer is true, and returns the answer. Fails with the text of what()."""
    end = time.monotonic() + seconds
    while not (answer := question()):
        if time.monotonic() > end:
            raise Failure(f"not within {seconds} s: {what()}")
        time.sleep(0.1)
    return answer


def need():
    if os.geteuid() != 0:
        skip("slurmd runs jobs of other users, which only root can do")
    for program, package in PROGRAMS.items():
        if not shutil.which(program, path=PATH):
            skip(f"{program} is missing: systemctl mask munge slurmctld slurmd, so that no service is started, and apt-get install {package}")


class Cluster:
    """Slurm, and what its jobs need to use Open-MX by one link."""

    def __init__(self, lab, link, config="", files=None):
        need()
        self.lab, self.link = lab, link
        self.program = lab.bin.resolve() / "tests/scenarios/omx_silence_mpi"
        if not self.program.exists():
            skip("omx_silence_mpi was not built, which needs mpicc.openmpi and libfabric-dev: apt-get install libopenmpi-dev libfabric-dev")
        if subprocess.run([*USER, "test", "-x", self.program], check=False).returncode:
            skip(f"user {UID} may not read {self.program}: put the tree where all users may read it")
        self.env = settings(lab.bin, "udp" if link == "udp" else "raw", PATH=PATH, SLURM_CONF=f"{FOLDER}/slurm.conf", OMX_VERBOSE=1)
        if link == "broker":
            self.env["OMX_BROKER"] = lab.lab("broker").strip()
        key = secrets.token_hex(64)
        for host in MAC:
            self.on(host, "mkdir", FOLDER)
            for name, mode, text in (("key", "600", key), ("slurm.conf", "644", CONFIG + config), ("mpi.conf", "644", PMIX_CONFIG),
                                     *((name, "755", text) for name, text in (files or {}).items())):
                self.on(host, "install", "-m", mode, "/dev/stdin", f"{FOLDER}/{name}", text=text)
            self.on(host, "sh", "-ec", f"exec >> {FOLDER}/start.log 2>&1\n{START}")
        self.nodes_until({"idle"})

    def on(self, host, *argv, text=""):
        """Runs a command on a host as root, and returns what it prints."""
        run = subprocess.run([LAB, "exec", host, "--", *map(str, argv)], env={**os.environ, **self.env}, input=text,
                             capture_output=True, text=True, check=False)
        if run.returncode:
            raise Failure(f"{' '.join(map(str, argv))} on {host} ended with {run.returncode}: {run.stdout[-800:]}{run.stderr[-800:]}")
        return run.stdout

    def open_mpi(self):
        """Lets jobs of Open MPI take its parameters from the installed file."""
        for host in MAC:
            self.on(host, "cmake", "--install", self.lab.bin, "--component", "fabric", "--prefix", PREFIX)
        self.env["OMPI_MCA_mca_base_param_files"] = f"{PREFIX}/share/open-mx/openmpi-omx.conf"
        self.env["OMPI_MCA_mpi_yield_when_idle"] = "1"  # the hosts share their processors, which Open MPI cannot know

    def srun(self, mpi, *argv, ranks=2, **env):
        """Starts a job of an ordinary user, with some ranks on each host. Neighbours are on different hosts."""
        return Job([LAB, "exec", "h1", "--", *USER, "srun", f"--mpi={mpi}", "-N2", f"--ntasks-per-node={ranks}", "-m", "cyclic", "-D", "/dev/shm", *argv],
                   {**self.env, **{name: str(value) for name, value in env.items()}})

    def sbatch(self, script, *options):
        """Gives Slurm a batch job of an ordinary user, and returns its number."""
        return self.on("h1", *USER, "sbatch", "--parsable", "-N2", "--ntasks-per-node=1", "-D", "/dev/shm", *options,
                       text=f"#!/bin/sh\n{script}\n").strip()

    def job(self, number, what):
        """Returns a field of what Slurm knows about a job."""
        found = re.search(rf"\b{what}=(\S*)", self.on("h1", "scontrol", "show", "job", number))
        return found and found[1]

    def job_until(self, number, state, seconds=60):
        until(lambda: self.job(number, "JobState") == state, seconds,
              lambda: f"job {number} {state}; {self.on('h1', 'scontrol', 'show', 'job', number)}{self.logs()}")

    def nodes(self):
        return dict(line.split() for line in self.on("h1", "sinfo", "-hN", "-o", "%N %T").splitlines())

    def nodes_until(self, states):
        until(lambda: set(self.nodes().values()) == states, 60, lambda: f"hosts {states}; they are {self.nodes()}; {self.logs()}")

    def logs(self):
        return "".join(self.on(host, "sh", "-c", LOGS) for host in MAC)

    def endpoints(self):
        """Returns the number of endpoints that are open on each host."""
        return [len(re.findall(r" @omx/\d+/\d+ ", self.on(host, "ss", "-xlH"))) for host in MAC]

    def must_leave_nothing(self):
        """Checks that a job that has ended leaves no process, no endpoint and no file."""

        def left():
            processes = [path.name for path in pathlib.Path("/proc").glob("[0-9]*") if owner(path) == UID]
            files = [name for host in MAC for name in self.on(host, "ls", "-A", "/dev/shm").split() if name not in KEPT]
            return processes, self.endpoints(), files

        until(lambda: left() == ([], [0, 0], []), 60, lambda: f"nothing left of the job; {left()}; {self.logs()}")


def owner(path):
    try:
        return path.stat().st_uid
    except OSError:
        return None  # it has ended
