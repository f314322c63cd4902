# SPDX-License-Identifier: BSD-3-Clause
"""The program under test on its host of the lab, controlled by lines (subject.c)."""
import os
import subprocess


class Subject:
    def __init__(self, lab, host, program, environment):
        self.process = subprocess.Popen([lab, "exec", host, "--", program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=dict(os.environ, **environment))
        self.held = b""

    def fileno(self):
        return self.process.stdout.fileno()

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        """Reads what has arrived. Call it when there is something."""
        part = os.read(self.fileno(), 4096)
        if not part:
            raise RuntimeError(f"the subject ended with {self.process.wait()}")
        self.held += part

    def line(self):
        if b"\n" not in self.held:
            return None
        line, _, self.held = self.held.partition(b"\n")
        return line.decode()

    def end(self):
        self.process.stdin.close()
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
