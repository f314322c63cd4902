# SPDX-License-Identifier: BSD-3-Clause
"""Hosts as virtual machines: real kernels and the drivers of real NICs, emulated by QEMU.

Layers, each using only those before it:
  packages     fetches a kernel, QEMU and a few programs from Debian and unpacks them into a folder
  initramfs    makes what the kernel starts first
  models       the NICs by name, and what QEMU is told of them
  machine      QEMU's command line, and its monitor
  vmholder     builds a lab of virtual machines and holds it
  session      runs a command in a guest
  cable        pulls cables and NICs, and puts them back
  vmcli        the command line
"""
