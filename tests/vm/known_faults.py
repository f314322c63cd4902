# SPDX-License-Identifier: BSD-3-Clause
"""Faults that are not of Open-MX, by model and feature, with the reason as the table gives it."""

# Seen with Linux 6.1 and QEMU 10 without Open-MX: ping fails likewise, and passes when the interface is promiscuous, or until it is
# brought up again.
OWN_ADDRESS = ("QEMU's vmxnet3 goes back to its own MAC address whenever it is brought up, so that frames to another one are dropped, pings too; "
               "a bond gives its second NIC the address of the first")

KNOWN = {
    ("vmxnet3", "bond"): OWN_ADDRESS,
    ("vmxnet3", "mac_changes"): OWN_ADDRESS,
}
