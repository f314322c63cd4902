#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks or writes the list of settings in open-mx.conf(5), from the output of the omx command.

    settings.py OMX PAGE            checks whether the page is right
    settings.py OMX PAGE --write    writes the list into the page
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BEGIN, END = '.\\" settings begin: written by docs/man/settings.py\n', '.\\" settings end\n'


def told(omx):
    """Returns (variable, default, help, accepted, key, other names) of each setting, without values of this host."""
    clean = {k: v for k, v in os.environ.items() if not re.match(r"(OMX|MX)_", k)}
    with tempfile.NamedTemporaryFile() as empty:
        text = subprocess.run([omx, "info", "--settings"], env={**clean, "OMX_CONFIG": empty.name}, check=True,
                              stdout=subprocess.PIPE, text=True).stdout
    pattern = (r"^(OMX_\w+)=(.*)\n    (.*)\n    from: [^;\n]*; accepted: (.*)\n"
               r"    in the file: (not possible|\w+)(?:; also: (.*))?$")
    found = re.findall(pattern, text, re.M)
    variables = re.findall(r"^OMX_\w+(?==)", text, re.M)
    if [row[0] for row in found] != variables:
        raise SystemExit("omx info --settings prints something that settings.py does not know")
    for variable, value, about, accepted, key, also in found:
        accepted = re.sub(r" of which this host has 0 to \d+", " of those that the host has", accepted)
        yield variable, "" if variable == "OMX_CONFIG" else value.strip(), about, accepted, key, also


def escape(text):
    return text.replace("\\", "\\e").replace("'", "\\(aq")


def section(omx):
    lines = [".Bl -tag -width Ds"]
    for variable, value, about, accepted, key, also in told(omx):
        lines.append(f".It Ev {variable}")
        lines.append(escape(about[0].upper() + about[1:]) + ".")
        lines.append("Accepted: " + escape(accepted) + ".")
        lines.append("Default: " + (escape(value) if value else "empty") + ".")
        if key == "not possible":
            lines.append("Not possible in the file.")
        if also:
            lines.append("Other names: " + escape(", ".join(also.split())) + ".")
    return "\n".join(lines + [".El"]) + "\n"


def main():
    omx, page = sys.argv[1], pathlib.Path(sys.argv[2])
    before, rest = page.read_text().split(BEGIN)
    wanted = before + BEGIN + section(omx) + END + rest.split(END)[1]
    if "--write" in sys.argv:
        page.write_text(wanted)
    elif wanted != page.read_text():
        print(f"{page.name} does not say what omx info --settings does: {sys.argv[0]} {omx} {page} --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
