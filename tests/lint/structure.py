# SPDX-License-Identifier: BSD-3-Clause
"""Rules about the structure of src/: knots of files, headers, and sizes of types and functions.

Each rule yields one line per violation; lint.py runs them.
"""
import re

from sources import ROOT, name, plain, sources

SRC = ROOT / "src"

FOLDERS = sorted(path.name for path in SRC.iterdir() if path.is_dir())
LARGEST_KNOT = 4
MOST_MEMBERS = 40
LONGEST_FUNCTION = 70


def files(folders, *suffixes):
    return sources(*(f"src/{folder}" for folder in folders), suffixes=suffixes)


def included(path):
    """The headers of src/ that a file includes, without their suffix."""
    for header in re.findall(r'^#include "([\w/]+)\.h"', path.read_text(), re.M):
        yield header


# --- knots: files that include each other in a circle ---


def include_graph(folder):
    """Unit (a header with its source file) to the units that it includes."""
    graph = {}
    for path in files([folder], ".h", ".cc"):
        unit = str(path.relative_to(SRC).with_suffix(""))
        graph.setdefault(unit, set()).update(h for h in included(path) if h != unit)
    return graph


def reached(graph, start):
    seen, todo = set(), [start]
    while todo:
        for unit in graph.get(todo.pop(), ()):
            if unit not in seen:
                seen.add(unit)
                todo.append(unit)
    return seen


def knots(graph):
    """Strongly connected components with more than one unit, each once."""
    reach = {unit: reached(graph, unit) for unit in graph}
    done = set()
    for unit in sorted(graph):
        if unit in done or unit not in reach[unit]:
            continue
        knot = sorted(other for other in reach[unit] if unit in reach.get(other, ()))
        done.update(knot)
        yield knot


def largest_knot():
    for folder in FOLDERS:
        for knot in knots(include_graph(folder)):
            if len(knot) > LARGEST_KNOT:
                yield f"src/{folder}: {len(knot)} units include each other, {LARGEST_KNOT} at most: {' '.join(knot)}"


# --- headers declare what their own source file defines ---

FUNCTION = r"(?:^|\n)(?![ #}\n]|namespace|using|struct|class|enum|typedef|return)((?:[\w:<>,&*\[\]]+[ \n]+[&*]?)+?)([\w:~]+)\("


def declared_functions(text):
    """Names of the functions that a header declares and does not define."""
    for found in re.finditer(FUNCTION + r"[^;{}]*\)[^;{}]*;", plain(text)):
        yield found.group(2)


def without_anonymous(text):
    return re.sub(r"\nnamespace \{\n.*?\n\}\n", "\n", plain(text), flags=re.S)


def defined_functions(text):
    """Names of the functions that a source file defines for others."""
    for found in re.finditer(FUNCTION + r"[^;{}]*\)[^;{}]*\{", without_anonymous(text)):
        yield found.group(2)


# What a build without an optional package has instead of the class.
ABSENT = "_absent"


def belongs(source, header):
    """Whether the source file may define what the header declares."""
    return source.stem.removesuffix(ABSENT) == header.stem


def own_header():
    definers = {}
    for path in files(FOLDERS, ".cc"):
        for function in defined_functions(path.read_text()):
            definers.setdefault(function, set()).add(path)
    for header in files(FOLDERS, ".h"):
        for function in sorted(set(declared_functions(header.read_text()))):
            sources = definers.get(function, set())
            if sources and not any(belongs(source, header) for source in sources):
                other = sorted(str(name(source)) for source in sources)[0]
                yield f"{name(header)}: {function} is defined by {other}; its own header declares it"


TYPE = r"(?<!enum )\b(?:struct|class)\s+(\w+)\b[^;{}()]*\{"


def types_of(path):
    return {found.group(1) for found in re.finditer(TYPE, plain(path.read_text()))}


def own_methods():
    """Methods are defined in the source file of the header that declares their class."""
    for folder in FOLDERS:
        headers = {}
        for header in files([folder], ".h"):
            for declared in types_of(header):
                headers.setdefault(declared, set()).add(header)
        for source in files([folder], ".cc"):
            own = types_of(source)
            for owner in sorted({function.split("::")[-2] for function in defined_functions(source.read_text()) if "::" in function}):
                places = headers.get(owner, set())
                if places and owner not in own and not any(belongs(source, header) for header in places):
                    yield f"{name(source)}: {owner} is declared by {name(min(places))}; its own source file defines its methods"


# --- types with few members, functions that fit on a screen ---


def body_at(text, opening):
    """What stands between a brace and the one that closes it, and where that is."""
    depth = 0
    for i in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[opening + 1:i], i
    return text[opening + 1:], len(text)


def flatten(body):
    """The statements of a type; what stands in braces, angles and parentheses is left out."""
    out, depth = [], 0
    for char in body:
        depth -= char in "})"
        if depth == 0:
            out.append(char)
            if char == "}" and "(" in "".join(out).rpartition(";")[2]:
                out.append(";")  # the body of a function
        depth += char in "{("
    text = "".join(out).replace("}", "{}")
    while re.search(r"<[^<>;]*>", text):
        text = re.sub(r"<[^<>;]*>", "", text)
    return text


NO_MEMBER = r"(static|using|friend|typedef|template|enum)\b|(struct|class)\s+\w+\s*(:[^{]*)?(\{\})?$"


def members(body):
    """How many data members a type declares itself."""
    count = 0
    for statement in flatten(body).split(";"):
        statement = re.sub(r"^\s*((public|private|protected):\s*)+", "", statement).strip()
        if not statement or re.match(NO_MEMBER, statement):
            continue
        head = statement.split("=")[0]
        if ")" in head or "operator" in head:
            continue
        count += 1 + statement.count(",")
    return count


def few_members():
    for path in files(FOLDERS, ".h", ".cc"):
        text = plain(path.read_text())
        for found in re.finditer(TYPE, text):
            body, _ = body_at(text, found.end() - 1)
            count = members(body)
            if count > MOST_MEMBERS:
                yield f"{name(path)}: {found.group(1)} has {count} members, group them: {MOST_MEMBERS} at most"


def short_functions():
    for path in files(FOLDERS, ".h", ".cc"):
        start = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r"[A-Za-z].*\(", line) and not line.startswith("namespace"):
                start = number
            elif line == "}" and start is not None:
                if number - start + 1 > LONGEST_FUNCTION:
                    yield f"{name(path)}:{start}: a function of {number - start + 1} lines, {LONGEST_FUNCTION} at most"
                start = None


RULES = [largest_knot, own_header, own_methods, few_members, short_functions]
