# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the lab."""
import argparse
import os
import re
import shlex
import signal
import sys

from . import broker, door, enter, faultcli, holder, kernel, marks, mpicli, registry, wire
from .arguments import mark_fault, number, size
from .errors import EXIT_FAILED, EXIT_LAB, EXIT_UNABLE, EXIT_USAGE, LabError
from .vm import vmcli

DESCRIPTION = """\
Hosts as network namespaces, joined by virtual cables, on this machine only.

  lab run -- sh -c '$LAB exec h1 -- ping -c1 h2'      a lab for one command
  lab up; lab exec h1 -- ping -c1 h2; lab down        a lab that stays
"""
EPILOG = """\
exit status: that of CMD for exec and run; 0 done, 1 failed, 2 wrong usage,
77 this user or machine cannot do it (a test should skip),
125 exec or run failed before CMD, 126 CMD cannot be executed, 127 CMD not found
"""
DEFAULT_MTU = 1500
MAX_QUEUES = 64
MAX_HOSTS = 64  # h1..h64 at 10.77.0.1..64
# Options of ssh and rsh that take a value, so that the agent can skip both.
RSH_OPTIONS_WITH_VALUE = set("BbcDEeFIiJLlmOopQRSWw")


def parse_mtu(text):
    mtus = [int(part) for part in text.split(",")]
    if not all(68 <= mtu <= 65535 for mtu in mtus):
        raise ValueError
    return mtus


def parse_name(text):
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", text):
        raise ValueError
    return text


# argparse prints these as "invalid NAME value".
parse_mtu.__name__ = "MTU (68..65535, one or one per host)"
parse_name.__name__ = "lab name (letters, digits, _ . -)"


def make_parser():
    parser = argparse.ArgumentParser(
        prog="lab", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, text, usage=None):
        sub = commands.add_parser(name, help=text, description=text, usage=usage)
        return sub

    def add_name(sub, default):
        sub.add_argument("--name", type=parse_name, default=default,
                         help="name of the lab (default: $LAB_NAME, else lab)")

    for name, text, usage in (
            ("up", "start a lab that stays until `lab down`", None),
            ("run", "start a lab, run CMD beside its hosts, end the lab",
             "lab run [options] -- CMD...")):
        sub = command(name, text, usage)
        sub.add_argument("--name", type=parse_name,
                         help="name of the lab (default: lab for up, a new name for run)")
        sub.add_argument("--hosts", type=number(1, MAX_HOSTS, "number of hosts"), default=2, metavar="N",
                         help="hosts h1..hN (default 2)")
        sub.add_argument("--mtu", type=parse_mtu, default=[DEFAULT_MTU], metavar="M[,M2..]",
                         help=f"MTU of all hosts, or of each (default {DEFAULT_MTU})")
        sub.add_argument("--topology", choices=("cable", "bridge", "router"),
                         help="cable: two hosts back to back (default for two); "
                              "bridge: hosts on a switch; router: each host on a network of its own")
        sub.add_argument("--queues", type=number(1, MAX_QUEUES, "number of queues"), default=1, metavar="N",
                         help="receive and transmit queues of every eth0 (default 1)")
        sub.add_argument("--cables", type=int, choices=range(1, 5), default=1, metavar="N",
                         help="cables between the two hosts, eth0 and up (default 1)")
        sub.add_argument("--rate", metavar="R",
                         help="rate limit of every eth, in units of tc, such as 1gbit (default: none)")
        sub.add_argument("--port-queue", type=size(2048, 1 << 30), metavar="BYTES",
                         help="with --rate on a switch: limit its ports towards the hosts instead; each queues so many bytes (64K) and loses the rest")
        sub.add_argument("--port-mark", type=size(1, 1 << 30), metavar="BYTES",
                         help="with --port-queue: mark IP packets that find so many bytes there (ECN), those of TCP included; as root")
        wire.add_options(sub)
        sub.add_argument("--ip", action=argparse.BooleanOptionalAction, default=True,
                         help="give the hosts IP addresses")
        sub.add_argument("--family", choices=holder.FAMILIES, default="ipv4",
                         help="host i has 10.77.0.i (ipv4, the default), fd4f:4d58::i (ipv6), or both")

    sub = command("exec", "run CMD in a host", "lab exec [--name NAME] HOST -- CMD...")
    add_name(sub, default_name())
    sub.add_argument("host", metavar="HOST")

    sub = command("down", "end a lab and all that runs in it")
    which = sub.add_mutually_exclusive_group()
    which.add_argument("--name", type=parse_name, default=default_name())
    which.add_argument("--all", action="store_true", help="every lab of this user")

    command("list", "show the labs that are up")
    commands.add_parser("rsh-agent", add_help=False, help="run a command line in a host, "
                        "called like rsh: lab rsh-agent [options] HOST CMD...")
    mpicli.add_command(command, add_name, default_name())
    broker.add_command(command, add_name, default_name())
    faultcli.add_commands(command, add_name, default_name())
    vmcli.add_commands(command("vm", "hosts as virtual machines: lab vm --help"), add_name, default_name())
    return parser


