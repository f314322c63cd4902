#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs and libfabric's own tools over the provider, between two hosts of a lab.

  mpi_test.py --bin BUILD [NAME...]      runs the named tests (default: all)
  mpi_test.py --list

Each test starts a lab of its own. Exit 77 when it cannot run here. Then a line says why.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[2]
LAB = ROOT / "lab" / "lab"
PYTHON = "/usr/bin/python3"
PATTERNS = ["large ok", "probe ok", "mprobe ok", "cancel ok", "truncate ok"]
EPOCHS = ["fence ok", "strided ok", "post and start ok", "exclusive locks ok", "shared locks ok", "swaps ok", "requests ok",
          "operators ok", "shared memory ok"]
# One-sided communication through the provider's own reads, writes and atomic operations, or built from
# messages.
WINDOWS = {"rdma": ["--mca", "osc", "rdma,sm", "--mca", "osc_rdma_acc_use_amo", "0", "--mca", "btl", "ofi,self",
                    "--mca", "btl_ofi_provider_include", "omx"],
           "pt2pt": ["--mca", "osc", "pt2pt,sm"]}
WITHOUT_RIGHT = ["setpriv", "--bounding-set=-net_raw"]
WHY = "no permission to send Ethernet frames"
LIMIT_S = 270  # with lost frames, on few processors and a slow machine
TESTS = {}
LABS = {"patterns_udp": ["--family", "both"], "two_networks": ["--cables", "2"]}  # options of those that need others


def test(function):
    TESTS[function.__name__] = function
    return function


class Failure(Exception):
    pass


class Skip(Exception):
    pass


