# SPDX-License-Identifier: BSD-3-Clause
"""Lets ports of the lab's switch mark packets that find a long queue (mark.bpf.c)."""
from . import ebpf, wire
from .errors import unable

WHAT = "marks of ports"
PREFERENCE = "30"  # behind the faults, which the frame meets on its way to the port


def need_root():
    if not ebpf.is_real_root():
        raise unable(f"{WHAT} need an eBPF program, which only real root may load: start the lab as root, or leave --port-mark out")
    ebpf.need_programs(WHAT)


def attach(port, rate, queue, mark):
    ebpf.attach(WHAT, "mark.bpf.c", "tc/mark", port, ["egress", "pref", PREFERENCE],
                {"BITS_PER_MS": f"{wire.parse_rate(rate) // 1000}ull", "MARK_BYTES": mark, "QUEUE_BYTES": queue})


def let_tcp_take_part():
    """Makes the host's TCP ask for marks, too; by default it only answers those who ask."""
    with open("/proc/sys/net/ipv4/tcp_ecn", "w", encoding="ascii") as setting:
        setting.write("1")
