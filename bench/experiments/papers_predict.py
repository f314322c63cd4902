# SPDX-License-Identifier: BSD-3-Clause
"""bench/papers --predict: writes what the model says, without any published figure, so that it can be committed before it is compared."""
import json
import os

MOVED = 0.005  # a figure that differs by more than this part is another one than was predicted


def path_of(output):
    return os.path.join(output, "evaluation", "predictions.json")


def write(output, papers, values, parameters, facts):
    figures = {f"{sign}: {one.title}": {row.what: values[id(row)] for row in one.rows} for _, sign, tables in papers for one in tables}
    os.makedirs(os.path.dirname(path_of(output)), exist_ok=True)
    with open(path_of(output), "w", encoding="utf-8") as file:
        json.dump({"date": facts["date"], "parameters": {p["name"]: p["value"] for p in parameters}, "figures": figures}, file, indent=1, ensure_ascii=False)
        file.write("\n")
    return path_of(output)


def read(output):
    """Returns what was predicted, or None."""
    try:
        with open(path_of(output), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def moved(predicted, sign, one, row, value):
    """Returns whether the figure is not the predicted one."""
    if predicted is None:
        return True
    before = predicted["figures"].get(f"{sign}: {one.title}", {}).get(row.what)
    return before is None or abs(value - before) > MOVED * abs(before)