class Lab:
    """The hosts, seen from inside `lab run`."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.provider = self.build / "lib" / "libfabric"
        if not (self.provider / "libomx-fi.so").exists():
            raise Skip("the libfabric provider was not built, which needs libfabric-dev")

    @staticmethod
    def need(program, package):
        path = shutil.which(program)
        if not path:
            raise Skip(f"{program} is missing: apt-get install {package}")
        return path

    def program(self, name):
        self.need("mpirun.openmpi", "openmpi-bin")
        path = self.build / "tests" / "mpi" / name
        if not path.exists():
            raise Skip(f"{name} was not built, which needs mpicc.openmpi: apt-get install libopenmpi-dev")
        return path

    @staticmethod
    def lab(*argv):
        run = subprocess.run([LAB, *argv], capture_output=True, text=True, check=False)
        if run.returncode == 77:
            raise Skip(run.stderr.strip())
        if run.returncode:
            raise Failure(f"lab {' '.join(argv)}: {run.stderr.strip()}")
        return run.stdout

    def lossy(self):
        self.lab("fault", "h1", "--ethertype", "all", "--drop", "1", "--seed", "7")

    def lost_some(self):
        table = self.lab("faults")
        if not any(int(line.split()[4]) > 0 for line in table.splitlines()[1:]):
            raise Failure(f"nothing was lost, so nothing was tested: {table}")

    def start(self, argv, **settings):
        return subprocess.Popen([str(part) for part in argv], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT,
                                env={**os.environ, "FI_PROVIDER_PATH": str(self.provider),
                                     "PRTE_MCA_prte_tmpdir_base": "/dev/shm", **settings})

    def host(self, host, *argv, **settings):
        return self.start([LAB, "exec", host, "--", *argv], **settings)

    def mpirun(self, ranks, *argv, **settings):
        return self.start([LAB, "mpirun", "-n", ranks, "--", *argv], **settings)

    def plain_mpirun(self, *argv, **settings):
        """Runs two ranks, without the choice of a transport that `lab mpirun` makes."""
        return self.host("h1", "mpirun.openmpi", "--allow-run-as-root", "--mca", "orte_keep_fqdn_hostnames", "1",
                         "--mca", "plm_rsh_agent", f"{LAB} rsh-agent", "--mca", "orte_tmpdir_base", "/dev/shm",
                         "--host", "h1,h2", "--bind-to", "none", "--mca", "pml_base_verbose", "10", *argv, **settings)


def finish(process, expected=0, limit=LIMIT_S):
    """Returns the output. `expected` None means any status but 0."""
    name = " ".join(process.args[:7])
    try:
        out, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        raise Failure(f"{name} did not end within {limit} s; it said: {out[-1500:]}") from None
    if process.returncode != expected and (expected is not None or process.returncode == 0):
        raise Failure(f"{name} ended with {process.returncode}, not {'a failure' if expected is None else expected}; "
                      f"it said: {out[-1500:]}")
    return out


def require_lines(out, wanted):
    missing = [line for line in wanted if line not in out.splitlines()]
    if missing:
        raise Failure(f"not said: {missing}; but: {out[-1500:]}")


def require_parts(out, wanted):
    missing = [part for part in wanted if part not in out]
    if missing:
        raise Failure(f"not said: {missing}; but: {out[-2500:]}")


def patterns_test(ranks, lossy):
    def run(lab):
        program = lab.program("omx_mpi_patterns")
        if lossy:
            lab.lossy()
        require_lines(finish(lab.mpirun(ranks, program)), PATTERNS)
        if lossy:
            lab.lost_some()

    run.__name__ = f"patterns_{ranks}{'_loss' if lossy else ''}"
    run.__doc__ = "large messages, probing, matched probing, cancelling, truncation"
    test(run)


@test
def patterns_udp(lab):
    """The same patterns by UDP, over IPv4 and IPv6, and at 1 % loss."""
    program = lab.program("omx_mpi_patterns")
    require_lines(finish(lab.mpirun(4, program, OMX_LINK="udp")), PATTERNS)
    require_lines(finish(lab.mpirun(2, program, OMX_LINK="udp6")), PATTERNS)
    lab.lossy()
    require_lines(finish(lab.mpirun(2, program, OMX_LINK="udp")), PATTERNS)
    lab.lost_some()


@test
def two_networks(lab):
    """Hosts with an interface in each of two networks. All ranks use the same network."""
    program = lab.program("omx_mpi_patterns")
    for link in ("ethernet", "udp"):
        require_lines(finish(lab.mpirun(4, program, OMX_LINK=link)), PATTERNS)


def last_first_test(count, size, link):
    def run(lab):
        program = lab.program("omx_mpi_unexpected")
        out = finish(lab.mpirun(2, program, str(count), str(size), OMX_LINK=link, OMX_UNEXP_BYTES="1M"))
        if f"{count} messages of {size} bytes, last first" not in out:
            raise Failure(f"the messages were not received: {out[-1500:]}")
        if out.count("stay with their senders until receives match") != 1:
            raise Failure(f"the bound was not told once: {out[-1500:]}")

    run.__name__ = f"last_first_{size}_{link}"
    run.__doc__ = f"{count} messages of {size} bytes before their receives, the last one taken first, with room for 1 MiB"
    test(run)


for count_, size_, link_ in ((5000, 1024, "ethernet"), (5000, 1024, "udp"), (2000, 16000, "ethernet")):
    last_first_test(count_, size_, link_)


def open_mpi_major():
    """Returns 4 for "mpirun.openmpi (OpenRTE) 4.1.4", 5 for "mpirun (Open MPI) 5.0.7"."""
    said = subprocess.run(["mpirun.openmpi", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\) ([0-9]+)\.", said)
    if not found:
        raise Failure(f"mpirun.openmpi does not say its version: {said}")
    return int(found.group(1))


def windows_needed():
    if open_mpi_major() >= 5:
        raise Skip("Open MPI 5 makes no windows between hosts with pml cm, over any provider, and has no osc/pt2pt")


def one_sided_test(window, ranks):
    def run(lab):
        lab.program("omx_mpi_one_sided")
        windows_needed()
        require_lines(finish(lab.mpirun(ranks, *WINDOWS[window], lab.program("omx_mpi_one_sided"))), EPOCHS)

    run.__name__ = f"one_sided_{window}_{ranks}"
    run.__doc__ = "put, get, accumulate and atomic operations in every kind of epoch"
    test(run)


for ranks_ in (2, 4):
    for lossy_ in (False, True):
        patterns_test(ranks_, lossy_)
    for window_ in WINDOWS:
        one_sided_test(window_, ranks_)


@test
def one_sided_loss(lab):
    """Reads, writes and atomic operations at 1 % loss."""
    lab.program("omx_mpi_one_sided")
    windows_needed()
    lab.lossy()
    require_lines(finish(lab.mpirun(2, *WINDOWS["rdma"], lab.program("omx_mpi_one_sided"), 40)), EPOCHS)
    lab.lost_some()


def ranks_running(program, rank):
    """Returns the processes of a rank. All hosts of a lab share one PID namespace."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{entry}/exe") != str(program):
                continue
            with open(f"/proc/{entry}/environ", "rb") as file:
                if f"OMPI_COMM_WORLD_RANK={rank}".encode() in file.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:
            continue
    return found


