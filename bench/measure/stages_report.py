# SPDX-License-Identifier: BSD-3-Clause
"""Prints the counts of bench/stages as Markdown tables."""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def render(cases, size):
    names = [f"{case['link']}, {case['api']}" for case in cases]
    known = sorted({stage for case in cases for stage in case["stages"]}, key=lambda stage: -max(case["stages"].get(stage, 0) for case in cases))
    rows = [[stage, *(f"{case['stages'].get(stage, 0):.0f}" for case in cases)] for stage in known]
    rows.append(["**all**", *(f"**{sum(case['stages'].values()):.0f}**" for case in cases)])
    rows.append(["cache lines of data", *(f"{case['data_lines']:.0f}" for case in cases)])
    rows.append(["cache lines of code", *(f"{case['code_lines']:.0f}" for case in cases)])
    rows.append(["system calls", *(", ".join(f"{name} {count:.2f}" for name, count in sorted(case["system_calls"].items())) or "none" for case in cases)])
    parts = [f"A message of {size} B, sent and received, in user space:", "", table(["instructions by stage", *names], rows)]
    for name, case in zip(names, cases):
        if case["functions"]:
            parts += ["", f"{name}:", "", table(["function", "instructions"],
                                               [[f"`{function}`", f"{count:.0f}"] for function, count in case["functions"].items()])]
    return "\n".join(parts)
