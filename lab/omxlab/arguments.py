# SPDX-License-Identifier: BSD-3-Clause
"""Values of the command line that several commands take."""


def number(low, high, what="number"):
    """Returns a type for argparse, which prints its name where a value is none."""
    def parse(text):
        value = int(text)
        if not low <= value <= high:
            raise ValueError
        return value

    parse.__name__ = f"{what} ({low}..{high})"
    return parse
