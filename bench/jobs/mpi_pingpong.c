// SPDX-License-Identifier: BSD-3-Clause
// A ping-pong of two polling MPI processes, each on its own core. Prints half round trips in microseconds.
//   mpirun -np 2 mpi_pingpong CORE0 CORE1 ITERATIONS SIZE...
// As in omx perf, a process sends from one buffer and receives into another.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void exchange(int rank, char* out, char* in, int size) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(in, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2 || argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(argv[1 + rank]), &set);
  sched_setaffinity(0, sizeof set, &set);
  const int iterations = atoi(argv[3]), warm_up = iterations;
  double* samples = malloc((size_t)iterations * sizeof(double));
  for (int i = 4; i < argc; i++) {
    const int size = atoi(argv[i]);
    char* out = malloc((size_t)size + 64);
    char* in = malloc((size_t)size + 64);
    memset(out, 1, (size_t)size);
    memset(in, 2, (size_t)size);
    for (int n = -warm_up; n < iterations; n++) {
      const double before = MPI_Wtime();
      exchange(rank, out, in, size);
      if (n >= 0) samples[n] = (MPI_Wtime() - before) * 5e5;
    }
    qsort(samples, (size_t)iterations, sizeof(double), compare);
    if (rank == 0)
      printf("{\"size\":%d,\"min_us\":%.3f,\"median_us\":%.3f,\"p99_us\":%.3f}\n", size, samples[0],
             samples[iterations / 2], samples[(iterations - 1) * 99 / 100]);
    free(out);
    free(in);
  }
  free(samples);
  MPI_Finalize();
  return 0;
}
