# SPDX-License-Identifier: BSD-3-Clause
"""MPI from Python (mpi4py): every way to send, every collective, windows, and objects of any size. Each result is
checked.

Runs on two ranks or more. Rank 0 prints what it has checked. mpi4py's own tests come with its source only.
"""
import itertools
import sys

import mpi4py

mpi4py.rc.recv_mprobe = False  # docs/reference/libfabric.md
from mpi4py import MPI  # noqa: E402
import numpy as np  # noqa: E402

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size
TYPES = "bhilqBHILQfdFD?"
LENGTHS = (0, 1, 7, 100, 5000, 70001)
seen = []


def part(function):
    function()
    WORLD.Barrier()
    seen.append(function.__name__)


def values(kind, count, seed):
    return ((np.arange(count) * 7 + seed * 13) % 101).astype(kind)


def same(got, wanted, what):
    if not np.array_equal(got, wanted):
        raise AssertionError(f"rank {RANK}: {what}: {got[:8]}... instead of {wanted[:8]}...")


@part
def point_to_point():
    """Every kind of send, to both neighbours, any type and length."""
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    for kind, count in itertools.product(TYPES, LENGTHS):
        out, got = values(kind, count, RANK), np.zeros(count, kind)
        for send in (WORLD.Isend, WORLD.Issend):
            request = send(out, right, 3)
            WORLD.Recv(got, left, 3)
            request.Wait()
            same(got, values(kind, count, left), f"{send.__name__} {kind} {count}")
        WORLD.Sendrecv(out, left, 4, got, right, 4)
        same(got, values(kind, count, right), f"Sendrecv {kind} {count}")
    MPI.Attach_buffer(np.empty(1 << 20, "b"))
    got = np.zeros(1000, "i")
    WORLD.Bsend(values("i", 1000, RANK), right, 5)
    WORLD.Recv(got, left, 5)
    same(got, values("i", 1000, left), "Bsend")
    MPI.Detach_buffer()
    status = MPI.Status()
    request = WORLD.Irecv(got, MPI.ANY_SOURCE, MPI.ANY_TAG)
    WORLD.Barrier()
    WORLD.Rsend(values("i", 1000, RANK), right, 6)
    request.Wait(status)
    assert (status.source, status.tag, status.Get_count(MPI.INT)) == (left, 6, 1000)


@part
def persistent_probed_and_cancelled():
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    out, got = values("d", 20000, RANK), np.zeros(20000, "d")
    requests = [WORLD.Send_init(out, right, 1), WORLD.Recv_init(got, left, 1)]
    for _ in range(5):
        got[:] = 0
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        same(got, values("d", 20000, left), "persistent")
    for request in requests:
        request.Free()
    for count in LENGTHS:
        request = WORLD.Isend(values("i", count, RANK), right, 9)
        status = MPI.Status()
        message = WORLD.Mprobe(left, 9, status)
        assert status.Get_count(MPI.INT) == count
        got = np.zeros(count, "i")
        message.Recv(got)
        same(got, values("i", count, left), "Mprobe")
        request.Wait()
    never = WORLD.Irecv(np.zeros(1, "i"), left, 77)
    never.Cancel()
    never.Wait(status)
    assert status.Is_cancelled()


@part
def objects():
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    for thing in ({"a": [1, 2.5, "drei"]}, b"x" * 300000, list(range(50000)), None, set("abc")):
        assert WORLD.sendrecv((RANK, thing), right, 2, source=left, recvtag=2) == (left, thing)
        assert WORLD.bcast(thing if RANK == 0 else 5, 0) == thing
        assert WORLD.allgather((RANK, thing)) == [(r, thing) for r in range(SIZE)]
        assert WORLD.alltoall([(RANK, r) for r in range(SIZE)]) == [(r, RANK) for r in range(SIZE)]


@part
def layouts():
    """Derived types: columns of a matrix, a structure with holes."""
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    for rows, columns in ((5, 7), (300, 200)):
        matrix = values("d", rows * columns, RANK)
        column = MPI.DOUBLE.Create_vector(rows, 1, columns).Commit()
        got = np.zeros((rows, columns))
        request = WORLD.Isend([matrix[2:], 1, column], right, 1)
        WORLD.Recv([got.reshape(-1)[4:], 1, column], left, 1)
        request.Wait()
        same(got[:, 4], values("d", rows * columns, left).reshape(rows, columns)[:, 2], "a column")
        assert np.count_nonzero(got) == np.count_nonzero(got[:, 4])
        column.Free()
    record = np.dtype([("a", "i4"), ("b", "f8")], align=True)
    kind = MPI.Datatype.Create_struct([1, 1], [0, record.fields["b"][1]], [MPI.INT, MPI.DOUBLE])
    kind = kind.Create_resized(0, record.itemsize).Commit()
    out, got = np.zeros(5000, record), np.zeros(5000, record)
    out["a"], out["b"] = np.arange(5000) + RANK, np.arange(5000) * 0.5
    WORLD.Sendrecv([out, 5000, kind], right, 1, [got, 5000, kind], left, 1)
    same(got["a"], np.arange(5000) + left, "a structure")
    same(got["b"], np.arange(5000) * 0.5, "a structure")


