// SPDX-License-Identifier: BSD-3-Clause
// An MPI job with numbered messages, for tests in which a host falls silent. A receiver that sees a wrong
// number prints "hole" and ends the job. So a lost message is never mistaken for a slow one.
//   mpirun ... omx_silence_mpi MODE [COUNT] [any]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size, any_source;
static long count = 1;

static void fail(const char* what, long got, long wanted) {
  printf("rank %d: %s: received %ld where %ld was next\n", rank, what, got, wanted);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void say(const char* what) {
  printf("rank %d %s pid %d\n", rank, what, (int)getpid());
  fflush(stdout);
}

static void pause_ms(long ms) {
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

// Returns the other rank of a pair. Ranks are spread over the hosts in turn, so the two are on different
// hosts.
static int peer(void) {
  return rank ^ 1;
}

static void fill(unsigned char* p, int n, long seed) {
  for (int i = 0; i < n; i++)
    p[i] = (unsigned char)(((unsigned long)i * 2654435761u + (unsigned long)seed) >> 11);
  if (n >= 8) memcpy(p, &seed, 8);
}

static void check(const unsigned char* p, int n, long seed) {
  static unsigned char wanted[32768];
  long got = 0;
  memcpy(&got, p, 8);
  if (got != seed) fail("hole", got, seed);
  fill(wanted, n, seed);
  if (memcmp(p, wanted, (size_t)n)) fail("wrong content", n, n);
}

// Lets the even rank of each pair send COUNT numbers, one a millisecond.
static void stream(void) {
  for (long n = 0; n < count; n++) {
    long got = -1;
    if (rank % 2 == 0) {
      MPI_Send(&n, 8, MPI_BYTE, peer(), 1, MPI_COMM_WORLD);
      pause_ms(1);
    } else {
      MPI_Recv(&got, 8, MPI_BYTE, any_source ? MPI_ANY_SOURCE : peer(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (got != n) fail("hole", got, n);
    }
    if (n == 100) say("ready");
  }
}

// Sends messages of three sizes, of three message classes, from both sides.
static void exchange(void) {
  static const int sizes[] = {8, 3000, 20000};
  static unsigned char out[3][20000], in[3][20000];
  for (long n = 0; n < count; n++) {
    MPI_Request r[6];
    for (int i = 0; i < 3; i++) MPI_Irecv(in[i], sizes[i], MPI_BYTE, peer(), 2, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < 3; i++) {
      fill(out[i], sizes[i], n * 3 + i);
      MPI_Isend(out[i], sizes[i], MPI_BYTE, peer(), 2, MPI_COMM_WORLD, &r[3 + i]);
    }
    MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) check(in[i], sizes[i], n * 3 + i);
    pause_ms(1);
    if (n == 100) say("ready");
  }
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

// Sends the first message between two ranks. COUNT is its size.
static void sendrecv(void) {
  unsigned char *out = malloc((size_t)count), *in = malloc((size_t)count);
  memset(out, rank, (size_t)count);
  memset(in, 255, (size_t)count);
  MPI_Sendrecv(out, (int)count, MPI_BYTE, peer(), 3, in, (int)count, MPI_BYTE, peer(), 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (long i = 0; i < count; i++)
    if (in[i] != peer()) fail("wrong content", in[i], peer());
  free(out);
  free(in);
}

// Exchanges messages between all pairs of ranks.
static void mesh(void) {
  for (int round = 0; round < size; round++) {
    const int peer = (round - rank + 2 * size) % size;
    int got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, peer, 4, &got, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != peer) fail("wrong content", got, peer);
  }
}

// Sends COUNT messages of 1 KiB, which wait at the receiver or at the sender until the last of them was
// received.
static void inverted(void) {
  enum { kBytes = 1024 };
  MPI_Request* const sent = malloc((size_t)count * sizeof *sent);
  long* const data = calloc((size_t)count, kBytes);
  for (long n = 0; n < count && rank % 2 == 0; n++) {
    data[n * (kBytes / 8)] = n;
    MPI_Isend(data + n * (kBytes / 8), kBytes, MPI_BYTE, peer(), (int)n, MPI_COMM_WORLD, &sent[n]);
  }
  for (long i = 0; i < count && rank % 2; i++) {
    const long n = i == 0 ? count - 1 : i - 1;
    MPI_Recv(data, kBytes, MPI_BYTE, peer(), (int)n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (data[0] != n) fail("wrong content", data[0], n);
  }
  if (rank % 2 == 0) MPI_Waitall((int)count, sent, MPI_STATUSES_IGNORE);
  free(data);
  free(sent);
}

static const struct {
  const char* name;
  void (*run)(void);
} kModes[] = {{"stream", stream},     {"exchange", exchange}, {"barrier", barrier},
              {"sendrecv", sendrecv}, {"mesh", mesh},         {"inverted", inverted}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const mode = argc > 1 ? argv[1] : "";
  if (argc > 2) count = strtol(argv[2], NULL, 10);
  any_source = argc > 3 && !strcmp(argv[3], "any");
  say("started");
  int known = 0;
  for (unsigned i = 0; i < sizeof kModes / sizeof *kModes; i++)
    if (!strcmp(mode, kModes[i].name)) {
      known = 1;
      kModes[i].run();
    }
  if (!known) fail("no such mode", 0, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  say("complete");
  MPI_Finalize();
  return 0;
}
