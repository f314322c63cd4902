// SPDX-License-Identifier: BSD-3-Clause
// Many messages that arrive long before their receives. Even ranks send COUNT messages of BYTES each, with
// tags of their own, to the next odd rank, which receives the last one first.
//   unexpected COUNT BYTES
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char byte_of(int message, int i) {
  return (unsigned char)(message * 31 + message / 256 + i);
}

static void send_all(int count, int bytes, int peer) {
  MPI_Request* requests = malloc(sizeof(*requests) * (size_t)count);
  unsigned char* data = malloc((size_t)count * (size_t)bytes + 1);
  if (!requests || !data) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int m = 0; m < count; m++) {
    unsigned char* const own = data + (size_t)m * (size_t)bytes;
    for (int i = 0; i < bytes; i++) own[i] = byte_of(m, i);
    MPI_Isend(own, bytes, MPI_BYTE, peer, m, MPI_COMM_WORLD, &requests[m]);
  }
  // The receiver begins when all sends have been started, so none of the calls above may wait for it.
  MPI_Send(NULL, 0, MPI_BYTE, peer, count, MPI_COMM_WORLD);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  free(data);
  free(requests);
}

static void receive_all(int count, int bytes, int peer) {
  unsigned char* data = malloc((size_t)bytes + 1);
  if (!data) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Recv(NULL, 0, MPI_BYTE, peer, count, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int m = count; m-- > 0;) {
    memset(data, 0, (size_t)bytes);
    MPI_Recv(data, bytes, MPI_BYTE, peer, m, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < bytes; i++) {
      if (data[i] == byte_of(m, i)) continue;
      fprintf(stderr, "message %d of %d: byte %d is %d, not %d\n", m, count, i, data[i], byte_of(m, i));
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int count = argc > 1 ? atoi(argv[1]) : 20000, bytes = argc > 2 ? atoi(argv[2]) : 1024;
  const double start = MPI_Wtime();
  if (rank % 2 == 0 && rank + 1 < size) send_all(count, bytes, rank + 1);
  if (rank % 2 == 1) receive_all(count, bytes, rank - 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d messages of %d bytes, last first: %.1f s\n", count, bytes, MPI_Wtime() - start);
  MPI_Finalize();
  return 0;
}
