// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication: put, get, accumulate and the atomic operations, in every kind of epoch, between
// all pairs of ranks.
//   mpirun ... one_sided [TIMES]      how often the small exchanges are repeated (200)
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWords = 1 << 18, kCounter = 0, kSwap = 1, kFirst = 16 };

static int rank, size, times = 200;

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int word(int who, int i, int round) {
  return who * 1000003 + i * 31 + round;
}

// Writes into the right neighbour's memory and reads it back from there.
static void fence(MPI_Win win, int* memory) {
  int* mine = malloc(kWords * sizeof(int));
  int* theirs = malloc(kWords * sizeof(int));
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int n = 1, round = 0; n <= kWords - kFirst; n = n * 7 + 1, round++) {
    for (int i = 0; i < n; i++) mine[i] = word(rank, i, round);
    MPI_Win_fence(0, win);
    MPI_Put(mine, n, MPI_INT, right, kFirst, n, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++) require(memory[kFirst + i] == word(left, i, round), "wrong data after a put");
    MPI_Win_fence(0, win);
    memset(theirs, 0, kWords * sizeof(int));
    MPI_Get(theirs, n, MPI_INT, right, kFirst, n, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++) require(theirs[i] == mine[i], "wrong data after a get");
    MPI_Win_fence(0, win);
    MPI_Accumulate(mine, n, MPI_INT, right, kFirst, n, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++)
      require(memory[kFirst + i] == (int)(2u * (unsigned)word(left, i, round)), "wrong sum");
  }
  free(theirs);
  free(mine);
}

// Transfers a column of a matrix, whose pieces are not contiguous at either end.
static void strided(MPI_Win win, int* memory) {
  enum { kRows = 500, kPitch = 7 };
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int* mine = calloc(kRows * kPitch, sizeof(int));
  for (int i = 0; i < kRows; i++) mine[i * kPitch] = word(rank, i, 9);
  memset(memory, 0, kWords * sizeof(int));
  MPI_Datatype column;
  MPI_Type_vector(kRows, 1, kPitch, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Win_fence(0, win);
  MPI_Put(mine, 1, column, right, kFirst, 1, column, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < kRows * kPitch; i++)
    require(memory[kFirst + i] == (i % kPitch ? 0 : word(left, i / kPitch, 9)), "wrong column");
  MPI_Type_free(&column);
  free(mine);
}

static void post_start(MPI_Win win, int* memory) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Group world, origin, target;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &left, &origin);
  MPI_Group_incl(world, 1, &right, &target);
  for (int i = 0; i < times; i++) {
    const int value = word(rank, i, 3);
    MPI_Win_post(origin, 0, win);
    MPI_Win_start(target, 0, win);
    MPI_Put(&value, 1, MPI_INT, right, kFirst, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    require(memory[kFirst] == word(left, i, 3), "wrong data after post and start");
  }
  MPI_Group_free(&world);
  MPI_Group_free(&origin);
  MPI_Group_free(&target);
}

// Lets all ranks count on rank 0, each with the lock that `exclusive` selects.
static void locks(MPI_Win win, int* memory, int exclusive) {
  memory[kCounter] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < times; i++) {
    const int one = 1;
    int before = -1;
    MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
    if (exclusive) {
      MPI_Get(&before, 1, MPI_INT, 0, kCounter, 1, MPI_INT, win);
      MPI_Win_flush(0, win);
      before++;
      MPI_Put(&before, 1, MPI_INT, 0, kCounter, 1, MPI_INT, win);
    } else {
      MPI_Fetch_and_op(&one, &before, MPI_INT, 0, kCounter, MPI_SUM, win);
    }
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int count = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Get(&count, 1, MPI_INT, 0, kCounter, 1, MPI_INT, win);
  MPI_Win_unlock(0, win);
  require(count == times * size, exclusive ? "an exclusive lock let two in" : "fetched sums were lost");
  MPI_Barrier(MPI_COMM_WORLD);
}

