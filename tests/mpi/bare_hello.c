/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For tests/bare_install: two ranks exchange messages of each class, and each rank checks all bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 1 << 20 };
static const int lengths[] = {8, 20000, LARGEST};

static unsigned char letter(int rank, int i) {
  return (unsigned char)(i * 31 + i / 257 + rank);
}

int main(int argc, char** argv) {
  static unsigned char sent[LARGEST], received[LARGEST];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    fprintf(stderr, "bare_hello: start it on two ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int i = 0; i < LARGEST; i++) sent[i] = letter(rank, i);
  for (unsigned k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
    MPI_Status status;
    int count;
    MPI_Sendrecv(sent, lengths[k], MPI_BYTE, 1 - rank, (int)k, received, LARGEST, MPI_BYTE, 1 - rank, (int)k,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    for (int i = 0; i < count; i++)
      if (received[i] != letter(1 - rank, i)) count = -1;
    if (count != lengths[k]) {
      fprintf(stderr, "rank %d: the message of %d bytes is wrong\n", rank, lengths[k]);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  printf("rank %d of %d: the message is right\n", rank, size);
  MPI_Finalize();
  return 0;
}
