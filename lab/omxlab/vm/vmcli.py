# SPDX-License-Identifier: BSD-3-Clause
"""The commands `lab vm ...`: hosts as virtual machines."""
import os
import shlex
import sys

from .. import mpicli, registry
from ..arguments import number
from ..errors import EXIT_FAILED, EXIT_LAB, EXIT_USAGE, LabError
from . import cable, machine, models, packages, session, vmholder

DESCRIPTION = """\
Hosts as virtual machines, with Debian's kernel and the drivers of real NICs, emulated by QEMU.

  lab vm up --nic igb --hosts 2; lab vm exec h1 -- omx info; lab vm down
"""
STARTS_A_COMMAND = ("exec", "mpirun", "rsh-agent")
UP = "lab vm up"
MOST_HOSTS, MOST_CABLES, MOST_QUEUES = 4, 4, 8


def add_commands(parser, add_name, default_name):
    commands = parser.add_subparsers(dest="vm_command", required=True, metavar="COMMAND")

    def command(name, text, usage=None, host=False):
        sub = commands.add_parser(name, help=text, description=text, usage=usage)
        add_name(sub, default_name)
        if host:
            sub.add_argument("host", metavar="HOST")
        return sub

    add_up(command("up", "start virtual machines that stay until `lab vm down`"))
    sub = command("exec", "run CMD in a guest", "lab vm exec [--name NAME] [--user UID] HOST -- CMD...", host=True)
    sub.add_argument("--user", type=mpicli.parse_user, metavar="UID", help="as this ordinary user")
    sub = command("down", "end the virtual machines")
    sub.add_argument("--all", action="store_true", help="of every lab of this user")
    command("list", "labs of virtual machines that are up")
    command("console", "what a guest's kernel said", host=True)
    command("monitor", "give QEMU's monitor a command", "lab vm monitor [--name NAME] HOST -- COMMAND...", host=True)
    for name, text in (("cut", "take a guest's carrier away"), ("mend", "give it back"),
                       ("unplug", "take a guest's NIC out of its slot"), ("plug", "put it back")):
        sub = command(name, text, host=True)
        sub.add_argument("--cable", type=number(0, MOST_CABLES - 1), default=0, metavar="K", help="of ethK (default 0)")
    sub = command("fetch", "fetch QEMU and a kernel, as up does")
    add_kernel(sub)
    mpicli.add_command(lambda name, text, usage: commands.add_parser(name, help=text, usage=usage), add_name, default_name)
    commands.add_parser("rsh-agent", add_help=False, help="called like rsh, for Open MPI in a guest")


def add_kernel(sub):
    sub.add_argument("--kernel", metavar="RELEASE",
                     help="Debian release of the kernel, such as bookworm-backports, trixie, sid (default: this machine's)")


def add_up(sub):
    sub.add_argument("--hosts", type=number(1, MOST_HOSTS), default=2, metavar="N", help="guests h1..hN (default 2)")
    sub.add_argument("--nic", type=models.parse_models, default=["virtio-net"], metavar="MODEL[,M2..]",
                     help=f"{', '.join(models.MODELS)}: of all cables, or of each (default virtio-net)")
    sub.add_argument("--cables", type=number(1, MOST_CABLES), metavar="N",
                     help="NICs of each guest, eth0 and up (default: one for each model)")
    sub.add_argument("--queues", type=number(1, MOST_QUEUES), default=2, metavar="N",
                     help="queues of virtio-net; other models have their own (default 2)")
    sub.add_argument("--mtu", type=number(68, 65500), default=1500, metavar="M", help="MTU of all NICs (default 1500)")
    sub.add_argument("--topology", choices=("bridge", "cable"), default="bridge",
                     help="bridge: switches, one for each cable (default); cable: sockets between two QEMUs")
    sub.add_argument("--memory", type=number(256, 65536), default=768, metavar="MB", help="of each guest (default 768)")
    sub.add_argument("--processors", type=number(1, 64), default=2, metavar="N", help="of each guest (default 2)")
    sub.add_argument("--accelerator", choices=("auto", "kvm", "tcg"), default="auto",
                     help="auto: KVM if a guest starts by it, else TCG, which emulates every instruction")
    sub.add_argument("--timeout", type=number(1, 3600), default=240, metavar="S",
                     help="seconds that guests may take to start (default 240)")
    add_kernel(sub)


