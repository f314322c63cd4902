# SPDX-License-Identifier: BSD-3-Clause
"""Builds a lab and becomes the process that holds it.

A lab has no name in any file system. It is one process, the *holder*, which is process 1 of a PID namespace and keeps
the hosts' namespaces open as file descriptors. When the holder ends, for whatever reason, the kernel kills all
processes of the lab and drops the namespaces, the cables and the mounts.

    caller ──fork──> holder (pid 1) ──fork──> one helper per host, short-lived:
                       │  keeps fds of        makes the host's mount, UTS and
                       │  every namespace     IPC namespace, sets up eth0
                       └─ memfd with the description of the lab (see registry)
"""
import errno
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import time

from . import kernel, marks, wire
from .errors import EXIT_FAILED, EXIT_UNABLE, LabError, unable

STATE_FD = 100  # the descriptor where the holder keeps its description


class Kind:
    """What tells the holders of one kind of lab from those of another, and from other processes."""

    def __init__(self, process_name, state_name):
        self.process_name = process_name
        self.state_name = state_name


NAMESPACES = Kind("omx-lab", "open-mx-lab")

# Evaluated before an ordinary user becomes root of a namespace of their own.
CALLER_IS_ROOT = os.geteuid() == 0

SIOCGIFFLAGS = 0x8913
IFF_RUNNING = 0x40
CARRIER_TIMEOUT_S = 5.0

FAMILIES = ("ipv4", "ipv6", "both")
ROUTER_IP = "10.77.0.254"  # on each of its ports
ROUTER_IP6 = "fd4f:4d58::fe"
ETHERNET_HEADER = 14

HOST_NAMESPACES = (
    ("mnt", kernel.CLONE_NEWNS),
    ("uts", kernel.CLONE_NEWUTS),
    ("ipc", kernel.CLONE_NEWIPC),
)


def describe(name, mtus, topology, family="ipv4", queues=1, cables=1, rate=None, long=None, port_queue=None, port_mark=None):
    """Returns the plain description of a lab, before any part of it exists."""
    hosts = []
    for i, mtu in enumerate(mtus, start=1):
        hosts.append({
            "name": f"h{i}",
            "mtu": mtu,
            # Locally administered, and the same in every run, so that traces can be compared.
            "mac": f"02:4f:4d:58:00:{i:02x}",
            "ip": f"10.77.0.{i}" if family in ("ipv4", "both") else None,
            "ip6": f"fd4f:4d58::{i:x}" if family in ("ipv6", "both") else None,
        })
    router = {"name": "router", "ip": ROUTER_IP} if topology == "router" else None
    return {"name": name, "topology": topology, "hosts": hosts, "queues": queues, "router": router,
            "cables": cables, "rate": None if long else rate, "long": long, "port_queue": port_queue, "port_mark": port_mark}


def start(lab, die_with_caller, kind=NAMESPACES, builder=None):
    """Builds the lab and returns the holder's process id.

    The caller is moved to the edge of the lab: its next children start in the lab's PID namespace.
    """
    if shutil.which("ip") is None:
        raise unable("the lab needs the program ip: install the package iproute2")
    lock = claim_name(lab["name"], kind)
    detach_namespaces()
    ready_read, ready_write = os.pipe()
    alive_read, alive_write = os.pipe()
    holder = os.fork()
    if holder == 0:
        os.close(ready_read)
        os.close(alive_write)
        hold(lab, lock, ready_write, alive_read, die_with_caller, kind, builder or build)
    os.close(ready_write)
    os.close(alive_read)
    lock.close()
    with os.fdopen(ready_read, "rb") as ready:
        answer = ready.read().decode()
    os.close(alive_write)  # only now, because the holder takes its closing for our end
    if answer != "ok":
        os.waitpid(holder, 0)
        status, _, message = answer.partition(" ")
        if not message:
            raise LabError("the lab's holder was killed while it built the lab: see dmesg")
        raise LabError(message, int(status))
    return holder


def claim_name(name, kind):
    """Claims the lab's name by an abstract socket, a lock that cannot outlive its owner.

    The PID namespace is part of the name, because labs are visible per PID namespace.
    """
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    space = os.stat("/proc/self/ns/pid").st_ino
    try:
        lock.bind(f"\0{kind.state_name}/{os.geteuid()}/{space}/{name}")
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise LabError(f"a lab named {name} is up already: choose another --name, "
                       f"or end it with: lab down --name {name}") from None
    return lock


