// SPDX-License-Identifier: BSD-3-Clause
// Times the operations of the Intel MPI Benchmarks in the same way: the ranks meet at a barrier and repeat an
// operation as often as time permits, with changing roots. The mean of the ranks' times is printed, of a
// ping-pong those of rank 0. Before
// that each operation runs once with every root, and each byte of its result is checked.
//   mpirun ... mpi_collectives [--sizes N,..] [--operations NAME,..] [--ms TIME] [--buffers HOW] [--spoil
//   NAME]
// Prints a line of JSON for each operation and size. A size is the bytes between two ranks. --buffers says in
// which memory messages of a ping-pong lie: always the same, others in turn, or (received ones) fresh pages.
// --spoil changes a byte that arrived in that operation, which the check must find.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kMostSizes = 64, kMostBytes = 1 << 26, kLeastRepeats = 3, kMostRepeats = 50000 };
enum { kPool = 16 };  // messages in the memory of --buffers others

static enum { kSame, kOthers, kFresh } buffers;

static int rank, ranks, size, root, spoiled;
static unsigned char *out, *in;            // size * ranks bytes each
static int *counts, *places;               // for operations with a count for each rank
static unsigned char *out_pool, *in_pool;  // kPool messages each, with --buffers others
static unsigned char* received;  // where data of the operation arrived: `in`, or memory of --buffers

static void fail(const char* what, const char* which) {
  fprintf(stderr, "mpi_collectives, rank %d: %s %s\n", rank, what, which);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Returns the byte that `from` sends to `to` (-1: to all). number_of() returns the terms of sums: small whole
// numbers, whose sums are exact.
static unsigned char byte_of(int from, int to, int i) {
  return (unsigned char)(((unsigned)i * 2654435761u + (unsigned)from * 40503u + (unsigned)(to + 1) * 977u) >>
                         13);
}

static float number_of(int from, int i) {
  return (float)((i * 7 + from * 13) % 64);
}

static int floats(void) {
  return size / (int)sizeof(float);
}

static void fill_bytes(unsigned char* at, int to) {
  for (int i = 0; i < size; i++) at[i] = byte_of(rank, to, i);
}

static void fill_one(void) {
  fill_bytes(out, -1);
}

static void fill_each(void) {
  for (int to = 0; to < ranks; to++) fill_bytes(out + (size_t)to * (size_t)size, to);
}

static void fill_floats(void) {
  for (int i = 0; i < floats(); i++) ((float*)out)[i] = number_of(rank, i);
}

static int same_bytes(const unsigned char* at, int from, int to) {
  for (int i = 0; i < size; i++)
    if (at[i] != byte_of(from, to, i)) return 0;
  return 1;
}

// Checks `n` elements of the sum from element `first` on.
static int same_sums(int first, int n) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int from = 0; from < ranks; from++) sum += number_of(from, first + i);
    if (((float*)in)[i] != sum) return 0;
  }
  return 1;
}

static int same_all(int to) {
  for (int from = 0; from < ranks; from++)
    if (!same_bytes(in + (size_t)from * (size_t)size, from, to)) return 0;
  return 1;
}

static int left(void) {
  return (rank + ranks - 1) % ranks;
}
static int right(void) {
  return (rank + 1) % ranks;
}

static const unsigned char* departure(void) {
  static int turn;
  return buffers == kOthers ? out_pool + (size_t)(turn++ % kPool) * (size_t)size : out;
}

// Chooses the memory for the next message of a ping-pong.
static unsigned char* arrival(void) {
  static int turn;
  static void* mapped;
  static size_t length;
  if (mapped) munmap(mapped, length);
  mapped = NULL;
  received = in;
  if (buffers == kOthers) received = in_pool + (size_t)(turn++ % kPool) * (size_t)size;
  if (buffers == kFresh && size > 0) {
    length = (size_t)size;
    mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) fail("no memory for", "--buffers fresh");
    received = mapped;
  }
  return received;
}

