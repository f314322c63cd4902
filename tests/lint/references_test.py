#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests references.py on a small repository made for it."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from references import references  # noqa: E402

WIRE = "# Wire\n\n## 6. Numbers\n\n### 6.3 Sessions\n\n## 7. `Bad` packets, and more\n"
CLIENTS = "# Clients\n\n## Connection\n\n1. First\n2. Second\n"


class References(unittest.TestCase):
    def problems(self, name, text):
        """Returns what the rule reports for a file with this text, without the name of the file."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for path, content in {"docs/spec/wire.md": WIRE, "docs/spec/clients.md": CLIENTS, "README.md": "# All\n", name: text}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            found = list(references(root))
        prefix = f"{name}:"
        self.assertTrue(all(problem.startswith(prefix) for problem in found), found)
        return [problem[len(prefix):] for problem in found]

    def test_a_document_that_does_not_exist(self):
        self.assertEqual(self.problems("src/a.h", "\n// As design.md has it.\n"), ["2: design.md is no document of the repository"])
        self.assertEqual(self.problems("src/a.h", "// docs/wire.md 6\n"), ["1: docs/wire.md is no document of the repository"])
        self.assertEqual(self.problems("src/a.h", "// docs/spec/wire.md, README.md\n"), [])

    def test_a_document_beside_the_file(self):
        self.assertEqual(self.problems("docs/spec/a.md", "# A\n\nSee wire.md 6.3.\n"), [])
        self.assertEqual(self.problems("docs/a.md", "# A\n\nSee wire.md 6.3.\n"), ["3: wire.md is no document of the repository"])

    def test_numbered_sections(self):
        self.assertEqual(self.problems("src/a.h", "// docs/spec/wire.md 6.3; docs/spec/wire.md 6 and 7, 8.\n"),
                         ["1: docs/spec/wire.md has no section 8"])
        self.assertEqual(self.problems("src/a.h", "// (docs/spec/wire.md 6.4)\n"), ["1: docs/spec/wire.md has no section 6.4"])
        self.assertEqual(self.problems("src/a.h", "// docs/spec/wire.md 60 KiB are no section\n"), ["1: docs/spec/wire.md has no section 60"])

    def test_points_of_a_list(self):
        self.assertEqual(self.problems("src/a.h", "// docs/spec/clients.md 1 to 3\n"), ["1: docs/spec/clients.md has no section 3"])

    def test_a_section_in_the_next_line(self):
        self.assertEqual(self.problems("src/a.h", "// As docs/spec/wire.md\n// 9 says.\n"), ["1: docs/spec/wire.md has no section 9"])

    def test_headings_by_their_words(self):
        self.assertEqual(self.problems("src/a.h", '// docs/spec/wire.md, "Sessions", docs/spec/wire.md, "Bad packets, and\n// more"\n'), [])
        self.assertEqual(self.problems("src/a.h", '// docs/spec/wire.md, "Session"\n'), ['1: docs/spec/wire.md has no heading "Session"'])

    def test_names_of_files_are_no_references(self):
        self.assertEqual(self.problems("bench/a.py", 'write("made.md")  # and read "docs/made.md" again\n'),
                         ["1: docs/made.md is no document of the repository"])

    def test_links(self):
        self.assertEqual(self.problems("docs/a.md", "[w](spec/wire.md#63-sessions), [w](spec/wire.md) 6.3, [all](../README.md), [o](https://example.org/x.md)\n"), [])
        self.assertEqual(self.problems("docs/a.md", "[w](spec/wire.md#sessions)\n"), ["1: link to spec/wire.md#sessions: no such heading"])
        self.assertEqual(self.problems("docs/a.md", "[w](spec/wire.md) 9\n"), ["1: spec/wire.md has no section 9"])
        self.assertEqual(self.problems("docs/a.md", "![w](plot.svg)\n"), ["1: link to plot.svg, which does not exist"])
        self.assertEqual(self.problems("docs/a.md", "# Here\n\n[h](#here) [t](#there)\n"), ["3: link to #there: no such heading"])

    def test_the_anchor_of_a_heading_with_marks(self):
        self.assertEqual(self.problems("docs/a.md", "[w](spec/wire.md#7-bad-packets-and-more)\n"), [])


if __name__ == "__main__":
    unittest.main()