def detach_namespaces():
    """Makes a new PID namespace, inside a new user namespace if the user is not root."""
    try:
        kernel.unshare(kernel.CLONE_NEWPID)
        return
    except OSError as error:
        if error.errno != errno.EPERM:
            raise unable(f"this kernel makes no PID namespace ({error.strerror}): "
                         "the lab needs CONFIG_PID_NS") from None
    uid, gid = os.geteuid(), os.getegid()
    try:
        kernel.unshare(kernel.CLONE_NEWUSER)
        write_file("/proc/self/setgroups", "deny")
        write_file("/proc/self/uid_map", f"0 {uid} 1")
        write_file("/proc/self/gid_map", f"0 {gid} 1")
        kernel.unshare(kernel.CLONE_NEWPID)
    except OSError as error:
        raise forbidden(error) from None


def forbidden(error):
    if CALLER_IS_ROOT:  # without CAP_SYS_ADMIN, or with a seccomp or AppArmor profile
        return unable(
            f"root may not make namespaces here ({error.strerror}), as in most containers: start the "
            "container with --privileged, or with --cap-add SYS_ADMIN --cap-add NET_ADMIN "
            "--security-opt apparmor=unconfined")
    return unable(
        f"this kernel lets an ordinary user make no usable user namespace ({error.strerror}): "
        "run the lab as root, or allow it with sysctl user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns")


def write_file(path, text):
    with open(path, "w", encoding="ascii") as out:
        out.write(text)


def hold(lab, lock, ready, alive, die_with_caller, kind, builder):
    """Runs the holder. Never returns, whatever happens."""
    try:
        # A caller that is killed before the lab is complete takes it along in any case.
        kernel.die_with_parent(signal.SIGKILL)
        # A blocked signal reaches process 1 even without a handler.
        signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGCHLD, signal.SIGTERM})
        os.setsid()
        forget_caller_files({ready, alive, lock.fileno()})
        answer = build_and_answer(lab, builder)
        # A caller that ended meanwhile closed its end of the pipe. For `run` this also covers an end before
        # die_with_parent() took effect.
        if select.select([alive], [], [], 0)[0]:
            return
        if answer == "ok":
            if not die_with_caller:
                kernel.outlive_parent()
            publish(lab, kind)
        os.write(ready, answer.encode())
        os.close(ready)
        if answer != "ok":
            return
        while signal.sigwait({signal.SIGCHLD, signal.SIGTERM}) == signal.SIGCHLD:
            reap_orphans()
    finally:
        os._exit(0)


def build_and_answer(lab, builder):
    try:
        builder(lab)
        return "ok"
    except LabError as error:
        return f"{error.status} {error}"
    except OSError as error:
        return f"{EXIT_FAILED} the lab could not be built: {error}"


def forget_caller_files(keep):
    """Closes the caller's files, so that a reader of the caller's output does not wait for the holder.

    Occupies STATE_FD, so that no namespace of a large lab gets that number, which publish() takes.
    """
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    for entry in os.listdir("/proc/self/fd"):
        fd = int(entry)
        if fd > 2 and fd not in keep:
            try:
                os.close(fd)
            except OSError:
                pass  # the descriptor of the listing itself
    os.dup2(0, STATE_FD, inheritable=False)
    os.chdir("/")


def reap_orphans():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def publish(lab, kind):
    state = os.memfd_create(kind.state_name)
    os.write(state, json.dumps(lab).encode())
    os.dup2(state, STATE_FD, inheritable=False)
    os.close(state)
    # Last of all, because a process of this name stands for a complete lab.
    kernel.set_process_name(kind.process_name)


def build(lab):
    make_mounts()
    for host in lab["hosts"]:
        host["net"] = make_network(host["ip6"])
    routes_ip6 = lab["router"] and lab["hosts"][0]["ip6"]
    lab["switch"] = make_network(routes_ip6) if lab["topology"] != "cable" else None
    lay_cables(lab)
    rooms = list(lab["hosts"])
    if lab["router"]:
        lab["router"]["net"] = lab["switch"]
        rooms.append(lab["router"])
    helpers = [spawn_helper(lab, host) for host in rooms]
    for helper in helpers:
        finish_helper(*helper)
    if lab["switch"] is not None:
        for host in lab["hosts"]:
            wait_for_carrier(host["port"])  # the holder still is in the switch
            if lab["port_queue"]:
                shape(host["port"], lab["rate"], port_burst(lab["rate"], host["mtu"]), lab["port_queue"])
            if lab["port_mark"]:
                marks.attach(host["port"], lab["rate"], lab["port_queue"], lab["port_mark"])
    if lab["long"]:
        wire.carry(lab["long"], [host["port"] for host in lab["hosts"]], max(host["mtu"] for host in lab["hosts"]))


