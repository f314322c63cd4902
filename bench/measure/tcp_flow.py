# SPDX-License-Identifier: BSD-3-Clause
"""A TCP flow that lasts until it is killed: tcp_flow.py receive PORT, tcp_flow.py send ADDRESS PORT CONTROL.

The receiver prints "waiting" when it listens, the sender "sending" when its first bytes have left."""
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
        flow.sendall(bytes(PIECE))
        print("sending", flush=True)
        while True:
            flow.sendall(bytes(PIECE))


if __name__ == "__main__":
    try:
        {"receive": receive, "send": send}[sys.argv[1]](*sys.argv[2:])
    except KeyboardInterrupt:
        sys.exit(130)  # of the benchmark, which ends, too
    except ConnectionError:
        sys.exit(1)  # the other end was killed first
    except OSError as reason:
        sys.exit(f"tcp_flow.py {' '.join(sys.argv[1:])}: {reason.strerror}")
