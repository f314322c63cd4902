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
    return [f"{model}: {name}: {result['why']}" for model, found in outcomes.items()
            for name, result in found["results"].items()
            if result["outcome"] == "fails" and (model, name) not in KNOWN]


def render(outcomes, features):
    """Returns the table as Markdown, with a numbered reason for each cell that is not a plain `works`."""
    models = list(outcomes)
    facts = next((found["facts"] for found in outcomes.values() if found["facts"]), None) or {}
    reasons = []
    lines = [
        f"Written on {datetime.date.today()} by `./check --vm` (`tests/vm/matrix.py`): two guests of `lab vm` with Linux "
        f"{facts.get('kernel', '?')}, on QEMU {facts.get('qemu', '?')}. All messages are checked byte by byte.", "",
        "| | " + " | ".join(f"`{model}`" for model in models) + " |", "|---" * (len(models) + 1) + "|",
        "| driver in Linux | " + " | ".join(f"`{(outcomes[model]['facts'] or {}).get('driver', '?')}`" for model in models) + " |",
    ]
    for feature in features:
        cells = []
        for model in models:
            result = outcomes[model]["results"].get(feature.name)
            if result is None:
                cells.append("not tried")
                continue
            why = reason_of(model, feature.name, result)
            if why:
                if why not in reasons:
                    reasons.append(why)
                cells.append(f"{result['outcome']} ({reasons.index(why) + 1})")
            else:
                cells.append(result["outcome"])
        lines.append(f"| {feature.title} | " + " | ".join(cells) + " |")
    lines.append("")
    lines += [f"{number}. {reason}" for number, reason in enumerate(map(one_line, reasons), start=1)]
    return "\n".join(lines)


def one_line(text):
    return " ".join(text.split()).replace("|", "/").replace("<", "&lt;")


def write(document, text):
    old = document.read_text(encoding="utf-8")
    before, mark, rest = old.partition(BEGIN)
    _, end_mark, after = rest.partition(END)
    if not mark or not end_mark:
        raise SystemExit(f"{document} has no place for the table: put {BEGIN} and {END} into it")
    document.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