def make_mounts():
    """Moves the holder into a mount namespace of its own, whose /proc is that of its PID namespace."""
    try:
        kernel.unshare(kernel.CLONE_NEWNS)
        # Slave: later mounts outside are seen inside, but not the other way round.
        kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_SLAVE)
        kernel.mount("proc", "/proc", "proc",
                     kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    except PermissionError as error:
        raise forbidden(error) from None


def make_network(with_ip6):
    """Moves the holder into a new network namespace and returns its descriptor.

    It never moves back to the network outside, which an ordinary user may not do.
    """
    kernel.unshare(kernel.CLONE_NEWNET)
    # Router solicitations and the like would disturb counts of frames. No other host can have our addresses
    # either.
    quiet = {"accept_ra": "0", "accept_dad": "0", "router_solicitations": "0",
             "keep_addr_on_down": "1"} if with_ip6 else {"disable_ipv6": "1"}
    for scope in ("all", "default"):
        for key, value in quiet.items():
            try:
                write_file(f"/proc/sys/net/ipv6/conf/{scope}/{key}", value)
            except FileNotFoundError:
                if with_ip6:
                    raise unable("this kernel has no IPv6: use --family ipv4") from None
    return os.open("/proc/self/ns/net", os.O_RDONLY)


def lay_cables(lab):
    # Explicit interface indices. If the two ends of a veth have the same index, the kernel takes the end for
    # a plain interface. Then it reports the carrier up to a second late, and drops frames until then.
    def end(number, host, cable=0):
        return (f"eth{cable} index {10 * (cable + 1) + number} address {mac_of(host, cable)} mtu {host['mtu']} "
                f"{queues}netns /proc/1/fd/{host['net']}")

    # Without a number the kernel uses one of each, too, but lets ethtool -L add some.
    queues = f"numtxqueues {lab['queues']} numrxqueues {lab['queues']} " if lab["queues"] > 1 else ""
    hosts = lab["hosts"]
    if lab["topology"] == "cable":
        first, second = hosts
        kernel.setns(first["net"], kernel.CLONE_NEWNET)
        run_ip([f"link add name {end(1, first, cable)} type veth peer name {end(2, second, cable)}"
                for cable in range(lab["cables"])])
        return
    # No spanning tree and no multicast snooping. So ports forward at once, and the switch sends no frames of
    # its own.
    bridged = [
        "link add name br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
        "link set dev br0 up",
    ]
    lines = [] if lab["router"] or lab["long"] else bridged
    for number, host in enumerate(hosts, start=1):
        port = host["port"] = f"port{number}"
        lines += [
            f"link add name {port} index {100 + number} mtu {host['mtu']} {queues}"
            f"type veth peer name {end(number, host)}",
            f"link set dev {port} up",
        ]
        if not lab["router"] and not lab["long"]:
            lines.append(f"link set dev {port} master br0")
        for ip, router, bits in addresses(host) if lab["router"] else ():
            lines += [f"addr add {router}/{bits} dev {port}", f"route add {ip} dev {port}"]
    kernel.setns(lab["switch"], kernel.CLONE_NEWNET)
    run_ip(lines)
    if lab["router"]:
        write_file("/proc/sys/net/ipv4/ip_forward", "1")
        if hosts[0]["ip6"]:
            write_file("/proc/sys/net/ipv6/conf/all/forwarding", "1")


def mac_of(host, cable):
    """Returns the MAC address of a host's port. That of the first cable is the host's own."""
    parts = host["mac"].split(":")
    return ":".join([*parts[:4], f"{int(parts[4], 16) + cable:02x}", parts[5]])


def addresses(host):
    """Returns each address with the router's of that family, and its number of bits."""
    both = ((host["ip"], ROUTER_IP, 32), (host["ip6"], ROUTER_IP6, 128))
    return [entry for entry in both if entry[0]]


def run_ip(lines):
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(lines) + "\n",
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        complaint = " ".join(done.stderr.split())
        raise LabError(f"ip could not set up the lab's network: {complaint}")


def wait_for_carrier(interface):
    """Waits until the kernel has noticed the carrier, because the interface drops frames before."""
    request = struct.pack("16sH22x", interface.encode(), 0)
    deadline = time.monotonic() + CARRIER_TIMEOUT_S
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as handle:
        while time.monotonic() < deadline:
            _, flags = struct.unpack("16sH22x", fcntl.ioctl(handle, SIOCGIFFLAGS, request))
            if flags & IFF_RUNNING:
                return
            time.sleep(0.001)
    raise LabError(f"{interface} has no carrier after {CARRIER_TIMEOUT_S} s")


def spawn_helper(lab, host):
    """Starts a helper, which makes the host's own namespaces and waits until they are held."""
    answer_read, answer_write = os.pipe()
    go_read, go_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(go_write)
        try:
            furnish_host(lab, host)
            os.write(answer_write, b"ok")
            os.close(answer_write)
            os.read(go_read, 1)
        except (LabError, OSError) as error:
            status = EXIT_UNABLE if isinstance(error, PermissionError) else EXIT_FAILED
            os.write(answer_write, f"{status} {error}".encode())
        finally:
            os._exit(0)
    os.close(answer_write)
    os.close(go_read)
    return host, pid, answer_read, go_write


def finish_helper(host, pid, answer, go):
    with os.fdopen(answer, "rb") as stream:
        text = stream.read().decode()
    if text != "ok":
        status, _, message = text.partition(" ")
        raise LabError(f"host {host['name']} could not be set up: {message or 'its helper died'}",
                       int(status or EXIT_FAILED))
    for kind, _ in HOST_NAMESPACES:
        host[kind] = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
    # A byte instead of only a close, because helpers that start later hold this end as well.
    os.write(go, b"x")
    os.close(go)
    os.waitpid(pid, 0)


def furnish_host(lab, host):
    kernel.setns(host["net"], kernel.CLONE_NEWNET)
    kernel.unshare(sum(flag for _, flag in HOST_NAMESPACES))
    socket.sethostname(host["name"])
    remount_sys()
    furnish_files(lab)
    if lab["port_mark"]:
        marks.let_tcp_take_part()
    if host is lab["router"]:
        run_ip(["link set dev lo up"])
        return
    lines = ["link set dev lo up", "link set dev eth0 up"]
    for ip, router, bits in addresses(host):
        lines.append(f"addr add {ip}/{bits if lab['router'] else 24 if bits == 32 else 64} dev eth0")
        if lab["router"]:
            lines += [f"route add {router} dev eth0", f"route add default via {router} dev eth0"]
    others = [f"eth{cable}" for cable in range(1, lab["cables"])]
    for number, name in enumerate(others, start=1):
        lines.append(f"link set dev {name} up")
        if host["ip"]:
            lines.append(f"addr add {host['ip'].replace('10.77.0.', f'10.77.{number}.')}/24 dev {name}")
        if host["ip6"]:
            lines.append(f"addr add {host['ip6'].replace('4d58::', f'4d58:{number}::')}/64 dev {name}")
    run_ip(lines)
    for name in ["eth0", *others]:
        wait_for_carrier(name)
        if lab["rate"] and not lab["port_queue"]:
            shape(name, lab["rate"])
        if lab["long"] or lab["port_queue"]:
            wire.offloads_end(name)


def shape(name, rate, burst="128kb", queue="4mb"):
    """Limits the rate at which frames leave by the interface. Those that the queue has no room for are lost."""
    done = subprocess.run(["tc", "qdisc", "replace", "dev", name, "root", "tbf", "rate", rate, "burst", str(burst),
                           "limit", str(queue)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"tc could not give {name} the rate {rate}: {' '.join(done.stderr.split())}")


def port_burst(rate, mtu):
    """Returns how many bytes may leave a port at once: two frames, or 0.1 ms of its rate."""
    return max(2 * (mtu + ETHERNET_HEADER), wire.parse_rate(rate) // 80_000)


def remount_sys():
    """Mounts /sys again, because it shows the network namespace of the process that mounted it.

    File systems mounted below the old one (cgroups, tracing) are carried over.
    """
    with open("/proc/self/mountinfo", encoding="utf-8") as info:
        points = sorted({line.split()[4] for line in info})
    carried = []
    for point in points:
        below_another = any(point.startswith(path + "/") for path, _ in carried)
        if point.startswith("/sys/") and not below_another:
            carried.append((point, os.open(point, os.O_PATH)))
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("sysfs", "/sys", "sysfs", flags)
    for point, fd in carried:
        if point != "/sys/fs/bpf" and os.path.isdir(point):
            kernel.mount(f"/proc/self/fd/{fd}", point, None, kernel.MS_BIND | kernel.MS_REC)
        os.close(fd)
    try:
        # Private to the host: pinned eBPF objects (see faults) go away with it.
        kernel.mount("bpf", "/sys/fs/bpf", "bpf", flags)
    except OSError:
        pass  # an ordinary user may not mount it, and loads no eBPF either


def furnish_files(lab):
    """Gives each host its own /dev/shm and the names of all hosts."""
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=1777")
    if not os.path.exists("/etc/hosts"):
        return
    lines = ["127.0.0.1 localhost"]
    lines += [f"{ip} {host['name']}" for host in lab["hosts"] for ip, _, _ in addresses(host)]
    source = "/dev/shm/hosts"
    write_file(source, "\n".join(lines) + "\n")
    os.chmod(source, 0o644)
    kernel.mount(source, "/etc/hosts", None, kernel.MS_BIND)
    os.unlink(source)  # the mount keeps the file
