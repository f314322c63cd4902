# SPDX-License-Identifier: BSD-3-Clause
"""Process 1 of a guest: loads drivers, names NICs, and runs what `lab vm exec` asks for.

    lab vm exec ──TCP──> eth of a network namespace of its own ──> agent ──fork──> session ──fork──> CMD
    a process of this guest ──abstract socket──> agent ──fork──> session ──TCP──> agent of another guest

The control NIC is in a namespace of its own, so that Open-MX does not see it.
"""
import ctypes
import glob
import json
import os
import pwd
import resource
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time

import frames  # omxlab/vm/frames.py

FOLDER = "/run/open-mx-vm"
CLONE_NEWNET = 0x40000000
NETLINK_KOBJECT_UEVENT = 15
NIC_TIMEOUT_S = 20

libc = ctypes.CDLL(None, use_errno=True)


def main():
    with open(f"{FOLDER}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    os.environ.update(PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME="/root", LC_ALL="C.UTF-8")
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    machine_set_up(config)
    drivers_load()
    outside = nics_set_up(config)
    events = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT)
    events.bind((0, 1))
    inside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    inside.bind(frames.SERVICE)
    inside.listen(64)
    serve(config, outside, inside, events)


def machine_set_up(config):
    for name in ("modprobe", "lsmod", "rmmod", "insmod", "modinfo"):
        if not os.path.exists(f"/sbin/{name}"):
            os.symlink(config["kmod"], f"/sbin/{name}")
    socket.sethostname(config["name"])
    if os.path.lexists("/etc/hosts"):
        os.remove("/etc/hosts")  # it may be a link or a mount of a container
    with open("/etc/hosts", "w", encoding="ascii") as hosts:
        hosts.write("127.0.0.1 localhost\n")
        for host in config["hosts"]:
            hosts.write(f"{host['ip']} {host['name']}\n{host['ip6']} {host['name']}\n")


def drivers_load():
    # Virtual devices of a bus of their own appear with the driver of the bus.
    for pattern in ("/sys/bus/pci/devices/*/modalias", "/sys/bus/virtio/devices/*/modalias"):
        aliases = []
        for path in glob.glob(pattern):
            with open(path, encoding="ascii") as file:
                aliases.append(file.read().strip())
        wanted = [alias for alias in aliases if "bc02" in alias or alias.startswith("virtio:")]
        if wanted:
            subprocess.run(["modprobe", "-a", "-b", "-q", *wanted], check=False)


def nics_set_up(config):
    """Names the NICs and gives them addresses. Returns the socket where commands are awaited."""
    control = config["control"]
    wanted = {nic["mac"] for nic in config["nics"]} | {control["mac"]}
    deadline = time.monotonic() + NIC_TIMEOUT_S
    while not wanted <= set(nics_present()):
        if time.monotonic() > deadline:
            print("agent: NICs did not appear:", *sorted(wanted - set(nics_present())))
            break
        time.sleep(0.05)
    present = nics_present()
    # First out of each other's way.
    ip([f"link set dev {name} name nic{number}" for number, name in enumerate(present.values())])
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    check(libc.unshare(CLONE_NEWNET), "unshare")
    control["net"] = os.open("/proc/self/ns/net", os.O_RDONLY)
    check(libc.setns(own, CLONE_NEWNET), "setns")
    ip([f"link set dev {nics_present()[control['mac']]} netns /proc/1/fd/{control['net']}"])
    check(libc.setns(control["net"], CLONE_NEWNET), "setns")
    mac_to_name = netns_links()
    name = mac_to_name[control["mac"]]
    ip([f"addr add {control['ip']}/24 dev {name}", f"link set dev {name} up", "link set dev lo up"])
    listener = socket.create_server((control["ip"], control["port"]), backlog=64)
    check(libc.setns(own, CLONE_NEWNET), "setns")
    ip(["link set dev lo up"])
    for nic in config["nics"]:
        nic_configure(nic)
    return listener


def nics_present():
    """Returns the names of the NICs by their addresses, as /sys shows them for the namespace of its mount."""
    found = {}
    for path in glob.glob("/sys/class/net/*/address"):
        name = path.split("/")[4]
        if os.path.exists(f"/sys/class/net/{name}/device"):
            with open(path, encoding="ascii") as file:
                found[file.read().strip()] = name
    return found


def netns_links():
    """Returns the names of the links of the present namespace by their addresses. /sys does not follow setns."""
    links = json.loads(subprocess.run(["ip", "-j", "link"], stdout=subprocess.PIPE, check=True).stdout)
    return {link["address"]: link["ifname"] for link in links if "address" in link}


def nic_configure(nic):
    name = nics_present().get(nic["mac"])
    if name is None:
        return
    if name != nic["name"]:
        ip([f"link set dev {name} down", f"link set dev {name} name {nic['name']}"])
    ip([f"link set dev {nic['name']} mtu {nic['mtu']}"])
    ip([f"link set dev {nic['name']} up", f"addr add {nic['ip']}/24 dev {nic['name']}",
        f"addr add {nic['ip6']}/64 dev {nic['name']} nodad"])