@test
def rank_killed(lab):
    """kill -9 of a rank in the midst of traffic: the job ends with an error, and no process stays."""
    program = lab.program("omx_mpi_patterns")
    job = lab.mpirun(4, program, "forever")
    for line in job.stdout:
        if line.startswith("truncate"):
            break  # the second round has begun by now
    (victim,) = ranks_running(program, 1)
    os.kill(victim, signal.SIGKILL)
    began = time.monotonic()
    out = finish(job, None, 120)  # mostly seconds; four busy ranks may starve mpirun on a loaded machine
    print(f"  the job ended {time.monotonic() - began:.1f} s after the kill")
    # mpirun sees the killed rank, or another rank first sees that its peer is gone.
    if "signal 9" not in out and "MPI_ERRORS_ARE_FATAL" not in out:
        raise Failure(f"Open MPI does not say why the job ended: {out[-1500:]}")
    left = [pid for rank in range(4) for pid in ranks_running(program, rank)]
    if left:
        raise Failure(f"processes are left: {left}")
    for host in ("h1", "h2"):
        if lab.lab("exec", host, "--", "sh", "-c", "ss -xlH | grep omx || true"):
            raise Failure(f"a socket is left on {host}")


@test
def without_right(lab):
    """Ranks without CAP_NET_RAW use UDP. If frames are required, the provider says why not. Then the job fails
    clearly or uses TCP."""
    program = lab.program("omx_mpi_patterns")
    lab.need("setpriv", "util-linux")
    require_lines(finish(lab.mpirun(2, *WITHOUT_RIGHT, program)), PATTERNS)  # by UDP
    out = finish(lab.mpirun(2, *WITHOUT_RIGHT, program, "large", OMX_LINK="ethernet"), None, 60)
    require_parts(out, [WHY, "setcap cap_net_raw+ep", "systemctl start omxd.socket"])
    if not re.search("cm cannot be selected|No components were able to be opened in the pml framework", out):
        raise Failure(f"Open MPI does not say that it has no transport: {out[-1500:]}")
    # If another pml is allowed, Open MPI goes over TCP.
    out = finish(lab.plain_mpirun("--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "omx", "-x", "FI_PROVIDER_PATH",
                                  "-x", "OMX_LINK", *WITHOUT_RIGHT, program, "large", OMX_LINK="ethernet"), 0, 60)
    require_lines(out, ["large ok"])
    if "component ob1 selected" not in out:
        raise Failure(f"not over TCP: {out[-1500:]}")


@test
def declined(lab):
    """The provider says why it offers nothing, without any log level, once for each of the two ranks. It does so when
    it is chosen as Open MPI does it, and when FI_PROVIDER names it."""
    program = lab.program("omx_mpi_patterns")
    for settings, parts in ({"FI_OMX_IFACE": "nosuch"}, ["FI_OMX_IFACE", "nosuch"]), ({"OMX_WIRE_MODE": "mxoe"}, ["OMX_WIRE_MODE=mxoe"]), \
                           ({"OMX_SPIN_US": "soon"}, ['OMX_SPIN_US="soon"']):
        out = finish(lab.mpirun(2, program, "large", **settings), None, 60)
        require_parts(out, ["libfabric provider omx: ", *parts])
        if out.count("libfabric provider omx: ") != 2:
            raise Failure(f"not one sentence a rank: {out[-2500:]}")
    tool = lab.need("fi_info", "libfabric-bin")
    if "provider omx:" in finish(lab.host("h1", tool, OMX_SPIN_US="soon")):
        raise Failure("a mere list speaks")
    require_parts(finish(lab.host("h1", tool, OMX_SPIN_US="soon", FI_PROVIDER="omx"), None), ["libfabric provider omx: ", "OMX_SPIN_US"])


@test
def log_file(lab):
    """OMX_VERBOSE=1 and OMX_LOG_FILE: one line in a file of each rank."""
    program = lab.program("omx_mpi_patterns")
    for link, text in ("ethernet", "raw frames"), ("udp", "UDP over IPv4"):
        out = finish(lab.mpirun(2, program, "large", OMX_LINK=link, OMX_VERBOSE="1", OMX_LOG_FILE="/dev/shm/omx-%h-%p.log"))
        require_lines(out, ["large ok"])
        for host in ("h1", "h2"):
            log = lab.lab("exec", host, "--", "sh", "-c", f"cat /dev/shm/omx-{host}-*.log; rm /dev/shm/omx-*.log")
            wanted = rf"[-0-9]+ [0-9:]+\.[0-9]{{3}} OMX: eth0 endpoint 0: messages by {text}, MTU [0-9]+, wire mode omx, 1 peer\n"
            if not re.fullmatch(wanted, log):
                raise Failure(f"not one line about {text} in the log of {host}: {log}")


