# SPDX-License-Identifier: BSD-3-Clause
"""The C and C++ files of the repository, as all rules read them."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVERYWHERE = ("src", "include", "tools", "bench", "tests", "lab", "examples")


def sources(*folders, suffixes=(".h", ".cc", ".c", ".cpp")):
    """Yields the files below these folders of the repository, without the fuzzers' inputs."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and "corpus" not in path.parts:
                yield path


def name(path):
    return path.relative_to(ROOT)


def plain(text):
    """Returns the code without comments and without what stands in quotes."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"'(\\.|[^'\\\n])'", "' '", text)
    return re.sub(r"//[^\n]*", "", text)
