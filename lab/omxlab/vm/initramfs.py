# SPDX-License-Identifier: BSD-3-Clause
"""Makes the initramfs of a guest: what its kernel needs to reach the file system of the machine."""
import io
import json
import lzma
import os
import shlex

from ..errors import unable
from . import packages

GUEST = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "guest")
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
FILE, FOLDER, DEVICE = 0o100755, 0o040755, 0o020600
CONSOLE = (5, 1)


class Archive:
    """Writes a cpio archive of the format newc, which the kernel unpacks."""

    def __init__(self):
        self.out = io.BytesIO()
        self.number = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.number += 1
        encoded = os.fsencode(name) + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        self.out.write(b"070701" + b"".join(b"%08x" % field for field in fields) + encoded)
        self.pad()
        self.out.write(data)
        self.pad()

    def pad(self):
        self.out.write(b"\0" * (-self.out.tell() % 4))

    def finish(self):
        self.add("TRAILER!!!", 0)
        return self.out.getvalue()


def module_name(path):
    return os.path.basename(path).split(".")[0].replace("-", "_")


def modules_in_order(kernel):
    """Returns the paths of the modules, those that others need first."""
    needs, paths = {}, {}
    with open(os.path.join(kernel.modules, kernel.release, "modules.dep"), encoding="ascii") as index:
        for line in index:
            path, _, needed = line.partition(":")
            paths[module_name(path)] = path
            needs[path] = needed.split()
    order = []
    for wanted in MODULES:
        if wanted not in paths:
            continue  # built in
        for path in [*reversed(needs[paths[wanted]]), paths[wanted]]:
            if path not in order:
                order.append(path)
    return order


def read_module(path):
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".xz"):
        return lzma.decompress(data)
    if not path.endswith(".ko"):
        raise unable(f"the module {path} is compressed in a way that the lab cannot undo: choose another --kernel")
    return data


def make(kernel, config):
    """Returns the archive for one guest."""
    archive = Archive()
    for folder in ("bin", "dev", "modules"):
        archive.add(folder, FOLDER)
    archive.add("dev/console", DEVICE, device=CONSOLE)
    order = []
    for path in modules_in_order(kernel):
        name = module_name(path) + ".ko"
        archive.add(f"modules/{name}", FILE, read_module(os.path.join(kernel.modules, kernel.release, path)))
        order.append(name)
    archive.add("modules/order", FILE, "".join(f"{name}\n" for name in order).encode())
    for name, path in (("bin/busybox", packages.program("busybox")), ("init", os.path.join(GUEST, "init")),
                       ("agent.py", os.path.join(GUEST, "agent.py")),
                       ("frames.py", os.path.join(os.path.dirname(os.path.abspath(__file__)), "frames.py"))):
        with open(path, "rb") as file:
            archive.add(name, FILE, file.read())
    archive.add("config.sh", FILE, f"KERNEL_MODULES={shlex.quote(os.path.realpath(kernel.modules))}\n".encode())
    archive.add("config.json", FILE, json.dumps(dict(config, kmod=packages.program("kmod"))).encode())
    return archive.finish()