static void do_pingpong(void) {
  if (rank == 0) {
    MPI_Send(departure(), size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(arrival(), size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(arrival(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(departure(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}
static int ok_pingpong(void) {
  return rank > 1 || same_bytes(received, 1 - rank, -1);
}
// Fills the memory that departure() chooses from, and makes the other part unlike any message.
static void fill_pingpong(void) {
  fill_one();
  if (buffers != kOthers) return;
  for (int i = 0; i < kPool; i++) fill_bytes(out_pool + (size_t)i * (size_t)size, -1);
  memset(in_pool, 0xa5, (size_t)kPool * (size_t)size);
}

static void do_sendrecv(void) {
  MPI_Sendrecv(out, size, MPI_BYTE, right(), 0, in, size, MPI_BYTE, left(), 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
static int ok_sendrecv(void) {
  return same_bytes(in, left(), -1);
}

static void do_exchange(void) {
  MPI_Request sent[2];
  MPI_Isend(out, size, MPI_BYTE, left(), 0, MPI_COMM_WORLD, &sent[0]);
  MPI_Isend(out, size, MPI_BYTE, right(), 1, MPI_COMM_WORLD, &sent[1]);
  MPI_Recv(in, size, MPI_BYTE, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(in + size, size, MPI_BYTE, right(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
}
static int ok_exchange(void) {
  return same_bytes(in, left(), -1) && same_bytes(in + size, right(), -1);
}

static void do_allreduce(void) {
  MPI_Allreduce(out, in, floats(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static int ok_allreduce(void) {
  return same_sums(0, floats());
}

static void do_reduce(void) {
  MPI_Reduce(out, in, floats(), MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
}
static int ok_reduce(void) {
  return rank != root || same_sums(0, floats());
}

// Divides the message among the ranks. The last rank also gets the remainder.
static void share_floats(void) {
  for (int r = 0; r < ranks; r++) {
    counts[r] = floats() / ranks;
    places[r] = r * counts[r];
  }
  counts[ranks - 1] = floats() - places[ranks - 1];
}

static void do_reduce_scatter(void) {
  MPI_Reduce_scatter(out, in, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static int ok_reduce_scatter(void) {
  return same_sums(places[rank], counts[rank]);
}

static void share_bytes(void) {
  for (int r = 0; r < ranks; r++) {
    counts[r] = size;
    places[r] = r * size;
  }
}

static void do_allgather(void) {
  MPI_Allgather(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
}
static void do_allgatherv(void) {
  MPI_Allgatherv(out, size, MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}
static int ok_allgather(void) {
  return same_all(-1);
}

static void do_gather(void) {
  MPI_Gather(out, size, MPI_BYTE, in, size, MPI_BYTE, root, MPI_COMM_WORLD);
}
static void do_gatherv(void) {
  MPI_Gatherv(out, size, MPI_BYTE, in, counts, places, MPI_BYTE, root, MPI_COMM_WORLD);
}
static int ok_gather(void) {
  return rank != root || same_all(-1);
}

static void do_scatter(void) {
  MPI_Scatter(out, size, MPI_BYTE, in, size, MPI_BYTE, root, MPI_COMM_WORLD);
}
static void do_scatterv(void) {
  MPI_Scatterv(out, counts, places, MPI_BYTE, in, size, MPI_BYTE, root, MPI_COMM_WORLD);
}
static int ok_scatter(void) {
  return same_bytes(in, root, rank);
}

static void do_alltoall(void) {
  MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
}
static void do_alltoallv(void) {
  MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}
static int ok_alltoall(void) {
  return same_all(rank);
}

static void do_bcast(void) {
  MPI_Bcast(rank == root ? out : in, size, MPI_BYTE, root, MPI_COMM_WORLD);
}
static int ok_bcast(void) {
  return rank == root || same_bytes(in, root, -1);
}

static void do_barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}
static int ok_barrier(void) {
  return 1;
}  // a barrier transfers no data

static const struct Operation {
  const char* name;
  void (*fill)(void);
  void (*share)(void);
  void (*run)(void);
  int (*ok)(void);
} kOperations[] = {
    {"pingpong", fill_pingpong, share_bytes, do_pingpong, ok_pingpong},
    {"sendrecv", fill_one, share_bytes, do_sendrecv, ok_sendrecv},
    {"exchange", fill_one, share_bytes, do_exchange, ok_exchange},
    {"allreduce", fill_floats, share_floats, do_allreduce, ok_allreduce},
    {"reduce", fill_floats, share_floats, do_reduce, ok_reduce},
    {"reduce_scatter", fill_floats, share_floats, do_reduce_scatter, ok_reduce_scatter},
    {"allgather", fill_one, share_bytes, do_allgather, ok_allgather},
    {"allgatherv", fill_one, share_bytes, do_allgatherv, ok_allgather},
    {"gather", fill_one, share_bytes, do_gather, ok_gather},
    {"gatherv", fill_one, share_bytes, do_gatherv, ok_gather},
    {"scatter", fill_each, share_bytes, do_scatter, ok_scatter},
    {"scatterv", fill_each, share_bytes, do_scatterv, ok_scatter},
    {"alltoall", fill_each, share_bytes, do_alltoall, ok_alltoall},
    {"alltoallv", fill_each, share_bytes, do_alltoallv, ok_alltoall},
    {"bcast", fill_one, share_bytes, do_bcast, ok_bcast},
    {"barrier", fill_one, share_bytes, do_barrier, ok_barrier},
};
enum { kOperationCount = sizeof kOperations / sizeof *kOperations, kUnknown = -1 };

static void check(const struct Operation* one) {
  one->fill();
  for (root = 0; root < ranks; root++) {
    memset(in, 0xa5, (size_t)size * (size_t)ranks);
    received = in;
    one->run();
    if (spoiled && size > 0) received[size / 2 / ranks] ^= 1;
    if (!one->ok()) fail("wrong data in", one->name);
  }
}

static double repeat(const struct Operation* one, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; i++) {
    root = i % ranks;
    one->run();
  }
  return (MPI_Wtime() - begin) / times;
}

// Repeats the operation for `seconds`. Returns the seconds of one operation, as the mean of the ranks' times.
// Of a ping-pong it returns those of rank 0: the last send of rank 1 may end long before its message arrives.
static double timed(const struct Operation* one, double seconds, int* times) {
  const double mine = repeat(one, kLeastRepeats);
  double longest;
  MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double fit = seconds / (longest > 1e-9 ? longest : 1e-9);
  *times = fit < kLeastRepeats ? kLeastRepeats : fit > kMostRepeats ? kMostRepeats : (int)fit;
  repeat(one, *times / 10 + 1);
  const double local = repeat(one, *times);
  if (one->run == do_pingpong) return local;
  double sum;
  MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum / ranks;
}

// Returns the operations of a list, a bit each in the order of kOperations, or kUnknown if a name is none of
// theirs.
static long operations_of(const char* list) {
  long found = 0;
  for (const char* name = list; *list; name = list + 1) {
    const size_t length = strcspn(name, ",");
    int k = 0;
    while (k < kOperationCount &&
           (strlen(kOperations[k].name) != length || strncmp(kOperations[k].name, name, length)))
      k++;
    if (k == kOperationCount) return kUnknown;
    found |= 1L << k;
    list = name + length;
  }
  return found;
}

static int parse_sizes(const char* text, int* sizes) {
  int count = 0;
  for (char* end;; text = end + 1) {
    const long value = strtol(text, &end, 10);
    if (end == text || value < 0 || value > kMostBytes || count == kMostSizes) return 0;
    sizes[count++] = (int)value;
    if (*end == 0) return count;
    if (*end != ',') return 0;
  }
}

static void buffers_choose(const char* how, size_t most) {
  buffers = !strcmp(how, "same") ? kSame : !strcmp(how, "others") ? kOthers : kFresh;
  if (buffers == kFresh && strcmp(how, "fresh") != 0) fail("--buffers wants same, others or fresh, not", how);
  if (buffers != kOthers) return;
  out_pool = malloc(most * kPool);
  in_pool = malloc(most * kPool);
  if (!out_pool || !in_pool) fail("no memory for --buffers", how);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *sizes_text = "16,4096,65536,4194304", *operations = "", *spoil = "", *ms = "100", *how = "same";
  for (int i = 1; i < argc; i += 2) {
    const char** option = !strcmp(argv[i], "--sizes")        ? &sizes_text
                          : !strcmp(argv[i], "--operations") ? &operations
                          : !strcmp(argv[i], "--spoil")      ? &spoil
                          : !strcmp(argv[i], "--ms")         ? &ms
                          : !strcmp(argv[i], "--buffers")    ? &how
                                                             : NULL;
    if (!option || i + 1 == argc)
      fail("options are --sizes, --operations, --ms, --buffers and --spoil, with a value, not", argv[i]);
    *option = argv[i + 1];
  }
  int sizes[kMostSizes], most = 0;
  const int count = parse_sizes(sizes_text, sizes);
  if (!count) fail("--sizes wants up to 64 numbers of bytes, at most 67108864, with commas, not", sizes_text);
  const long wanted = operations_of(operations), spoils = operations_of(spoil);
  if (wanted == kUnknown) fail("--operations wants names such as alltoall, with commas, not", operations);
  if (spoils == kUnknown) fail("--spoil wants names such as alltoall, with commas, not", spoil);
  if (ranks < 2) fail("start two ranks or more with", "mpirun -n");
  const double seconds = atof(ms) / 1e3;
  if (!(seconds > 0)) fail("--ms wants milliseconds, not", ms);
  for (int i = 0; i < count; i++) most = sizes[i] > most ? sizes[i] : most;
  out = malloc((size_t)(most + 4) * (size_t)ranks);
  in = malloc((size_t)(most + 4) * (size_t)ranks);
  counts = malloc((size_t)ranks * sizeof *counts);
  places = malloc((size_t)ranks * sizeof *places);
  if (!out || !in || !counts || !places) fail("no memory for --sizes", sizes_text);
  buffers_choose(how, (size_t)most + 1);
  for (int k = 0; k < kOperationCount; k++) {
    const struct Operation* one = &kOperations[k];
    if (wanted && !(wanted >> k & 1)) continue;
    spoiled = spoils >> k & 1;
    for (int i = 0; i < count; i++) {
      size = one->run == do_barrier ? 0 : sizes[i];
      one->share();
      check(one);
      int times;
      const double us = timed(one, seconds, &times) * (one->run == do_pingpong ? 0.5e6 : 1e6);
      if (rank == 0) {
        printf("{\"operation\":\"%s\",\"size\":%d,\"us\":%.3f,\"times\":%d}\n", one->name, size, us, times);
        fflush(stdout);  // keeps the results so far if the time is over before the rest
      }
      if (one->run == do_barrier) break;
    }
  }
  free(out);
  free(in);
  free(counts);
  free(places);
  free(out_pool);
  free(in_pool);
  MPI_Finalize();
  return 0;
}
