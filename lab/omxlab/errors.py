# SPDX-License-Identifier: BSD-3-Clause
"""Failures of the lab: one sentence that names the remedy, and an exit status."""

EXIT_FAILED = 1  # the lab could not do what was asked
EXIT_USAGE = 2  # the command line is wrong (argparse uses the same number)
EXIT_UNABLE = 77  # this user or machine cannot do it at all: a test should skip
EXIT_LAB = 125  # `exec` and `run` failed themselves; CMD was not started
EXIT_CANNOT_EXECUTE = 126
EXIT_NOT_FOUND = 127


class LabError(Exception):
    """An expected failure. Its message is shown to the user as it is."""

    def __init__(self, message, status=EXIT_FAILED):
        super().__init__(message)
        self.status = status


def unable(message):
    """Returns an error for a privilege, kernel feature or program that is missing."""
    return LabError(message, EXIT_UNABLE)
