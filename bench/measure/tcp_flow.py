# SPDX-License-Identifier: BSD-3-Clause
"""A TCP flow that lasts until it is killed: tcp_flow.py receive PORT, tcp_flow.py send ADDRESS PORT CONTROL."""
import socket
import sys

PIECE = 64 * 1024


def receive(port):
    with socket.create_server(("", int(port))) as server:
        print("waiting", flush=True)
        flow, _ = server.accept()
        place = bytearray(PIECE)
        while flow.recv_into(place):
            pass


def send(address, port, control):
    with socket.create_connection((address, int(port))) as flow:
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        while True:
            flow.sendall(bytes(PIECE))


if __name__ == "__main__":
    {"receive": receive, "send": send}[sys.argv[1]](*sys.argv[2:])
