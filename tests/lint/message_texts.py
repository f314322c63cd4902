# SPDX-License-Identifier: BSD-3-Clause
"""Finds the texts of messages in the sources: what src/base/messages/ must explain.

A message text is a string literal, with adjacent literals joined and {} for what differs:
- in a call that prints an error or a warning or makes a failure (PRINTS), if the literal has two words;
- anywhere else in the files of HELPERS, if the literal has four words: helpers make sentences for such calls.

Left out are lines of a higher level than warning, what only libfabric's own log shows, files whose texts are no
messages (NO_MESSAGES), and the texts that no_messages.txt lists.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTED = pathlib.Path(__file__).resolve().parent / "no_messages.txt"
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'|[\w']+|\s+|.""", re.S)
PRINTS = re.compile(r"(?:fail|failed|parity_failed|problem|message_print|warned|log_line|log_plain|log|Failure|complain|\w+_failure|kernel_refused)$")
# Where helpers make sentences for such calls.
HELPERS = ("src/", "tools/broker/", "tools/info/host_facts.cc", "tools/host/tuning_targets.cc", "tools/omx_main.cc",
           "tools/parity/ping_pong.cc", "tools/perf/perf_mx.cc", "tools/perf/perf_client.cc")
# Where literals are no messages unless a call of PRINTS has them, and what they are instead.
NO_MESSAGES = {
    "src/base/crc32c_instructions.h": "instructions",
    "src/base/setting_text.cc": "what a setting accepts",
    "src/config/settings_copy.h": "what a setting accepts",
    "src/config/settings_kinds.h": "what a setting accepts",
    "src/config/settings_link.h": "what a setting accepts",
    "src/config/settings_table.cc": "what settings are for",
    "src/copy/counters.h": "what counters are",
    "src/libfabric/bindings.cc": "only in libfabric's log",
    "src/libfabric/calls_": "only in libfabric's log",
    "src/libfabric/choices.cc": "only in libfabric's log",
    "src/libfabric/completion_queue.cc": "only in libfabric's log",
    "src/libfabric/counter.cc": "only in libfabric's log",
    "src/libfabric/event_queue.cc": "only in libfabric's log",
    "src/libfabric/info_": "only in libfabric's log",
    "src/libfabric/nic.cc": "a description",
    "src/libfabric/parameters.cc": "what parameters are for",
    "src/libfabric/waitable.cc": "only in libfabric's log",
    "src/base/messages/": "the catalogue itself",
    "src/mx/code_texts.cc": "texts of codes",
    "src/protocol/counters.h": "what counters are",
    "src/protocol/history.h": "events of omx dump",
    "src/runtime/endpoint/counters_shared.cc": "what counters are",
    "src/runtime/report/report_text.cc": "the report at the end of a job",
    "src/steering/binding_setting.h": "what a setting accepts",
    "src/tuning/judge_": "findings, which say their remedy",
    "src/tuning/setting.cc": "names of settings",
    "tools/broker/policy_keys.cc": "what a key accepts",
}


def tokens(text):
    return [m[0] for m in TOKEN.finditer(text) if not (m[0].isspace() or m[0].startswith(("//", "/*")))]


def normal(text):
    """Returns the text as the catalogue writes it: {} for what differs, no escapes, nothing around it."""
    text = text.replace('\\"', '"').replace("\\n", " ")
    return re.sub(r"\{[^{}]*\}", "{}", text).strip()


def words(text):
    return [w for w in re.split(r"[\s{}]+", text) if re.search(r"[A-Za-z]{2}", w)]


def closing(all_tokens, start):
    depth = 0
    for at in range(start, len(all_tokens)):
        depth += all_tokens[at] in "({["
        depth -= all_tokens[at] in ")}]"
        if not depth:
            return at
    return len(all_tokens)


def quiet(call, arguments, path):
    """Returns whether what the call is given is never printed at the default level."""
    levels = re.findall(r"LogLevel::(\w+)", "".join(arguments))
    if levels and not {"error", "warn"} & set(levels):
        return True
    if path.startswith("src/libfabric/") and call in ("refuse", "warn"):
        return True
    return call in ("static_assert", "asm", "assert")


def literals(path, text):
    """Yields each joined literal, the names of the calls around it, whether one of them is quiet, and the calls as
    (name, end, arguments)."""
    all_tokens = tokens(text)
    calls, at = [], 0
    while at < len(all_tokens):
        token = all_tokens[at]
        while calls and calls[-1][1] <= at:
            calls.pop()
        if token == "(" or token == "{":
            before = all_tokens[at - 1] if at else ""
            call = before if re.match(r"\w+$", before) else ""
            end = closing(all_tokens, at)
            # The body of a function is no argument of a call.
            if token == "(" or call == "Failure":
                calls.append((call, end, all_tokens[at + 1:end]))
        if token.startswith('"') and all_tokens[at - 1] != "include":
            joined = ""
            while at < len(all_tokens) and all_tokens[at].startswith('"'):
                joined += all_tokens[at][1:-1]
                at += 1
            yield joined, [c[0] for c in calls], any(quiet(c[0], c[2], path) for c in calls), calls
            continue
        at += 1


def listed():
    return {line for line in LISTED.read_text(encoding="utf-8").splitlines() if line and not line.startswith("##")}


def files():
    for top in ("src", "tools"):
        for path in sorted((ROOT / top).rglob("*")):
            # The simulation is no program of users.
            if path.suffix in (".h", ".cc") and "simulation" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def message_texts():
    """Returns the texts of messages with the file of each, {text: path}."""
    left_out, found = listed(), {}
    for path, text in files():
        other = any(path.startswith(prefix) for prefix in NO_MESSAGES)
        lower = path.startswith(HELPERS) and not other
        for literal, calls, silent, around in literals(path, text):
            shown = normal(literal)
            to_stderr = any(c[0] == "print" and c[2][:1] == ["stderr"] for c in around)
            warns = path == "tools/info/cmd_info.cc" and "push_back" in calls
            direct = to_stderr or warns or any(PRINTS.match(c) for c in calls)
            least = 2 if direct else 4 if lower else None
            if silent or least is None or len(words(shown)) < least or shown in left_out:
                continue
            found.setdefault(shown, path)
    return found


def all_literals():
    """Returns every literal of the sources but those of the catalogue, as the catalogue would write it."""
    return {normal(l[0]) for path, text in files() if not path.startswith("src/base/messages/")
            for l in literals(path, text)}
