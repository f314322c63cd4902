# SPDX-License-Identifier: BSD-3-Clause
"""The list of cases. A case gets the peer, makes its own partners, and leaves no state behind."""
CASES = []


def case(only=lambda peer: True):
    def register(function):
        CASES.append((function.__name__, function, only))
        return function

    return register


def plain(peer):
    """Returns whether the peer is a legacy peer, without an extension block."""
    return not peer.extended


def extended(peer):
    return peer.extended


def wire(peer):
    return peer.mode.wire


def native_extended(peer):
    return peer.extended and not peer.mode.wire


def with_checksums(peer):
    return peer.checksum


def without_checksums(peer):
    return peer.extended and not peer.checksum
