# SPDX-License-Identifier: BSD-3-Clause
"""Builds a lab of virtual machines, in the process that holds it.

As in the lab of namespaces, the holder is process 1 of a PID namespace. Its network has the switches and the monitors.
When it ends, however it ends, the kernel ends the virtual machines and drops the network.

    holder (pid 1, own network) ──> QEMU of h1, QEMU of h2 ...
      bridge "control" ── 10.78.0.N of each guest, where its agent listens
      bridge "cableK"  ── NIC K of each guest        (or a socket from QEMU to QEMU)
"""
import contextlib
import os
import signal
import socket
import time

from .. import holder
from ..errors import LabError, unable
from . import initramfs, machine, models, packages

KIND = holder.Kind("omx-vm-lab", "open-mx-vm-lab")
CONTROL_PORT = 4077
CONTROL_NET = "10.78.0."
TRY_KVM_S = 20
# QEMU 10 aborts at times while a guest sets up its devices, with several threads of TCG (iotlb_to_section).
STARTS = 3
TAP_MTU = 65521  # a tap takes no more. Guests choose their own


def describe(name, hosts, nics, options):
    """Returns the plain description of a lab."""
    lab = {"name": name, "topology": options["topology"], "nics": nics, "queues": options["queues"],
           "memory": options["memory"], "processors": options["processors"], "kernel": options["kernel"],
           "accelerator": options["accelerator"], "timeout": options["timeout"], "hosts": []}
    for number in range(1, hosts + 1):
        lab["hosts"].append({
            "name": f"h{number}", "number": number, "ip": f"10.77.0.{number}", "ip6": f"fd4f:4d58::{number:x}",
            "control": f"{CONTROL_NET}{number}",
            "nics": [{"name": f"eth{cable}", "mac": f"02:4f:4d:58:{cable:02x}:{number:02x}",
                      "ip": f"10.77.{cable}.{number}", "ip6": f"fd4f:4d58:0:{cable:x}::{number:x}",
                      "mtu": options["mtu"]} for cable in range(len(nics))],
        })
    return lab


def start(lab):
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        raise unable("virtual machines need tap devices, and /dev/net/tun cannot be opened: "
                     "run as root, on a kernel with CONFIG_TUN")
    # What must be fetched is fetched here, where a message of progress still reaches the user.
    lab["found"] = None
    qemu, kernel_files = packages.find_qemu(), packages.find_kernel(lab["kernel"])
    lab["qemu"], lab["release"] = qemu.version, kernel_files.release
    return holder.start(lab, die_with_caller=False, kind=KIND,
                        builder=lambda built: build(built, qemu, kernel_files))


def build(lab, qemu, kernel_files):
    holder.make_mounts()
    holder.make_network(with_ip6=False)
    lay_cables(lab)
    for accelerator in accelerators(lab, kernel_files):
        limit = TRY_KVM_S if accelerator == "kvm" and lab["accelerator"] == "auto" else lab["timeout"]
        for _ in range(STARTS):
            machines = [boot(lab, host, qemu, kernel_files, accelerator) for host in lab["hosts"]]
            problem = wait_for_agents(lab, machines, limit)
            if problem is None:
                remember(kernel_files, accelerator, lab["accelerator"])
                lab["found"] = accelerator
                return
            aborted = any(process.poll() == -signal.SIGABRT for process in machines)
            for process in machines:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if not aborted:
                break
        if accelerator == "tcg" or lab["accelerator"] != "auto":
            raise LabError(problem)


def accelerators(lab, kernel_files):
    """Returns what to try: KVM once for each pair of kernels, as one that hangs there costs its time limit."""
    if lab["accelerator"] != "auto":
        return [lab["accelerator"]]
    usable = os.access("/dev/kvm", os.R_OK | os.W_OK)
    with contextlib.suppress(OSError), open(verdict_file(kernel_files), encoding="ascii") as file:
        return ["kvm", "tcg"] if usable and file.read().strip() == "kvm" else ["tcg"]
    return ["kvm", "tcg"] if usable else ["tcg"]


def verdict_file(kernel_files):
    return os.path.join(packages.cache_folder(), f"accelerator-{os.uname().release}-{kernel_files.release}")


def remember(kernel_files, accelerator, asked):
    if asked == "auto" and os.access("/dev/kvm", os.R_OK | os.W_OK):
        with contextlib.suppress(OSError), open(verdict_file(kernel_files), "w", encoding="ascii") as file:
            file.write(accelerator)


def lay_cables(lab):
    bridge = "type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
    lines = ["link set dev lo up", f"link add name control {bridge}", "link set dev control up",
             f"addr add {CONTROL_NET}254/24 dev control"]
    taps = [(machine.control_tap(host), "control", False) for host in lab["hosts"]]
    if lab["topology"] == "bridge":
        for cable in range(len(lab["nics"])):
            lines += [f"link add name cable{cable} {bridge}", f"link set dev cable{cable} up"]
            taps += [(models.tap(host, cable), f"cable{cable}", models.uses_queues(lab, cable))
                     for host in lab["hosts"]]
    for name, switch, queues in taps:
        lines += [f"tuntap add dev {name} mode tap vnet_hdr{' multi_queue' if queues else ''}",
                  f"link set dev {name} mtu {TAP_MTU if switch != 'control' else 1500}",
                  f"link set dev {name} master {switch}", f"link set dev {name} up"]
    holder.run_ip(lines)


def boot(lab, host, qemu, kernel_files, accelerator):
    config = {
        "name": host["name"], "nics": host["nics"],
        "hosts": [{key: other[key] for key in ("name", "ip", "ip6", "control")} for other in lab["hosts"]],
        "control": {"mac": machine.CONTROL_MAC.format(host["number"]), "ip": host["control"], "port": CONTROL_PORT},
    }
    image = os.memfd_create("initramfs", 0)
    with os.fdopen(os.dup(image), "wb") as out:
        out.write(initramfs.make(kernel_files, config))
    if "console" in host:
        os.close(host["console"])
    host["console"] = machine.console_file()
    files = {"initramfs": image, "console": host["console"]}
    process = machine.start(machine.command_line(lab, host, qemu, kernel_files, files, accelerator), qemu, files)
    os.close(image)
    return process


def wait_for_agents(lab, machines, limit_s):
    """Waits until all guests take commands. Returns why they do not, or None."""
    deadline = time.monotonic() + limit_s
    for host, process in zip(lab["hosts"], machines):
        while not agent_listens(host):
            if process.poll() is not None:
                return f"the virtual machine {host['name']} ended: {console_end(host)}"
            if time.monotonic() > deadline:
                return f"the guest {host['name']} was not up after {limit_s} s (--timeout): {console_end(host)}"
            time.sleep(0.1)
    return None


def agent_listens(host):
    try:
        socket.create_connection((host["control"], CONTROL_PORT), timeout=0.5).close()
    except OSError:
        return False
    return True


def console_end(host):
    text = os.pread(host["console"], 1 << 20, 0).decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-4:]) or "its console is empty"
