# SPDX-License-Identifier: BSD-3-Clause
"""The names that the headers in include/ declare, for the tests that keep documents complete."""
import re


def public_functions(source):
    """Functions and exported data, of all headers of that source tree."""
    names = set()
    for header in (source / "include").rglob("*.h"):
        code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        code = re.sub(r"^typedef [^;]*\(\*[^;]*;", "", code, flags=re.M)
        names.update(re.findall(r"\b(o?mx_\w+)\s*\(", code))
        names.update(re.findall(r"\bextern const \w+ (\w+);", code))
    return names
