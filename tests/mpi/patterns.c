// SPDX-License-Identifier: BSD-3-Clause
// Five patterns of MPI that providers of libfabric get wrong (docs/spec/libfabric.md 2.7): large messages,
// synchronous sends with probing, matched probes, cancelling, truncation. They run between every pair of
// ranks, and each byte is checked.
//   mpirun ... patterns [large|probe|mprobe|cancel|truncate ...], or: patterns forever
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void fail(const char* what, int peer) {
  fprintf(stderr, "rank %d with %d: %s\n", rank, peer, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(unsigned char* p, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) p[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
}

static void check(const unsigned char* p, size_t n, unsigned seed, int peer) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != (unsigned char)((i * 2654435761u + seed) >> 13)) fail("wrong data", peer);
}

static unsigned char *out, *in;
enum { kMost = 8 << 20 };

static void large(int peer) {
  for (int n = 1; n <= kMost; n = n * 7 + 1) {
    fill(out, (size_t)n, (unsigned)(rank + n));
    memset(in, 0, (size_t)n);
    MPI_Request r[2];
    MPI_Irecv(in, n, MPI_BYTE, peer, n & 1023, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, n, MPI_BYTE, peer, n & 1023, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    check(in, (size_t)n, (unsigned)(peer + n), peer);
  }
}

static void probe(int peer) {
  const int sizes[] = {0, 1, 100, 5000, 70000, 1000000};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    MPI_Request sent;
    fill(out, (size_t)sizes[i], (unsigned)rank);
    MPI_Issend(out, sizes[i], MPI_BYTE, peer, 7, MPI_COMM_WORLD, &sent);
    int there = 0, n = -1;
    MPI_Status status;
    while (!there) MPI_Iprobe(i % 2 ? peer : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    MPI_Get_count(&status, MPI_BYTE, &n);
    if (n != sizes[i] || status.MPI_TAG != 7 || status.MPI_SOURCE != peer)
      fail("probe saw something else", peer);
    MPI_Recv(in, n, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(in, (size_t)n, (unsigned)peer, peer);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
}

static void mprobe(int peer) {
  const int sizes[] = {0, 10, 40000, 3000000};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    MPI_Request sent[2];
    unsigned char last = 42;
    fill(out, (size_t)sizes[i], (unsigned)rank);
    MPI_Isend(out, sizes[i], MPI_BYTE, peer, 9, MPI_COMM_WORLD, &sent[0]);
    MPI_Isend(&last, 1, MPI_BYTE, peer, 9, MPI_COMM_WORLD, &sent[1]);
    MPI_Message message;
    MPI_Status status;
    int n = -1, there = 0;
    if (i % 2)
      MPI_Mprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &message, &status);
    else
      while (!there) MPI_Improbe(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, &status);
    // A receive that is posted now gets the second message, as the first is taken.
    unsigned char second = 0;
    MPI_Recv(&second, 1, MPI_BYTE, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (second != 42) fail("the claimed message was received by another receive", peer);
    MPI_Get_count(&status, MPI_BYTE, &n);
    if (n != sizes[i]) fail("matched probe saw another length", peer);
    MPI_Mrecv(in, n, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    check(in, (size_t)n, (unsigned)peer, peer);
    MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
  }
}

static void cancel(int peer) {
  for (int i = 0; i < 50; i++) {
    MPI_Request never, later, sent;
    MPI_Status status;
    int cancelled = 0;
    MPI_Irecv(in, 100, MPI_BYTE, peer, 1000 + i, MPI_COMM_WORLD, &never);
    MPI_Irecv(in + 100, 100, MPI_BYTE, peer, 11, MPI_COMM_WORLD, &later);
    MPI_Cancel(&never);
    MPI_Wait(&never, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled) fail("a receive without a sender was not cancelled", peer);
    fill(out, 100, (unsigned)(rank + i));
    MPI_Isend(out, 100, MPI_BYTE, peer, 11, MPI_COMM_WORLD, &sent);
    MPI_Wait(&later, MPI_STATUS_IGNORE);
    check(in + 100, 100, (unsigned)(peer + i), peer);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
}

static void truncate_one(int peer, int n, int room, int late) {
  MPI_Request sent, got;
  MPI_Status status;
  fill(out, (size_t)n, (unsigned)rank);
  memset(in, 0xEE, (size_t)room + 64);
  if (!late) MPI_Irecv(in, room, MPI_BYTE, peer, 13, MPI_COMM_WORLD, &got);
  MPI_Isend(out, n, MPI_BYTE, peer, 13, MPI_COMM_WORLD, &sent);
  if (late) {
    int there = 0;
    while (!there) MPI_Iprobe(peer, 13, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Irecv(in, room, MPI_BYTE, peer, 13, MPI_COMM_WORLD, &got);
  }
  int class = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Wait(&got, &status);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Error_class(code, &class);
  // MPI reports another error, such as a lost peer.
  if (class != MPI_ERR_TRUNCATE && code != MPI_SUCCESS) MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  if (class != MPI_ERR_TRUNCATE) fail("a message too long was not reported", peer);
  for (int i = 0; i < 64; i++)
    if (in[room + i] != 0xEE) fail("memory behind the receive was written", peer);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void truncate(int peer) {
  const int sizes[] = {20, 100, 20000, 500000};
  for (unsigned i = 0; i < 8; i++) {
    truncate_one(peer, sizes[i / 2], sizes[i / 2] / 2, i % 2);
    large(peer);  // the connection still works
  }
}

static const struct {
  const char* name;
  void (*run)(int peer);
} kPatterns[] = {
    {"large", large}, {"probe", probe}, {"mprobe", mprobe}, {"cancel", cancel}, {"truncate", truncate}};

static int chosen(const char* name, int argc, char** argv) {
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], name)) return 1;
  return argc < 2 || !strcmp(argv[1], "forever");
}

static void run(unsigned p) {
  // Each round pairs all ranks. A rank alone in a round is its own peer.
  for (int round = 0; round < size; round++) {
    const int peer = (round - rank + 2 * size) % size;
    kPatterns[p].run(peer);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) {
    printf("%s ok\n", kPatterns[p].name);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out = malloc(kMost);
  in = malloc(kMost + 64);
  do {
    for (unsigned p = 0; p < sizeof kPatterns / sizeof *kPatterns; p++)
      if (chosen(kPatterns[p].name, argc, argv)) run(p);
  } while (argc > 1 && !strcmp(argv[1], "forever"));
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