def find(options):
    return registry.find(options.name, vmholder.KIND, UP)


def do_up(options, _script):
    cables = options.cables or len(options.nic)
    nics = models.for_cables(options.nic, cables)
    if options.topology == "cable" and options.hosts != 2:
        raise LabError("a cable has two ends: use --hosts 2, or --topology bridge", EXIT_USAGE)
    if options.topology == "cable":
        options.queues = 1  # a socket has no queues
    vmholder.start(vmholder.describe(options.name, options.hosts, nics, vars(options)))
    return 0


def do_fetch(options, _script):
    qemu, kernel = packages.find_qemu(), packages.find_kernel(options.kernel)
    print(f"QEMU {qemu.version}: {qemu.program}\nkernel {kernel.release}: {kernel.image}")
    return 0


def do_exec(options, script):
    if not options.argv:
        raise LabError("exec needs a command: lab vm exec HOST -- CMD...", EXIT_USAGE)
    lab = find(options)
    return run_in_guest(lab, lab.host(options.host), options.argv, script, options.user)


def run_in_guest(lab, host, argv, script, user=None):
    environment = dict(os.environ, LAB=script, LAB_NAME=lab.name, LAB_HOST=host["name"])
    return session.run(session.connect(lab, host), host["name"], argv, environment, user)


def do_down(options, _script):
    for lab in registry.running(vmholder.KIND) if options.all else [find(options)]:
        registry.end(lab)
    return 0


def do_list(_options, _script):
    for lab in registry.running(vmholder.KIND):
        hosts = " ".join(f"{host['name']}({host['ip']})" for host in lab.hosts.values())
        print(f"{lab.name}: {','.join(lab.state['nics'])}, Linux {lab.state['release']}, QEMU {lab.state['qemu']} "
              f"by {lab.state['found']}, holder {lab.pid}, {hosts}")
    return 0


def do_console(options, _script):
    lab = find(options)
    with open(lab.fd_path(lab.host(options.host)["console"]), encoding="utf-8", errors="replace") as console:
        sys.stdout.write(console.read().replace("\r", ""))
    return 0


def do_monitor(options, _script):
    if not options.argv:
        raise LabError("monitor needs a command: lab vm monitor HOST -- info network", EXIT_USAGE)
    lab = find(options)
    session.join_network(lab)
    print(machine.ask_monitor(lab.host(options.host), " ".join(options.argv)))
    return 0


def change(action):
    def do(options, _script):
        lab = find(options)
        session.join_network(lab)
        action(lab, lab.host(options.host), options.cable)
        return 0

    return do


def do_mpirun(options, script):
    lab = find(options)
    if options.broker:
        raise LabError("guests have no broker of the lab: leave --broker out, or start omxd with lab vm exec", EXIT_USAGE)
    argv = mpicli.prepare(lab, options, script, "vm rsh-agent")
    if options.show:
        print(shlex.join(argv))
        return 0
    return run_in_guest(lab, next(iter(lab.hosts.values())), argv, script, options.user)


def do_rsh_agent(arguments, script, split_rsh):
    host, command = split_rsh(arguments)
    if not session.inside_guest():
        raise LabError("lab vm rsh-agent is for programs in a guest: use lab vm exec here", EXIT_USAGE)
    environment = dict(os.environ, LAB=script, LAB_HOST=host)
    return session.run(session.connect_inside(), host, ["bash", "-c", command], environment)


COMMANDS = {
    "up": do_up, "exec": do_exec, "down": do_down, "list": do_list, "console": do_console, "monitor": do_monitor,
    "fetch": do_fetch, "mpirun": do_mpirun,
    "cut": change(lambda lab, host, which: cable.set_carrier(lab, host, which, False)),
    "mend": change(lambda lab, host, which: cable.set_carrier(lab, host, which, True)),
    "unplug": change(cable.unplug), "plug": change(cable.plug),
}


def run(options, script):
    if options.argv and options.vm_command not in (*STARTS_A_COMMAND, "monitor"):
        raise LabError(f"vm {options.vm_command} takes no command", EXIT_USAGE)
    try:
        return COMMANDS[options.vm_command](options, script)
    except LabError as error:
        # An exit status of CMD must not be mistaken for ours.
        if error.status == EXIT_FAILED and options.vm_command in STARTS_A_COMMAND:
            raise LabError(str(error), EXIT_LAB) from None
        raise