@test
def report(lab):
    """OMX_REPORT=1: one line about the two ranks of each host."""
    out = finish(lab.mpirun(4, lab.program("omx_mpi_patterns"), "large", OMX_REPORT="1"))
    heading = "OMX: report of (h[12]): 2 processes, 2 endpoints on eth0 by raw frames; messages sent [1-9]"
    if sorted(re.findall(heading, out)) != ["h1", "h2"] or out.count("OMX: report") != 2 or "by UDP bulk path" not in out:
        raise Failure(f"not one line a host: {out[-2500:]}")


@test
def few_descriptors(lab):
    """Ranks with too few file descriptors for the peers of their host: the job ends with an error that names the
    limit."""
    program = lab.program("omx_mpi_patterns")
    # In a barrier, coll/han of Open MPI 5 goes on alone after an error, and the other ranks wait indefinitely. By a variable, as
    # Open MPI 4 has no han by default.
    out = finish(lab.mpirun(8, "env", "OMPI_MCA_coll=^han", "sh", "-c", f"ulimit -n 32; exec {program} large", OMX_PEER_TIMEOUT_MS="3000"), None, 120)
    require_parts(out, ["ulimit -n"])


@test
def ordinary_user(lab):
    """Plain mpirun of a user without any capability, whose ranks are on two hosts: by UDP."""
    program = lab.program("omx_mpi_patterns")
    lab.need("setpriv", "util-linux")
    out = finish(lab.start([LAB, "mpirun", "-n", 2, "--user", 65534, "--", "sh", "-c",
                            'echo "$(hostname) $(id -u) $(grep CapEff /proc/self/status)"; exec "$0" large', program]))
    require_lines(out, ["h1 65534 CapEff:\t0000000000000000", "h2 65534 CapEff:\t0000000000000000", "large ok"])


@test
def parameter_file(lab):
    """The installed file of Open MPI parameters, used in the ways that it names."""
    programs = lab.program("omx_mpi_patterns"), lab.program("omx_mpi_one_sided")
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", lab.build, "--prefix", prefix], check=True, capture_output=True)
        file = f"{prefix}/share/open-mx/openmpi-omx.conf"
        named = {"OMPI_MCA_mca_base_param_files": file}
        ways = ((programs[0], ["--tune", file], {}), (programs[1], [], named))
        if open_mpi_major() >= 5:  # no --tune, no -x in the file, and no windows
            place = re.search(r"-x (FI_PROVIDER_PATH=\S+)", pathlib.Path(file).read_text())
            ways = ((programs[0], ["-x", place[1]], named),)
        for program, options, settings in ways:
            out = finish(lab.plain_mpirun(*options, program, FI_PROVIDER_PATH="", **settings))
            if "component cm selected" not in out or not ("truncate ok" in out or "requests ok" in out):
                raise Failure(f"not over libfabric: {out[-1500:]}")


def pingpong_test(mode):
    def run(lab):
        tool = lab.need("fi_pingpong", "libfabric-bin")
        options = [tool, "-p", "omx", "-e", "rdm", "-m", mode, "-S", "all", "-c", "-I", "20"]
        server = lab.host("h2", *options)
        for _ in range(100):  # until it listens
            if ":47592" in lab.lab("exec", "h2", "--", "ss", "-tlnH"):
                break
            time.sleep(0.1)
        tables = [finish(lab.host("h1", *options, "10.77.0.2")), finish(server)]
        for table in tables:
            sizes = [line.split()[:3] for line in table.splitlines()[1:]]
            if len(sizes) < 40 or sizes[0][0] != "0" or sizes[-1][0] != "6m":
                raise Failure(f"not all sizes: {table}")
            if any([sent, acknowledged] != ["20", "=20"] for _, sent, acknowledged in sizes):
                raise Failure(f"not all exchanges: {table}")
        print("  " + tables[0].splitlines()[-1])

    run.__name__ = f"fi_pingpong_{mode}"
    run.__doc__ = "libfabric's own ping-pong, all sizes, each byte checked"
    test(run)


for mode_ in ("msg", "tagged"):
    pingpong_test(mode_)