def ip(lines):
    done = subprocess.run(["ip", "-force", "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print("agent: ip:", " ".join(done.stdout.split()), "in:", "; ".join(lines))


def check(result, what):
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def serve(config, outside, inside, events):
    print(f"agent: {config['name']} is ready", flush=True)
    chosen = selectors.DefaultSelector()
    for listener in (outside, inside, events):
        chosen.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in chosen.select(timeout=1):
            if key.fileobj is events:
                device_changed(config, events.recv(16384))
                continue
            connection, _ = key.fileobj.accept()
            if os.fork() == 0:
                session_run(config, connection, key.fileobj is inside)
            connection.close()
        reap()


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def device_changed(config, event):
    """Sets up a NIC that was plugged in, as a service of a real host would."""
    fields = dict(part.split("=", 1) for part in event.decode(errors="replace").split("\0") if "=" in part)
    if fields.get("ACTION") != "add":
        return
    if fields.get("SUBSYSTEM") in ("pci", "virtio") and "MODALIAS" in fields:
        subprocess.run(["modprobe", "-b", "-q", fields["MODALIAS"]], check=False)
    elif fields.get("SUBSYSTEM") == "net" and os.path.exists(f"/sys/class/net/{fields.get('INTERFACE')}/device"):
        for nic in config["nics"]:
            if nics_present().get(nic["mac"]) == fields["INTERFACE"]:
                nic_configure(nic)


def session_run(config, connection, local):
    """Serves one connection in a process of its own. Never returns."""
    try:
        request = json.loads(frames.receive(connection)[1])
        if local:
            _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid != 0:
                request["user"] = uid  # no one becomes another user by way of the agent
        other = next((host for host in config["hosts"] if request.get("host") in (host["name"], host["ip"])), None)
        if other is None or other["name"] == config["name"]:
            command_run(connection, request)
        else:
            relay(config, connection, request, other)
    except Exception as error:  # noqa: BLE001  (whatever it was, the other end must learn of it)
        try:
            frames.send(connection, b"X", json.dumps({"status": 125, "error": f"the agent failed: {error!r}"}).encode())
        except OSError:
            pass
    finally:
        os._exit(0)


def user_become(uid):
    try:
        gid = pwd.getpwuid(uid).pw_gid
    except KeyError:
        gid = uid
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def command_run(connection, request):
    def prepare():
        os.setsid()
        if request.get("user"):
            user_become(request["user"])

    folder = request["cwd"] if os.path.isdir(request["cwd"]) else "/"
    try:
        process = subprocess.Popen(request["argv"], env=request["env"], cwd=folder, stdin=subprocess.PIPE, bufsize=0,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare)
    except OSError as error:
        status, reason = (127, "there is no such command") if isinstance(error, FileNotFoundError) else (
            126, error.strerror)
        answer = {"status": status, "error": f"cannot run {request['argv'][0]}: {reason}"}
        frames.send(connection, b"X", json.dumps(answer).encode())
        return
    status = command_attend(connection, process)
    frames.send(connection, b"X", json.dumps({"status": status}).encode())


def command_attend(connection, process):
    """Moves bytes until the command ends. It does not wait for what the command left running."""
    chosen = selectors.DefaultSelector()
    chosen.register(connection, selectors.EVENT_READ)
    ended = os.pidfd_open(process.pid)
    chosen.register(ended, selectors.EVENT_READ)
    letters = {process.stdout: b"O", process.stderr: b"E"}
    for pipe in letters:
        os.set_blocking(pipe.fileno(), False)
        chosen.register(pipe, selectors.EVENT_READ)
    while True:
        over = False
        for key, _ in chosen.select():
            if key.fileobj in letters:
                data = pipe_read(key.fileobj)
                if data == b"":
                    chosen.unregister(key.fileobj)
                elif data:
                    frames.send(connection, letters[key.fileobj], data)
            elif key.fileobj is connection:
                order_obey(connection, process)
            else:
                over = True
        if over:
            status = process.wait()
            for pipe, letter in letters.items():
                while data := pipe_read(pipe):
                    frames.send(connection, letter, data)
            return 128 - status if status < 0 else status


def pipe_read(pipe):
    """Returns what is there: None for nothing now, empty at the end."""
    try:
        return os.read(pipe.fileno(), frames.CHUNK)
    except BlockingIOError:
        return None


def order_obey(connection, process):
    try:
        kind, data = frames.receive(connection)
    except (EOFError, OSError):
        os.killpg(process.pid, signal.SIGKILL)  # who asked for the command has gone
        os._exit(0)
    try:
        if kind == b"S":
            number = int(data)
            # Those of a terminal go to all of its processes, others to the one that was started.
            (os.killpg if number in (signal.SIGINT, signal.SIGQUIT) else os.kill)(process.pid, number)
        elif data:
            process.stdin.write(data)
        else:
            process.stdin.close()
    except (BrokenPipeError, ProcessLookupError, ValueError):
        pass  # the command has closed its input, or ended


def relay(config, connection, request, other):
    """Passes a session on to the agent of another guest."""
    check(libc.setns(config["control"]["net"], CLONE_NEWNET), "setns")
    far = socket.create_connection((other["control"], config["control"]["port"]), timeout=30)
    far.settimeout(None)
    frames.send(far, b"Q", json.dumps(request).encode())
    chosen = selectors.DefaultSelector()
    chosen.register(connection, selectors.EVENT_READ, far)
    chosen.register(far, selectors.EVENT_READ, connection)
    while True:
        for key, _ in chosen.select():
            data = key.fileobj.recv(frames.CHUNK)
            if not data:
                return
            key.data.sendall(data)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # noqa: BLE001
        print(f"agent: failed: {error!r}", file=sys.stderr, flush=True)
        raise
