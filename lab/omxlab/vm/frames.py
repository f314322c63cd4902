# SPDX-License-Identifier: BSD-3-Clause
"""Frames between `lab vm exec` and the agents of guests. Both have this file: it is copied into the guests.

Each is a letter, a length of 4 bytes and so many bytes:
  to the agent     Q the request (JSON: host, argv, env, cwd, user); I input, empty at its end; S the number of a signal
  from the agent   O output; E error output; X the end (JSON: status, and error if CMD was not run)
"""
import struct

HEADER = struct.Struct("!cI")
SERVICE = "\0open-mx-vm-agent"  # of an agent, for its own guest
CHUNK = 65536


def send(connection, kind, data):
    connection.sendall(HEADER.pack(kind, len(data)) + data)


def receive(connection):
    """Returns a letter and the bytes. EOFError: the other end has gone."""
    kind, size = HEADER.unpack(exactly(connection, HEADER.size))
    return kind, exactly(connection, size)


def exactly(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data