@test
def fi_info(lab):
    """The output of fi_info about us, as root, as a user, and about our settings."""
    tool = lab.need("fi_info", "libfabric-bin")
    short = finish(lab.host("h1", tool, "-p", "omx"))
    require_lines(short, ["provider: omx", "    fabric: omx", "    domain: eth0", "    type: FI_EP_RDM"])
    if short.count("provider:") != 1:
        raise Failure(f"one offer for one interface, not: {short}")
    long = finish(lab.host("h1", tool, "-p", "omx", "-v"))
    for wanted in (r"fi_info:\n    caps: \[ .*FI_TAGGED", r"addr_format: ", r"mtu: 9000", r"state: FI_LINK_UP"):
        if not re.search(wanted, long):
            raise Failure(f"fi_info -v does not say {wanted}: {long}")
    everything = finish(lab.host("h1", tool, "-e"))
    for name in ("FI_OMX_IFACE", "FI_OMX_LINK", "FI_OMX_CONNECT_TIMEOUT", "FI_OMX_TX_SIZE"):
        if name not in everything:
            raise Failure(f"fi_info -e does not tell of {name}")
    lab.need("setpriv", "util-linux")
    require_lines(finish(lab.host("h1", *WITHOUT_RIGHT, tool, "-p", "omx")), short.splitlines()[:3])
    for settings in ({}, {"FI_LOG_LEVEL": "warn"}):
        declined = finish(lab.host("h1", *WITHOUT_RIGHT, tool, "-p", "omx", OMX_LINK="ethernet", **settings), None)
        if declined.count(WHY) != 1:
            raise Failure(f"the reason is not said once with {settings}: {declined}")


def python_test(ranks, lossy):
    def run(lab):
        lab.need("mpirun.openmpi", "openmpi-bin")
        # Debian's Python, not that of a virtual environment.
        if subprocess.run([PYTHON, "-c", "import mpi4py, numpy"], capture_output=True, check=False).returncode:
            raise Skip("mpi4py is missing: apt-get install python3-mpi4py")
        if lossy:
            lab.lossy()
        out = finish(lab.mpirun(ranks, *WINDOWS["rdma"], PYTHON, "-B", pathlib.Path(__file__).with_name("calls.py")))
        if lossy:
            lab.lost_some()
        windows = "windows " if open_mpi_major() < 5 else ""
        require_lines(out, [f"{ranks} ranks: point_to_point persistent_probed_and_cancelled objects layouts collectives {windows}"
                            "communicators"])

    run.__name__ = f"python_{ranks}{'_loss' if lossy else ''}"
    run.__doc__ = f"Every call of MPI, from Python, on {ranks} ranks{', at 1 % loss' if lossy else ''}."
    return test(run)


for _ranks in (2, 4):
    python_test(_ranks, False)
python_test(4, True)


@test
def netpipe_loss(lab):
    """NetPIPE checks what arrives, at 1 % loss."""
    lab.need("mpirun.openmpi", "openmpi-bin")
    tool = lab.need("NPopenmpi", "netpipe-openmpi")
    lab.lossy()
    with tempfile.TemporaryDirectory() as scratch:
        out = finish(lab.mpirun(2, "--wdir", scratch, tool, "-i", "-u", "262144"))
    lab.lost_some()
    if "fail" in out.lower() or out.count("passed") < 2:
        raise Failure(f"NetPIPE's check: {out[-1500:]}")


def inside(options):
    try:
        TESTS[options.inside](Lab(options.bin))
    except Failure as problem:
        print(f"  FAILED: {problem}")
        return 1
    except Skip as reason:
        print(f"  SKIP: {reason}")
        return 77
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build" / "release"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(TESTS))
        return 0
    if options.inside:
        return inside(options)
    verdicts = []
    for name in options.names or TESTS:
        if name not in TESTS:
            parser.error(f"no test {name}: see --list")
        began = time.monotonic()
        run = subprocess.run([LAB, "run", "--mtu", "9000", *LABS.get(name, []), "--", sys.executable, HERE, "--bin", options.bin, "--inside", name],
                             check=False)
        verdicts.append({0: "ok", 77: "skipped"}.get(run.returncode, "FAILED"))
        print(f"{name}: {verdicts[-1]} ({time.monotonic() - began:.1f} s)", flush=True)
    print(f"{verdicts.count('ok')} passed, {verdicts.count('FAILED')} failed, {verdicts.count('skipped')} skipped")
    return 1 if "FAILED" in verdicts else 0 if "ok" in verdicts else 77


if __name__ == "__main__":
    sys.exit(main())
