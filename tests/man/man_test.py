#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the manual pages are well formed, and that they describe exactly the headers, the command and the settings
that exist.

    man_test.py OMX SOURCE_DIR MADE_PAGES_DIR [OMXD]
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from public_api import public_functions  # noqa: E402

OMX, SOURCE, MADE = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
OMXD = sys.argv[4] if len(sys.argv) > 4 else None  # this build may lack the broker
MAN = SOURCE / "docs/man"
PAGES = sorted([*MAN.glob("man?/*"), *MADE.glob("man3/*")])
OPTION = r"--[a-z][-a-z]*|-[a-zA-Z]\b"


def lint():
    if not shutil.which("mandoc"):
        yield "mandoc is missing: apt-get install mandoc"
        return
    real = [str(p) for p in PAGES if not p.is_symlink()]
    run = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *real], capture_output=True, text=True)
    yield from (run.stdout + run.stderr).splitlines()


def help_of(*command):
    return subprocess.run([OMX, "help", *command], check=True, capture_output=True, text=True).stdout


def help_options(text):
    """Returns the options in a help text. Each stands at the beginning of its line, the short form before the long one."""
    found = set()
    for line in text.split("Options:\n")[1].split("\n\n")[0].splitlines():
        names = re.match(rf"  ((?:{OPTION})(?:,(?:{OPTION}))*)", line)
        if names:
            found.update(names[1].split(","))
    return found


def page_options(page):
    found = set()
    for line in page.read_text().splitlines():
        if line.startswith(".It Fl "):
            for name in re.findall(r"(?:^\.It |, )Fl (\S+)", line):
                found.add("-" + name)
    return found


def commands():
    listed = set(re.findall(r"^  ([a-z][-a-z]*) ", help_of().split("Subcommands:\n")[1], re.M)) - {"help"}
    have = {p.stem[len("omx-"):] for p in MAN.glob("man1/omx-*.1")}
    yield from (f"omx {c} has no page" for c in sorted(listed - have))
    yield from (f"omx-{c}.1 is about a command that there is not" for c in sorted(have - listed))
    overview = (MAN / "man1/omx.1").read_text()
    yield from (f"omx.1 does not name omx-{c}(1)" for c in sorted(listed) if f".It Xr omx-{c} 1" not in overview)
    for command in [None, *sorted(listed & have)]:
        page = MAN / "man1" / (f"omx-{command}.1" if command else "omx.1")
        there = help_options(help_of(command) if command else help_of())
        said = page_options(page)
        yield from (f"{page.name} does not mention {o}" for o in sorted(there - said))
        yield from (f"{page.name} says {o}, which there is not" for o in sorted(said - there))


def programs_1x():
    """Compares the pages of the programs of Open-MX 1.x, which are links to omx, with their help."""
    names = re.findall(r'\{"(omx\w+)", parity_', (SOURCE / "tools/parity/programs.cc").read_text())
    if not names:
        yield "tools/parity/programs.cc: no programs found"
    for name in names:
        page = MAN / "man1" / f"{name}.1"
        if not page.exists():
            yield f"{name} has no page"
            continue
        help_text = subprocess.run([pathlib.Path(OMX).parent / name, "-h"], capture_output=True, text=True).stderr
        there = set(re.findall(r"^ (-\w)\b", help_text, re.M)) | {"-h"}
        said = page_options(page)
        yield from (f"{page.name} does not mention {o}" for o in sorted(there - said))
        yield from (f"{page.name} says {o}, which there is not" for o in sorted(said - there))


def daemon():
    if not OMXD:
        return
    run = subprocess.run([OMXD, "--help"], check=True, capture_output=True, text=True)
    there, said = help_options(run.stdout), page_options(MAN / "man8/omxd.8")
    yield from (f"omxd.8 does not mention {o}" for o in sorted(there - said))
    yield from (f"omxd.8 says {o}, which there is not" for o in sorted(said - there))


def policy_keys():
    """Compares the page of the broker's policy with the parser. broker_policy_test compares the example."""
    parser = set(re.findall(r'key<\w+>\("(\w+)"', (SOURCE / "tools/broker/policy_keys.cc").read_text()))
    page = set(re.findall(r"^\.It Ic (\w+)$", (MAN / "man5/broker.conf.5").read_text(), re.M))
    if not parser:
        yield "tools/broker/policy_keys.cc: no keys found"
    yield from (f"broker.conf.5 does not mention {k}" for k in sorted(parser - page))
    yield from (f"broker.conf.5 says {k}, which there is not" for k in sorted(page - parser))


def functions():
    names = public_functions(SOURCE)
    documented = set()
    for page in MADE.glob("man3/*.3"):
        text = page.read_text()
        named = set(re.findall(r"^\.Nm (\w+)", text, re.M))
        documented |= named
        if page.stem not in named:
            yield f"{page.name} is not about {page.stem}"
        yield from (f"{page.name} has no prototype of {n}" for n in sorted(named)
                    if not re.search(rf"^\.(Fo {n}$|Vt extern .* {n};)", text, re.M) and n != "omx_init")
        yield from (f"{n}.3 is missing" for n in sorted(named) if not (MADE / "man3" / f"{n}.3").exists())
    yield from (f"{n} has no page" for n in sorted(names - documented))
    yield from (f"there is a page of {n}, which no header has" for n in sorted(documented - names))


def settings():
    run = subprocess.run([sys.executable, "-B", MAN / "settings.py", OMX, MAN / "man5/open-mx.conf.5"],
                         capture_output=True, text=True)
    if run.returncode:
        yield (run.stdout + run.stderr).strip()


def references():
    have = {p.name for p in PAGES}
    for page in PAGES:
        for name, section in re.findall(r"\bXr (\S+) (\d)", page.read_text()):
            if re.match(r"o?mx|open-mx|broker", name) and f"{name}.{section}" not in have:
                yield f"{page.name} names {name}({section}), which there is not"


def main():
    checks = [lint, commands, programs_1x, daemon, policy_keys, functions, settings, references]
    failed = 0
    for check in checks:
        problems = list(check())
        failed += bool(problems)
        for problem in problems:
            print(f"{check.__name__}: {problem}")
    print(f"{len(PAGES)} pages: {len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
