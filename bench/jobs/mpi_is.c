// SPDX-License-Identifier: BSD-3-Clause
// The communication of the NAS benchmark IS: keys are sorted by buckets, ten times. In each sort the ranks
// add up the sizes of the buckets (Allreduce) and divide the buckets so that all ranks get about as many
// keys. Then they exchange the counts (Alltoall), send the keys (Alltoallv) and rank what they received. The
// keys come from the generator that NAS prescribes, and two of them change for each sort.
//   mpirun ... mpi_is [--keys LOG2] [--spoil all]
// Prints the seconds of ten sorts. Checks the last sort: keys are in order within and between ranks, and are
// the same keys as before (their number, sum, and sum of squares). --spoil changes a received key.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 10, kBuckets = 1024, kLeastLog = 16, kMostLog = 27 };

static int rank, ranks;

static void fail(const char* what) {
  fprintf(stderr, "mpi_is, rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* need(size_t bytes) {
  void* at = malloc(bytes);
  if (!at) fail("no memory");
  return at;
}

// Returns x * a modulo 2^46. state_after() returns the generator's state after n steps.
static uint64_t times(uint64_t x, uint64_t a) {
  return (x * a) & ((1ULL << 46) - 1);
}

static uint64_t state_after(uint64_t n) {
  uint64_t x = 314159265, a = 1220703125;
  for (; n; n >>= 1, a = times(a, a))
    if (n & 1) x = times(x, a);
  return x;
}

static uint32_t* make_keys(long count, long first, uint32_t limit) {
  uint32_t* keys = need((size_t)count * sizeof *keys);
  uint64_t x = state_after(4 * (uint64_t)first);
  for (long i = 0; i < count; i++) {
    double sum = 0;
    for (int k = 0; k < 4; k++) sum += (double)(x = times(x, 1220703125)) / (double)(1ULL << 46);
    keys[i] = (uint32_t)(limit / 4 * sum);
  }
  return keys;
}

// Chooses a rank for each bucket, so that all ranks get about as many keys.
static void share_buckets(const int* totals, long keys, int* owner) {
  long before = 0;
  for (int b = 0; b < kBuckets; b++) {
    owner[b] = (int)(before * ranks / keys);
    before += totals[b];
  }
}

static void places_of(const int* counts, int* places) {
  places[0] = 0;
  for (int r = 1; r < ranks; r++) places[r] = places[r - 1] + counts[r - 1];
}

struct Sorting {
  long keys;       // on all ranks
  uint32_t limit;  // keys are below it
  int shift;       // shifts a key to its bucket
  long mine;
  uint32_t *own, *ordered, *got;
  int got_count, got_room;
  int* counts;  // of each key value, after a sort
};

static void sort(struct Sorting* s) {
  int sizes[kBuckets] = {0}, totals[kBuckets], owner[kBuckets], at[kBuckets];
  int sent[ranks], sent_at[ranks], came[ranks], came_at[ranks];
  for (long i = 0; i < s->mine; i++) sizes[s->own[i] >> s->shift]++;
  MPI_Allreduce(sizes, totals, kBuckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  share_buckets(totals, s->keys, owner);
  memset(sent, 0, sizeof sent);
  for (int b = 0, place = 0; b < kBuckets; place += sizes[b++]) {
    at[b] = place;
    sent[owner[b]] += sizes[b];
  }
  for (long i = 0; i < s->mine; i++) s->ordered[at[s->own[i] >> s->shift]++] = s->own[i];
  MPI_Alltoall(sent, 1, MPI_INT, came, 1, MPI_INT, MPI_COMM_WORLD);
  places_of(sent, sent_at);
  places_of(came, came_at);
  s->got_count = came_at[ranks - 1] + came[ranks - 1];
  if (s->got_count > s->got_room) {
    free(s->got);
    s->got_room = s->got_count + s->got_count / 8;
    s->got = need((size_t)s->got_room * sizeof *s->got);
  }
  MPI_Alltoallv(s->ordered, sent, sent_at, MPI_UINT32_T, s->got, came, came_at, MPI_UINT32_T, MPI_COMM_WORLD);
  memset(s->counts, 0, s->limit * sizeof *s->counts);
  for (int i = 0; i < s->got_count; i++) s->counts[s->got[i]]++;
}

static void add_up(const uint32_t* keys, long count, uint64_t sums[3]) {
  sums[0] = (uint64_t)count;
  sums[1] = sums[2] = 0;
  for (long i = 0; i < count; i++) {
    sums[1] += keys[i];
    sums[2] += (uint64_t)keys[i] * keys[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void check(const struct Sorting* s) {
  uint64_t before[3], after[3];
  add_up(s->own, s->mine, before);
  add_up(s->got, s->got_count, after);
  if (memcmp(before, after, sizeof before)) fail("wrong data in is: other keys than were sent");
  // `counts` holds a rank's keys in order. So only each rank's smallest and largest key must be compared
  // between ranks.
  uint32_t ends[2] = {s->limit, 0}, all[ranks][2];
  for (int i = 0; i < s->got_count; i++) {
    if (s->got[i] < ends[0]) ends[0] = s->got[i];
    if (s->got[i] > ends[1]) ends[1] = s->got[i];
  }
  MPI_Allgather(ends, 2, MPI_UINT32_T, all, 2, MPI_UINT32_T, MPI_COMM_WORLD);
  for (int r = 1; r < ranks; r++)
    if (all[r][0] < all[r - 1][1]) fail("wrong data in is: not in order");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int log = 23, spoil = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--keys"))
      log = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--spoil"))
      spoil = 1;
    else
      fail("options are --keys and --spoil, with a value");
  }
  if (log < kLeastLog || log > kMostLog) fail("--keys wants a logarithm from 16 to 27");
  // As in NAS, there are a sixteenth as many values as keys. (Class S has a 32nd.)
  struct Sorting s = {.keys = 1L << log, .limit = 1U << (log - 4), .shift = log - 4 - 10};
  const long first = s.keys * rank / ranks;
  s.mine = s.keys * (rank + 1) / ranks - first;
  s.own = make_keys(s.mine, first, s.limit);
  s.ordered = need((size_t)s.mine * sizeof *s.ordered);
  s.counts = need(s.limit * sizeof *s.counts);
  sort(&s);  // not timed, as in NAS
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int round = 1; round <= kRounds; round++) {
    if (rank == 0) {
      s.own[round] = (uint32_t)round;
      s.own[round + kRounds] = s.limit - (uint32_t)round;
    }
    sort(&s);
  }
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (spoil) s.got[s.got_count / 2] ^= 1;
  check(&s);
  if (rank == 0)
    printf("{\"operation\":\"is\",\"size\":%ld,\"us\":%.3f,\"times\":%d}\n", s.keys, seconds * 1e6, kRounds);
  free(s.own);
  free(s.ordered);
  free(s.got);
  free(s.counts);
  MPI_Finalize();
  return 0;
}
