# SPDX-License-Identifier: BSD-3-Clause
"""The NICs that QEMU emulates, by the names of their drivers."""
from ..errors import EXIT_USAGE, LabError


class Model:
    """A NIC: QEMU's name of the device with its options, the driver in the guest, and whether queues can be asked for."""

    def __init__(self, device, driver, queues=False, options=""):
        self.device = device
        self.driver = driver
        self.queues = queues
        self.options = options


MODELS = {
    "e1000e": Model("e1000e", "e1000e"),
    "igb": Model("igb", "igb"),
    # The driver gives its memory to programs (AF_XDP zero-copy) only if the device goes by the kernel's DMA interface.
    "virtio-net": Model("virtio-net-pci", "virtio_net", queues=True, options=",iommu_platform=on"),
    "vmxnet3": Model("vmxnet3", "vmxnet3"),
    "e1000": Model("e1000", "e1000"),
    "rtl8139": Model("rtl8139", "8139cp"),
}


def parse_models(text):
    names = text.split(",")
    if not all(name in MODELS for name in names):
        raise ValueError
    return names


parse_models.__name__ = f"NIC (one of {', '.join(MODELS)}, or one for each cable, separated by commas)"


def for_cables(names, cables):
    """Returns the model of each cable."""
    if len(names) not in (1, cables):
        raise LabError(f"--nic lists {len(names)} models for {cables} cables: give one, or one for each", EXIT_USAGE)
    return names * cables if len(names) == 1 else names


def netdev(lab, host, cable):
    """Returns what QEMU calls the far end of a NIC."""
    name = f"net{cable}"
    if lab["topology"] == "cable":
        side = "server=on" if host["number"] == 1 else "server=off,reconnect-ms=200"
        return f"stream,id={name},{side},addr.type=unix,addr.abstract=on,addr.path=omx-cable{cable}"
    queues = f",queues={lab['queues']}" if uses_queues(lab, cable) else ""
    return f"tap,id={name},ifname={tap(host, cable)},script=no,downscript=no,vhost=off{queues}"


def uses_queues(lab, cable):
    return lab["queues"] > 1 and MODELS[lab["nics"][cable]].queues


def tap(host, cable):
    return f"tap{host['number']}c{cable}"


def device(lab, host, cable):
    """Returns QEMU's device. The same text plugs it in again."""
    model = MODELS[lab["nics"][cable]]
    queues = f",mq=on,vectors={2 * lab['queues'] + 2}" if uses_queues(lab, cable) else ""
    nic = host["nics"][cable]
    return f"{model.device},netdev=net{cable},id=nic{cable},mac={nic['mac']},bus=port{cable},romfile={queues}{model.options}"