// Passes a token round: the rank that swaps it in from its left passes it on.
static void swaps(MPI_Win win, int* memory) {
  memory[kSwap] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 20; i++) {
    const int wanted = i * size + rank, next = wanted + 1;
    int seen = -1;
    while (seen != wanted) {
      MPI_Compare_and_swap(&next, &wanted, &seen, MPI_INT, 0, kSwap, win);
      MPI_Win_flush(0, win);
      require(seen <= wanted, "a swap was made twice");
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void requests(MPI_Win win) {
  double in[100], out[100], sum[100];
  const int right = (rank + 1) % size;
  for (int i = 0; i < 100; i++) out[i] = rank + i * 0.5;
  MPI_Request request;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
  MPI_Rput(out, 100, MPI_DOUBLE, right, kFirst, 100, MPI_DOUBLE, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(right, win);
  MPI_Rget_accumulate(out, 100, MPI_DOUBLE, sum, 100, MPI_DOUBLE, right, kFirst, 100, MPI_DOUBLE, MPI_SUM,
                      win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(right, win);
  MPI_Rget(in, 100, MPI_DOUBLE, right, kFirst, 100, MPI_DOUBLE, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock(right, win);
  for (int i = 0; i < 100; i++) require(sum[i] == out[i] && in[i] == 2 * out[i], "wrong result of a request");
}

// Lets all ranks at once change rank 0's memory, with operators that a provider's atomic operations may lack.
static void operators(void) {
  double* cells = NULL;
  MPI_Win win;
  MPI_Win_allocate(rank == 0 ? 4 * sizeof(double) : 0, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &cells,
                   &win);
  for (int i = 0; rank == 0 && i < 4; i++) cells[i] = 1;
  MPI_Win_fence(0, win);
  const double two = 2, mine = rank;
  double before = -1, none = 0;
  MPI_Accumulate(&two, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_PROD, win);
  MPI_Accumulate(&mine, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, MPI_MAX, win);
  MPI_Win_fence(0, win);
  MPI_Get_accumulate(&two, 1, MPI_DOUBLE, &before, 1, MPI_DOUBLE, 0, 2, 1, MPI_DOUBLE, MPI_PROD, win);
  MPI_Win_fence(0, win);
  double product = 1, power = 0;
  while (product < before) product *= 2, power++;
  require(before >= 1 && product == before && power < size, "wrong product of others");
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Fetch_and_op(&two, &none, MPI_DOUBLE, 0, 3, MPI_SUM, win);
  MPI_Win_flush(0, win);
  MPI_Fetch_and_op(NULL, &before, MPI_DOUBLE, 0, 3, MPI_NO_OP, win);
  MPI_Win_unlock(0, win);
  require(before >= none + 2, "a value from before the own addition");
  MPI_Win_fence(0, win);
  product = 1;
  for (int i = 0; i < size; i++) product *= 2;
  if (rank == 0) {
    require(cells[0] == product && cells[2] == product, "wrong product");
    require(cells[1] == (size > 1 ? size - 1 : 1), "wrong maximum");
    require(cells[3] == 1 + 2 * size, "wrong sum of all");
  }
  MPI_Win_free(&win);
}

// Tests memory that the ranks of a host share and can all store into.
static void shared(void) {
  MPI_Comm host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int me, many;
  MPI_Comm_rank(host, &me);
  MPI_Comm_size(host, &many);
  int* mine = NULL;
  MPI_Win win;
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, host, &mine, &win);
  MPI_Win_lock_all(0, win);
  *mine = word(me, 0, 1);
  MPI_Win_sync(win);
  MPI_Barrier(host);
  MPI_Win_sync(win);
  for (int i = 0; i < many; i++) {
    MPI_Aint bytes = 0;
    int unit = 0;
    int* theirs = NULL;
    MPI_Win_shared_query(win, i, &bytes, &unit, &theirs);
    require(*theirs == word(i, 0, 1), "wrong data in shared memory");
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Comm_free(&host);
}

static void pass(const char* name) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s ok\n", name);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) times = atoi(argv[1]);
  int* memory = NULL;
  MPI_Win win;
  MPI_Win_allocate(kWords * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  fence(win, memory);
  pass("fence");
  strided(win, memory);
  pass("strided");
  post_start(win, memory);
  pass("post and start");
  locks(win, memory, 1);
  pass("exclusive locks");
  locks(win, memory, 0);
  pass("shared locks");
  swaps(win, memory);
  pass("swaps");
  requests(win);
  pass("requests");
  operators();
  pass("operators");
  shared();
  pass("shared memory");
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
