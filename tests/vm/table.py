# SPDX-License-Identifier: BSD-3-Clause
"""The table of drivers and features, from the outcomes of a run."""
import datetime

from known_faults import KNOWN

BEGIN = "<!-- vm begin: written by tests/vm/matrix.py -->"
END = "<!-- vm end -->"


def reason_of(model, name, result):
    """Returns why a cell is not a plain `works`."""
    return KNOWN.get((model, name)) if result["outcome"] == "fails" and (model, name) in KNOWN else result["why"]


def surprises(outcomes):
    """Returns what fails for no known reason."""
    return [f"{model}: {name}: {result['why']}" for models in outcomes.values() for model, found in models.items()
            for name, result in found["results"].items()
            if result["outcome"] == "fails" and (model, name) not in KNOWN]


def render(outcomes, features):
    """Returns a table for each kernel as Markdown, with a numbered reason for each cell that is not a plain `works`."""
    reasons = []
    lines = [f"Written on {datetime.date.today()} by `tests/vm/matrix.py`, from two guests of `lab vm`. Every message was checked "
             "byte by byte."]
    for models in outcomes.values():
        lines += ["", *kernel_table(models, features, reasons)]
    lines.append("")
    lines += [f"{number}. {reason}" for number, reason in enumerate(map(one_line, reasons), start=1)]
    return "\n".join(lines)


def kernel_table(models, features, reasons):
    facts = next((found["facts"] for found in models.values() if found["facts"]), None) or {}
    drivers = [f"`{(found['facts'] or {}).get('driver', '?')}`" for found in models.values()]
    lines = [f"Linux {facts.get('kernel', '?')}, QEMU {facts.get('qemu', '?')}:", "",
             "| | " + " | ".join(f"`{model}`" for model in models) + " |", "|---" * (len(models) + 1) + "|",
             "| driver | " + " | ".join(drivers) + " |"]
    for feature in features:
        results = {model: found["results"].get(feature.name) for model, found in models.items()}
        if any(results.values()):
            cells = [cell(model, feature.name, result, reasons) for model, result in results.items()]
            lines.append(f"| {feature.title} | " + " | ".join(cells) + " |")
    return lines


def cell(model, name, result, reasons):
    if result is None:
        return "not tried"
    why = reason_of(model, name, result)
    if not why:
        return result["outcome"]
    if why not in reasons:
        reasons.append(why)
    return f"{result['outcome']} ({reasons.index(why) + 1})"


def one_line(text):
    return " ".join(text.split()).replace("|", "/").replace("<", "&lt;")


def write(document, text):
    old = document.read_text(encoding="utf-8")
    before, mark, rest = old.partition(BEGIN)
    _, end_mark, after = rest.partition(END)
    if not mark or not end_mark:
        raise SystemExit(f"{document} has no place for the table: put {BEGIN} and {END} into it")
    document.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
