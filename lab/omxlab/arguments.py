# SPDX-License-Identifier: BSD-3-Clause
"""Values of the command line that several commands take, those of bench/ included."""
import argparse
import re

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def number(low, high, what="number"):
    """Returns a type for argparse, which prints its name where a value is none."""
    def parse(text):
        value = int(text)
        if not low <= value <= high:
            raise ValueError
        return value

    parse.__name__ = f"{what} ({low}..{high})"
    return parse


def mark_fault(mark_name, mark, queue_name, queue):
    """Returns what is wrong with a port that marks packets which find so much in its queue, or None."""
    if mark < queue:
        return None
    return f"{mark_name} {size_text(mark)} is not less than {queue_name} {size_text(queue)}, so nothing would be marked: mark from fewer bytes on, or queue more"


def size_text(number_of_bytes):
    """Returns a number of bytes as a user would write it: 65536 is 64K."""
    unit = next((unit for unit in "GMK" if number_of_bytes and number_of_bytes % UNITS[unit] == 0), "")
    return f"{number_of_bytes // UNITS[unit]}{unit}"


def size(low, high):
    """Returns a type for argparse: a number of bytes, which K, M or G may follow, as in the settings of Open-MX."""
    def parse(text):
        parts = re.fullmatch("([0-9]+)([KMG]?)", text.upper(), re.ASCII)
        value = int(parts[1]) * UNITS[parts[2]] if parts else -1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes from {size_text(low)} to {size_text(high)}; K, M or G may follow")
        return value

    return parse
