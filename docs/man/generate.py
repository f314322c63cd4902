#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes manual pages of the library's functions from the prototypes and comments in the headers. pages.py says which
functions share a page, and adds what the headers do not say.

    generate.py INCLUDE_DIR OUT_DIR     writes man3/PAGE.3, and a link from each function's name to its page
"""
import pathlib
import re
import sys

from pages import DATE, PAGES

ITEM = re.compile(
    r"/\*(?P<comment>.*?)\*/"
    r"|(?P<blank>\n[ \t]*\n)"
    r"|^(?:static inline )?(?P<result>(?:const )?\w+\*?) \*?(?P<name>m?o?mx_\w+)\((?P<arguments>[^;{}()]*)\)\s*[;{]"
    r"|^typedef (?P<handler_result>\w+) \(\*(?P<handler>\w+)\)\((?P<handler_arguments>[^;]*)\);"
    r"|^extern (?P<data_type>[\w ]+) (?P<data>\w+);"
    r"|^enum (?P<enum>\w+) \w+ \{(?P<values>.*?)\};"
    r"|^#define (?P<macro>mx_init)\(\)", re.S | re.M)
HEADERS = ["myriexpress.h", "mx_extensions.h", "mx_raw.h", "mx_internals/mx__fops.h",
           "mx_internals/mx__driver_interface.h", "open-mx.h"]


class Item:
    def __init__(self, header, kind, name, result="", arguments="", comment=None):
        self.header, self.kind, self.name, self.result, self.comment = header, kind, name, result, comment
        self.arguments = [" ".join(a.split()) for a in arguments.split(",")] if arguments else []


def comment_text(raw):
    """Returns the text of a comment, or None for a ruler between sections."""
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in raw.strip().splitlines()]
    text = " ".join(" ".join(lines).split())
    text = re.sub(r" ?\(docs/spec/mx-api\.md [^)]*\)", "", text)
    return None if text.startswith("----") or "SPDX" in text else text


def read(include):
    """Returns all declarations by name, in the order of the headers."""
    items = {}
    for header in HEADERS:
        comment = None
        for m in ITEM.finditer((include / header).read_text()):
            if m["comment"] is not None:
                comment = comment_text(m["comment"])
            elif m["blank"]:
                comment = None
            elif m["name"]:
                items[m["name"]] = Item(header, "function", m["name"], m["result"], m["arguments"], comment)
            elif m["handler"]:
                items[m["handler"]] = Item(header, "handler", m["handler"], m["handler_result"],
                                           m["handler_arguments"], comment)
            elif m["data"]:
                items[m["data"]] = Item(header, "data", m["data"], m["data_type"], "", comment)
            elif m["enum"]:
                items[m["enum"]] = Item(header, "enum", m["enum"], m["values"], "", comment)
            else:
                items[m["macro"]] = Item(header, "function", m["macro"], "mx_return_t", "void", None)
    return items


FUNCTIONS = set()


def mark(match):
    name = match[1] or match[2]
    return rf"\fB{name}\fP()" if name in FUNCTIONS else rf"\fI{name}\fP"


def roff(text):
    """Returns a comment as roff, one sentence a line, with constants, functions and arguments marked."""
    text = escape(text)
    text = re.sub(r"`([^`]*)`", r"\\fI\1\\fP", text)
    text = re.sub(r"(?<![\w\\])(\*?[a-z]+_[a-z_]+)(?![\w(.])", r"\\fI\1\\fP", text)
    text = re.sub(r"\\fI(o?mx_\w+)\\fP|\b(o?mx_\w+)(?:\(\))?(?=\W)", mark, text)
    text = re.sub(r"\b(O?MX_[A-Z0-9_]+[A-Z0-9])\b(?!\.h)", r"\\fB\1\\fP", text)
    text = re.sub(r"(?<=[.:;]) (?=\\fB|[A-Z])", "\n", text)  # sentences
    return "\n".join(escape_start(line) for line in text.splitlines())


def escape(text):
    return text.replace("\\", "\\e")


def escape_start(line):
    return "\\&" + line if line[:1] in (".", "'") else line


def synopsis(items):
    lines, header = [], None
    for item in items:
        if item.header != header:
            header = item.header
            lines.append(f".In {header}")
        if item.kind == "data":
            lines.append(f".Vt extern {item.result} {item.name};")
        elif item.kind == "handler":
            lines.append(f".Ft typedef {item.result}\n.Fo (*{item.name})")
            lines += [f'.Fa "{a}"' for a in item.arguments] + [".Fc"]
        elif item.kind == "function":
            lines.append(f".Ft {item.result}\n.Fo {item.name}")
            lines += [f'.Fa "{a}"' for a in item.arguments] + [".Fc"]
    return lines


def values(item):
    """Returns an enumeration as a list of its values with their comments."""
    lines = [".Bl -tag -width Ds"]
    for m in re.finditer(r"(O?MX_\w+) = \d+,?\s*(?:/\*(.*?)\*/)?", item.result, re.S):
        text = comment_text(m[2]) if m[2] else ""
        lines.append(f".It Dv {m[1]}")
        lines += [roff(text)] if text else []
    return lines + [".El"]


def describe(items):
    """Returns the comments of the headers. Functions that share a comment are described together."""
    lines, done = [".Bl -tag -width Ds"], set()
    for item in items:
        if item.name in done or item.kind == "enum" and not item.comment:
            continue
        group = [i for i in items if i.comment and i.comment == item.comment] or [item]
        done.update(i.name for i in group)
        macro = {"function": "Fn", "handler": "Vt", "data": "Va", "enum": "Vt enum"}
        comment = item.comment
        twin = item.name.replace("omx", "mx", 1)
        if not comment and item.header == "open-mx.h":
            comment = f"As {twin}, with the types of this interface."
        if not comment:
            continue
        lines.append(".It " + " , ".join(f"{macro[i.kind]} {i.name}" for i in group))
        lines.append(roff(comment))
    return lines + [".El"] if len(lines) > 1 else []


def page_text(page, items):
    listed = [items[name] for name in page["items"]]
    shown = [i for i in listed if i.kind in ("function", "data")]
    lines = ['.\\" SPDX-License-Identifier: BSD-3-Clause', '.\\" Made by docs/man/generate.py from the headers.',
             f".Dd {DATE}", f".Dt {page['name'].upper()} 3", ".Os Open-MX", ".Sh NAME"]
    lines += [f".Nm {i.name} ," for i in shown[:-1]] + [f".Nm {shown[-1].name}", f".Nd {page['about']}"]
    lines += [".Sh LIBRARY", "Open-MX (libmyriexpress, \\-lmyriexpress)", ".Sh SYNOPSIS"] + synopsis(listed)
    lines += [".Sh DESCRIPTION", page["text"].strip()] if page["text"] else [".Sh DESCRIPTION"]
    lines += describe(listed)
    for item in listed:
        if item.kind == "enum":
            lines += [".Pp", "The values of", f".Vt enum {item.name}", "are:"] + values(item)
    lines += [".Sh RETURN VALUES", page["returns"].strip()]
    also = sorted(page["also"], key=lambda name: (name.rsplit(".", 1)[1], name))
    lines += [".Sh SEE ALSO"]
    lines += [f".Xr {n.rsplit('.', 1)[0]} {n.rsplit('.', 1)[1]}" + (" ," if n != also[-1] else "") for n in also]
    return "\n".join(lines) + "\n"


def main():
    include, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    items = read(include)
    FUNCTIONS.update(name for name, item in items.items() if item.kind == "function")
    folder = out / "man3"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.3"):
        old.unlink()
    for page in PAGES:
        (folder / f"{page['name']}.3").write_text(page_text(page, items))
        for name in page["items"]:
            if items[name].kind in ("function", "data") and name != page["name"]:
                (folder / f"{name}.3").symlink_to(f"{page['name']}.3")


if __name__ == "__main__":
    main()