def default_name():
    return os.environ.get("LAB_NAME") or "lab"


def planned_lab(options, name):
    long = wire.planned(options)
    if long and (options.hosts != 2 or options.topology or options.cables > 1):
        raise LabError("a long cable joins two hosts: use --hosts 2, no --topology and no --cables", EXIT_USAGE)
    topology = "long" if long else options.topology or ("cable" if options.hosts == 2 else "bridge")
    if topology == "cable" and options.hosts != 2:
        raise LabError("a cable has two ends: use --hosts 2, or --topology bridge", EXIT_USAGE)
    if topology not in ("cable", "long") and options.cables > 1:
        raise LabError("several cables join two hosts: use --hosts 2 and no --topology", EXIT_USAGE)
    if topology == "router" and not options.ip:
        raise LabError("a router needs addresses: leave --no-ip out, or use --topology bridge", EXIT_USAGE)
    if options.port_queue and (topology != "bridge" or not options.rate):
        raise LabError("only a port of a switch with a rate has a queue: add --topology bridge and --rate", EXIT_USAGE)
    if options.port_queue:
        try:
            wire.parse_rate(options.rate)
        except ValueError:
            raise LabError(f"a port cannot have the rate {options.rate}: give it in kbit, mbit or gbit", EXIT_USAGE) from None
    if options.port_mark and not options.port_queue:
        raise LabError("only a queue of known length marks packets: add --port-queue", EXIT_USAGE)
    if options.port_mark:
        if fault := mark_fault("--port-mark", options.port_mark, "--port-queue", options.port_queue):
            raise LabError(fault, EXIT_USAGE)
        marks.need_root()
    mtus = options.mtu * options.hosts if len(options.mtu) == 1 else options.mtu
    if len(mtus) != options.hosts:
        raise LabError(f"--mtu lists {len(mtus)} values for {options.hosts} hosts: "
                       "give one value, or one per host", EXIT_USAGE)
    return holder.describe(name, mtus, topology, options.family if options.ip else None, options.queues,
                           options.cables, options.rate, long, options.port_queue, options.port_mark)


def do_up(options, _script):
    holder.start(planned_lab(options, options.name or "lab"), die_with_caller=False)
    return 0


def do_run(options, script):
    if not options.argv:
        raise LabError("run needs a command: lab run [options] -- CMD...", EXIT_USAGE)
    lab = planned_lab(options, options.name or f"run-{os.getpid()}")
    enter.watch_signals()
    pid = holder.start(lab, die_with_caller=True)
    mounts = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    child = os.fork()
    if child == 0:
        # Runs in the lab's PID namespace, so that it cannot outlive the lab, with the matching /proc. Its
        # network is the outside one.
        cwd = os.getcwd()
        kernel.setns(mounts, kernel.CLONE_NEWNS)
        os.chdir(cwd)
        enter.become(options.argv, dict(os.environ, LAB=script, LAB_NAME=lab["name"]))
    status = enter.wait_for(child, give_up=lambda: os.kill(pid, signal.SIGKILL))
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
    broker.leftovers_remove()
    return status


