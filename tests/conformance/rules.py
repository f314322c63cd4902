# SPDX-License-Identifier: BSD-3-Clause
"""Rules and the results of their checks, printed as one line each at the end."""
import collections

# Rules of the specification that the library knowingly breaks in mode omx. If one of these holds after all,
# that is an error: remove it here.
KNOWN_OMX = {
    "nack.endpoint_closed": "only connects to closed endpoints are refused: no process listens for other packets",
    "nack.endpoint_impossible": "the same",
    "nack.pull_closed_endpoint": "the same",
    "nack.pull_impossible_endpoint": "the same",
}

class Rules:
    """Counts for each named rule how often it held, and keeps the first mismatches."""

    def __init__(self, known):
        self.known = known
        self.held = collections.OrderedDict()
        self.broken = collections.defaultdict(list)
        self.section = {}
        self.subject = ""

    def check(self, rule, section, what, expected, got):
        """Checks one fact: `got` must be `expected`. `section` says where the rule is written."""
        self.section.setdefault(rule, section)
        self.held.setdefault(rule, 0)
        if expected == got:
            self.held[rule] += 1
            return True
        self.broken[rule].append(f"{what}: expected {show(expected)}, got {show(got)} ({section}; {self.subject})")
        return False

    def true(self, rule, section, what, got):
        return self.check(rule, section, what, True, bool(got))

    def report(self):
        bad = 0
        for rule, count in self.held.items():
            wrong = self.broken.get(rule, [])
            if rule in self.known and wrong:
                print(f"known {rule} [{self.section[rule]}] {self.known[rule]}")
                continue
            if rule in self.known:
                wrong = ["it holds, though the list of known differences says that it does not"]
            bad += bool(wrong)
            print(f"{'FAIL' if wrong else 'ok  '}  {rule} [{self.section[rule]}] {count} times right")
            for line in wrong[:4]:
                print(f"        {line}")
            if len(wrong) > 4:
                print(f"        and {len(wrong) - 4} more")
        known = len(self.known.keys() & self.broken.keys())
        print(f"{len(self.held) - bad - known} rules hold, {bad} do not, {known} are known not to")
        return not bad and bool(self.held)


def show(value):
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value} ({value:#x})"
    if isinstance(value, bytes):
        return value[:48].hex(" ") + (f" ... ({len(value)} bytes)" if len(value) > 48 else "")
    return str(value)
