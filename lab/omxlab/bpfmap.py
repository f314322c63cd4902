# SPDX-License-Identifier: BSD-3-Clause
"""Pinned eBPF maps through the bpf() system call, so that no tool is needed."""
import ctypes
import os
import struct

from .errors import unable
from .kernel import check, libc

SYSCALL_NUMBERS = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "ppc64le": 361, "s390x": 351}

BPF_MAP_LOOKUP_ELEM = 1
BPF_MAP_UPDATE_ELEM = 2
BPF_OBJ_GET = 7


def bpf(command, attributes, what):
    machine = os.uname().machine
    if machine not in SYSCALL_NUMBERS:
        raise unable(f"faults are not known to work on {machine}: "
                     "add its bpf system call number to lab/omxlab/bpfmap.py")
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return check(libc.syscall(ctypes.c_long(SYSCALL_NUMBERS[machine]), ctypes.c_int(command),
                              buffer, ctypes.c_uint(len(attributes))), what)


class ArrayMap:
    """An array map whose values are packed and unpacked by a struct format."""

    def __init__(self, path, layout):
        self.path = path
        self.layout = layout
        name = ctypes.create_string_buffer(os.fsencode(path))
        self.fd = bpf(BPF_OBJ_GET, struct.pack("=QII", ctypes.addressof(name), 0, 0), path)

    def element(self, command, index, value):
        key = ctypes.create_string_buffer(struct.pack("=I", index), 4)
        bpf(command, struct.pack("=IIQQQ", self.fd, 0, ctypes.addressof(key),
                                 ctypes.addressof(value), 0), self.path)

    def read(self, index):
        value = ctypes.create_string_buffer(struct.calcsize(self.layout))
        self.element(BPF_MAP_LOOKUP_ELEM, index, value)
        return struct.unpack(self.layout, value.raw)

    def write(self, index, *fields):
        packed = struct.pack(self.layout, *fields)
        self.element(BPF_MAP_UPDATE_ELEM, index, ctypes.create_string_buffer(packed, len(packed)))
