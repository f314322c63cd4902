# SPDX-License-Identifier: BSD-3-Clause
"""Pulls cables and NICs of running guests, and puts them back."""
import time

from ..errors import EXIT_USAGE, LabError
from . import machine, models

UNPLUG_TIMEOUT_S = 20


def nic(lab, cable):
    if cable >= len(lab.state["nics"]):
        raise LabError(f"there is no cable {cable}: this lab has {len(lab.state['nics'])}, counted from 0", EXIT_USAGE)
    return f"nic{cable}"


def order(host, command):
    """Gives the monitor a command that answers nothing when it succeeds."""
    answer = machine.ask_monitor(host, command)
    if answer:
        raise LabError(f"QEMU refused {command!r} for {host['name']}: {answer}")


def set_carrier(lab, host, cable, carrier):
    # Of both: a NIC behind a tap looks at the far end, one behind a socket at itself.
    order(host, f"set_link {nic(lab, cable)} {'on' if carrier else 'off'}")


def plugged(host, name):
    return f'"{name}"' in machine.ask_monitor(host, "info qtree")


def unplug(lab, host, cable):
    """Takes a NIC out, and waits until the guest has let it go."""
    name = nic(lab, cable)
    if not plugged(host, name):
        raise LabError(f"{host['name']} has no NIC at cable {cable} any more: put it back with lab vm plug")
    order(host, f"device_del {name}")
    deadline = time.monotonic() + UNPLUG_TIMEOUT_S
    while plugged(host, name):
        if time.monotonic() > deadline:
            raise LabError(f"{host['name']} did not let its NIC go within {UNPLUG_TIMEOUT_S} s: see lab vm console")
        time.sleep(0.1)


def plug(lab, host, cable):
    if plugged(host, nic(lab, cable)):
        raise LabError(f"{host['name']} has its NIC at cable {cable} already: take it out with lab vm unplug")
    order(host, f"device_add {models.device(lab.state, host, cable)}")