@part
def collectives():
    for kind, count in itertools.product("ild", LENGTHS):
        mine = values(kind, count, RANK)
        everybody = [values(kind, count, r) for r in range(SIZE)]
        for blocking in (True, False):
            def call(name, *arguments):
                if blocking:
                    getattr(WORLD, name)(*arguments)
                else:
                    getattr(WORLD, "I" + name.lower())(*arguments).Wait()

            root = count % SIZE
            got = mine.copy()
            call("Bcast", got, root)
            same(got, everybody[root], "Bcast")
            for operation, of in ((MPI.SUM, np.sum), (MPI.MAX, np.max)):
                got = np.zeros(count, kind)
                call("Allreduce", mine, got, operation)
                same(got, of(everybody, axis=0).astype(kind), "Allreduce")
                got = np.zeros(count, kind)
                call("Reduce", mine, got, operation, root)
                if RANK == root:
                    same(got, of(everybody, axis=0).astype(kind), "Reduce")
                got = np.zeros(count, kind)
                call("Scan", mine, got, operation)
                same(got, of(everybody[:RANK + 1], axis=0).astype(kind), "Scan")
            got = np.zeros(SIZE * count, kind)
            call("Allgather", mine, got)
            same(got, np.concatenate(everybody), "Allgather")
            got = np.zeros(SIZE * count, kind)
            call("Gather", mine, got, root)
            if RANK == root:
                same(got, np.concatenate(everybody), "Gather")
            got = np.zeros(count, kind)
            call("Scatter", np.concatenate([everybody[r] for r in range(SIZE)]), got, root)
            same(got, mine, "Scatter")
            out = np.concatenate([values(kind, count, RANK * SIZE + r) for r in range(SIZE)])
            got = np.zeros(SIZE * count, kind)
            call("Alltoall", out, got)
            same(got, np.concatenate([values(kind, count, r * SIZE + RANK) for r in range(SIZE)]), "Alltoall")
            counts = [count + r for r in range(SIZE)]
            got = np.zeros(sum(counts), kind)
            call("Allgatherv", values(kind, counts[RANK], RANK), [got, counts])
            same(got, np.concatenate([values(kind, counts[r], r) for r in range(SIZE)]), "Allgatherv")


def windows():
    """One-sided: fences, locks, start and post; accumulation and comparison."""
    for count in (1, 1000, 50000):
        memory = values("q", count, RANK)
        window = MPI.Win.Create(memory, 8, comm=WORLD)
        right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
        got = np.zeros(count, "q")
        window.Fence()
        window.Get(got, right)
        window.Fence()
        same(got, values("q", count, right), "Get")
        # Data that a window sends must stay until its epoch ends.
        out = values("q", count, RANK + 50)
        window.Put(out, right)
        window.Fence()
        same(memory, values("q", count, left + 50), "Put")
        window.Fence()
        added = np.full(count, RANK + 1, "q")
        for target in range(SIZE):
            window.Accumulate(added, target, op=MPI.SUM)
        window.Fence()
        same(memory, values("q", count, left + 50) + SIZE * (SIZE + 1) // 2, "Accumulate")
        WORLD.Barrier()
        window.Lock(0)
        before = np.zeros(1, "q")
        thousand = np.full(1, 1000, "q")
        window.Fetch_and_op(thousand, before, 0, 0, MPI.SUM)
        window.Unlock(0)
        WORLD.Barrier()
        if RANK == 0:
            window.Lock(0)
            same(memory[:1], values("q", 1, left + 50) + SIZE * (SIZE + 1) // 2 + 1000 * SIZE, "Fetch_and_op")
            window.Unlock(0)
        window.Lock_all()
        window.Flush_all()
        window.Unlock_all()
        group = WORLD.group.Incl([left])
        to = WORLD.group.Incl([right])
        window.Post(group)
        window.Start(to)
        out = values("q", count, RANK + 7)
        window.Put(out, right)
        window.Complete()
        window.Wait()
        same(memory, values("q", count, left + 7), "Put between Start and Complete")
        window.Free()


# Open MPI 5.0.7 makes no window between hosts with pml cm, whatever the provider.
if not MPI.Get_library_version().startswith("Open MPI v5"):
    part(windows)


@part
def communicators():
    half = WORLD.Split(RANK % 2, -RANK)
    members = [r for r in reversed(range(SIZE)) if r % 2 == RANK % 2]
    assert half.allgather(RANK) == members
    copy = WORLD.Dup()
    request = copy.Irecv(got := np.zeros(1, "i"), (RANK - 1) % SIZE, 1)
    WORLD.Barrier()
    copy.Send(np.full(1, RANK, "i"), (RANK + 1) % SIZE, 1)
    request.Wait()
    assert got[0] == (RANK - 1) % SIZE
    between = half.Create_intercomm(0, WORLD, SIZE - 1 - (SIZE - 1 + RANK + 1) % 2, 8)
    others = between.remote_size
    assert between.allgather(RANK) == [r for r in reversed(range(SIZE)) if r % 2 != RANK % 2] and others == SIZE - len(members)
    ring = WORLD.Create_cart([SIZE], periods=[True])
    before, after = ring.Shift(0, 1)
    assert ring.sendrecv(ring.rank, after, 0, source=before, recvtag=0) == before
    for communicator in (between, half, copy, ring):
        communicator.Free()


if RANK == 0:
    print(f"{SIZE} ranks: {' '.join(seen)}")
    sys.stdout.flush()
