# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the `lab` script, in the order in which a lab needs them:

kernel    the system calls that Python has no name for
holder    builds a lab and becomes the one process that keeps it alive
registry  finds running labs
enter     moves a process into a host, and waits for it from outside
faults    loads and controls the eBPF program that damages traffic
cli       the command line
"""
