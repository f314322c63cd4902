# SPDX-License-Identifier: BSD-3-Clause
"""The command mpirun: an Open MPI job over the hosts of a lab."""
import os
import shutil

from .arguments import number
from .errors import EXIT_UNABLE, EXIT_USAGE, LabError

# Debian's Open MPI disables the components of UCX and libfabric in its configuration, so they are named here.
TRANSPORTS = {
    "tcp": ["--mca", "pml", "ob1", "--mca", "btl", "tcp,vader,self", "--mca", "btl_tcp_if_include", "eth0"],
    "ucx": ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any",
            "-x", "UCX_TLS=tcp,sm,self", "-x", "UCX_NET_DEVICES=eth0"],
}
LIBFABRIC = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include"]
SHORT_NAMES = {"omx": "ofi:omx", "ofi-tcp": "ofi:tcp;ofi_rxm"}
PROVIDER = "libomx-fi.so"
MOST_RANKS = 1024


def parse_transport(text):
    full = SHORT_NAMES.get(text, text)
    if full not in TRANSPORTS and not (full.startswith("ofi:") and len(full) > len("ofi:")):
        raise ValueError
    return full


def parse_user(text):
    uid = int(text)
    if uid < 1:
        raise ValueError
    return uid


parse_user.__name__ = "number of a user who is not root"
parse_transport.__name__ = "transport (omx, tcp, ucx, ofi-tcp, ofi:PROVIDER)"


def add_command(command, add_name, default_name):
    sub = command("mpirun", "run an Open MPI job, its ranks spread over all hosts",
                  "lab mpirun [options] -- [OPTIONS OF MPIRUN] PROGRAM...")
    add_name(sub, default_name)
    sub.add_argument("-n", "-np", dest="ranks", type=number(1, MOST_RANKS, "number of ranks"), metavar="N",
                     help="number of ranks (default: one on each host)")
    sub.add_argument("--transport", type=parse_transport, default="ofi:omx", metavar="T",
                     help="omx (default), tcp, ucx, ofi-tcp, or ofi:PROVIDER for any provider of libfabric")
    sub.add_argument("--provider-path", metavar="DIR",
                     help=f"where {PROVIDER} is (default: $FI_PROVIDER_PATH, the build or installation "
                          "that this lab belongs to, else where libfabric looks by itself)")
    sub.add_argument("--user", type=parse_user, metavar="UID",
                     help="the job of this ordinary user, without any capability: Open-MX goes by UDP then, unless --broker is given")
    sub.add_argument("--broker", action="store_true",
                     help="start the broker on each host, which gives that user raw frames")
    sub.add_argument("--control", metavar="IFACE", default="eth0",
                     help="the interface of Open MPI's own control (default eth0), such as eth1 where eth0 is to be cut")
    sub.add_argument("--show", action="store_true", help="print the command line instead")


def find_provider(script, environment):
    """Returns the folder of the provider, or None for libfabric's own."""
    if environment.get("FI_PROVIDER_PATH"):
        return environment["FI_PROVIDER_PATH"]
    root = os.path.dirname(os.path.dirname(os.path.abspath(script)))
    prefix = os.path.dirname(os.path.dirname(root))  # root is PREFIX/share/open-mx
    for folder in (os.path.join(root, "build", "release", "lib", "libfabric"),
                   *(os.path.join(prefix, lib, "libfabric")
                     for lib in ("lib", "lib64", f"lib/{os.uname().machine}-linux-gnu"))):
        if os.path.exists(os.path.join(folder, PROVIDER)):
            return folder
    return None


def command_line(lab, options, script, environment, agent):
    hosts = list(lab.hosts)
    ranks = options.ranks or len(hosts)
    slots = -(-ranks // len(hosts))
    line = [
        "mpirun.openmpi" if shutil.which("mpirun.openmpi") else "mpirun", "--allow-run-as-root",
        "--mca", "orte_keep_fqdn_hostnames", "1", "--mca", "plm_rsh_agent", f"{script} {agent}",
        "--mca", "oob_tcp_if_include", options.control,
        # Private to each host, and removed with it. Open MPI 5 takes it from the environment (prepare).
        "--mca", "orte_tmpdir_base", "/dev/shm",
        "--host", ",".join(f"{host}:{slots}" for host in hosts), "-np", str(ranks),
        # The hosts of a lab share their processors, which Open MPI cannot know.
        "--map-by", "node", "--bind-to", "none",
    ]
    if ranks > len(os.sched_getaffinity(0)):
        line += ["--mca", "mpi_yield_when_idle", "1"]
    if options.transport in TRANSPORTS:
        line += TRANSPORTS[options.transport]
    else:
        line += LIBFABRIC + [options.transport.removeprefix("ofi:")]
    exported = {name: None for name in sorted(environment) if name.startswith(("OMX_", "FI_"))}
    folder = options.provider_path or find_provider(script, environment)
    if folder and options.transport == "ofi:omx":
        exported["FI_PROVIDER_PATH"] = os.path.abspath(folder) if ":" not in folder else folder
    for name, value in exported.items():
        line += ["-x", name if value is None else f"{name}={value}"]
    return line + options.argv


def prepare(lab, options, script, agent="rsh-agent"):
    """Returns the command line, for the first host."""
    if not options.argv:
        raise LabError("mpirun needs a program: lab mpirun [options] -- PROGRAM...", EXIT_USAGE)
    if not lab.state["hosts"][0]["ip"]:
        raise LabError("Open MPI starts its ranks over IP, which this lab does not have: leave --no-ip out", EXIT_USAGE)
    if not options.show and not (shutil.which("mpirun.openmpi") or shutil.which("mpirun")):
        raise LabError("Open MPI is missing: apt-get install openmpi-bin", EXIT_UNABLE)
    # Jobs of two labs would otherwise take the same folder in /tmp: hosts and numbers of processes are the same.
    os.environ.setdefault("PRTE_MCA_prte_tmpdir_base", "/dev/shm")
    return command_line(lab, options, script, os.environ, agent)
