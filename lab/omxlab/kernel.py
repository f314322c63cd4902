# SPDX-License-Identifier: BSD-3-Clause
"""System calls without a name in Python 3.11 (os.unshare came with 3.12)."""
import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_SLAVE = 0x80000

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15

libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def unshare(flags):
    check(libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(fd, flag):
    check(libc.setns(ctypes.c_int(fd), ctypes.c_int(flag)), "setns")


def mount(source, target, fstype, flags, data=None):
    def encode(text):
        return None if text is None else os.fsencode(text)

    check(
        libc.mount(encode(source), encode(target), encode(fstype),
                   ctypes.c_ulong(flags), encode(data)),
        f"mount {target}",
    )


def die_with_parent(signal_number):
    check(libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal_number), 0, 0, 0), "prctl")


def outlive_parent():
    check(libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(0), 0, 0, 0), "prctl")


def set_process_name(name):
    check(libc.prctl(PR_SET_NAME, ctypes.c_char_p(name.encode()), 0, 0, 0), "prctl")


def same_namespace(pid, kind):
    """Returns whether process `pid` is in the same namespace of this kind as the caller."""
    return os.stat(f"/proc/{pid}/ns/{kind}").st_ino == os.stat(f"/proc/self/ns/{kind}").st_ino