def run_in_host(lab, host, argv, script):
    environment = dict(os.environ, LAB=script, LAB_NAME=lab.name, LAB_HOST=host["name"])
    return enter.call_inside(lab, enter.host_targets(lab, host),
                             lambda: enter.become(argv, environment))


def do_exec(options, script):
    if not options.argv:
        raise LabError("exec needs a command: lab exec HOST -- CMD...", EXIT_USAGE)
    lab = registry.find(options.name)
    return run_in_host(lab, lab.host(options.host), options.argv, script)


def do_down(options, _script):
    if not options.all:
        registry.end(registry.find(options.name))
        broker.leftovers_remove()
        return 0
    # A lab of depth 0 is the one in which this very process runs.
    for lab in registry.running():
        if lab.depth > 0:
            registry.end(lab)
    broker.leftovers_remove()
    return 0


def do_list(_options, _script):
    for lab in registry.running():
        hosts = " ".join(f"{host['name']}(mtu {host['mtu']}, {host['mac']}"
                         + (f", {host['ip']})" if host["ip"] else ")")
                         for host in lab.hosts.values())
        print(f"{lab.name}: {lab.state['topology']}, holder {lab.pid}, {hosts}")
    return 0


def split_rsh(arguments):
    """Returns the host and the command of a command line as for rsh."""
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if len(option) == 2 and option[1] in RSH_OPTIONS_WITH_VALUE and rest:
            rest.pop(0)
    if len(rest) < 2:
        raise LabError("rsh-agent needs a host and a command: "
                       "lab rsh-agent [options] HOST CMD...", EXIT_USAGE)
    return rest[0].rpartition("@")[2], " ".join(rest[1:])


def do_rsh_agent(arguments, script):
    """Runs as an Open MPI plm_rsh_agent: --mca plm_rsh_agent '/path/lab rsh-agent'."""
    name, line = split_rsh(arguments)
    command = ["bash", "-c", line]
    if door.VARIABLE in os.environ:
        return door.knock(os.environ[door.VARIABLE], name, command)
    lab = registry.find(default_name())
    return run_in_host(lab, lab.host(name), command, script)


def do_mpirun(options, script):
    lab = registry.find(options.name)
    if options.broker and not options.show:
        os.environ["OMX_BROKER"] = broker.start(lab, script)
    argv = mpicli.prepare(lab, options, script)
    if options.show:
        print(shlex.join(argv))
        return 0
    if options.user is not None:
        return door.run_job(lab, options.user, argv, script)
    return run_in_host(lab, next(iter(lab.hosts.values())), argv, script)


def do_broker(options, script):
    print(broker.start(registry.find(options.name), script, options.policy))
    return 0


COMMANDS = {
    "up": do_up, "run": do_run, "exec": do_exec, "down": do_down, "list": do_list, "mpirun": do_mpirun,
    "broker": do_broker,
    "vm": vmcli.run,
    **faultcli.COMMANDS,
}
STARTS_A_COMMAND = ("run", "exec", "mpirun", "rsh-agent")


def main(script, arguments):
    command = arguments[0] if arguments else ""
    try:
        if command == "rsh-agent":
            return do_rsh_agent(arguments[1:], script)
        if arguments[:2] == ["vm", "rsh-agent"]:
            return vmcli.do_rsh_agent(arguments[2:], script, split_rsh)
        # Everything behind -- belongs to CMD.
        split = arguments.index("--") if "--" in arguments else len(arguments)
        options = make_parser().parse_args(arguments[:split])
        options.argv = arguments[split + 1:]
        if options.argv and options.command not in (*STARTS_A_COMMAND, "vm"):
            raise LabError(f"{options.command} takes no command", EXIT_USAGE)
        return COMMANDS[options.command](options, script)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        # An exit status of CMD must not be mistaken for ours.
        if error.status == EXIT_FAILED and command in STARTS_A_COMMAND:
            return EXIT_LAB
        return error.status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except PermissionError as error:
        print(f"lab: the kernel refused: {error}: run the lab as the user who started it, "
              "or as root", file=sys.stderr)
        return EXIT_UNABLE
