# SPDX-License-Identifier: BSD-3-Clause
"""One virtual machine: QEMU's command line, its start and its monitor."""
import os
import socket
import subprocess

from ..errors import LabError
from . import models

MONITOR_TIMEOUT_S = 20
PROMPT = b"(qemu) "
CONTROL_MAC = "02:4f:4d:58:ff:{:02x}"
CPU = {"kvm": "host", "tcg": "max"}
ACCELERATORS = {"kvm": "kvm", "tcg": "tcg,thread=multi,tb-size=256"}


def monitor_name(host):
    return f"\0omx-monitor-{host['name']}"


def command_line(lab, host, qemu, kernel, files, accelerator):
    """Returns QEMU's command line. `files` has the descriptors of the initramfs and the console."""
    line = [
        qemu.program, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", *qemu.options,
        "-M", "q35", "-accel", ACCELERATORS[accelerator], "-cpu", CPU[accelerator],
        "-smp", str(lab["processors"]), "-m", str(lab["memory"]),
        "-kernel", kernel.image, "-initrd", f"/proc/self/fd/{files['initramfs']}",
        "-append", "console=ttyS0 net.ifnames=0 mitigations=off panic=-1 quiet",
        "-chardev", f"file,id=console,path=/proc/self/fd/{files['console']}", "-serial", "chardev:console",
        # Abstract sockets belong to the lab's network, and go with it.
        "-chardev", f"socket,id=monitor,path={monitor_name(host)[1:]},abstract=on,server=on,wait=off",
        "-mon", "chardev=monitor",
        "-fsdev", "local,id=machine,path=/,security_model=none,readonly=on,multidevs=remap",
        "-device", "virtio-9p-pci,fsdev=machine,mount_tag=machine", "-device", "virtio-rng-pci",
        "-netdev", f"tap,id=control,ifname={control_tap(host)},script=no,downscript=no,vhost=off",
        "-device", f"virtio-net-pci,netdev=control,mac={CONTROL_MAC.format(host['number'])},romfile=",
    ]
    for cable in range(len(lab["nics"])):
        line += ["-device", f"pcie-root-port,id=port{cable},chassis={cable + 1},slot={cable + 1}",
                 "-netdev", models.netdev(lab, host, cable), "-device", models.device(lab, host, cable)]
    return line


def control_tap(host):
    return f"ctl{host['number']}"


def start(line, qemu, files):
    return subprocess.Popen(line, env=qemu.environment, pass_fds=list(files.values()), stdin=subprocess.DEVNULL,
                            stdout=files["console"], stderr=files["console"], start_new_session=True)


def runs(host):
    """Returns whether the virtual machine is there at all. The caller is in the lab's network."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as monitor:
        return monitor.connect_ex(monitor_name(host)) == 0


def ask_monitor(host, command):
    """Gives QEMU's monitor a command and returns its answer. The caller is in the lab's network."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as monitor:
        monitor.settimeout(MONITOR_TIMEOUT_S)
        try:
            monitor.connect(monitor_name(host))
            read_to_prompt(monitor)
            monitor.sendall(command.encode() + b"\n")
            answer = read_to_prompt(monitor)
        except (OSError, EOFError) as error:
            raise LabError(f"the monitor of {host['name']} does not answer ({error}): its machine has ended, "
                           "see lab vm console") from None
    # The line editor repeats what was typed, letter by letter, each with escape sequences behind it.
    _, _, text = answer.partition(b"\n")
    return text.decode(errors="replace").strip()


def read_to_prompt(monitor):
    data = b""
    while not data.endswith(PROMPT):
        part = monitor.recv(65536)
        if not part:
            raise EOFError("it closed the connection")
        data += part
    return data.removesuffix(PROMPT)


def console_file():
    return os.memfd_create("console", 0)
