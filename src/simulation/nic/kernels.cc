// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/kernels.h"

#include <algorithm>

namespace omx::simulation::nic {

namespace {

constexpr std::uint32_t kSide = 4;  // of the square of processes
constexpr std::uint32_t kDouble = 8;

void exchange(Program& program, std::uint32_t rank, std::uint32_t other, std::uint32_t bytes,
              double share = 0) {
  if (rank == other) {
    program.push_back({{}, {}, share});
    return;
  }
  program.push_back({{{other, bytes}}, {{other, bytes}}, share});
}

// Gives every process the sum of all values, by recursive doubling.
void reduce_all(Program& program, std::uint32_t rank, std::uint32_t bytes) {
  for (std::uint32_t bit = kKernelRanks / 2; bit > 0; bit /= 2) exchange(program, rank, rank ^ bit, bytes);
}

void all_to_all(Program& program, std::uint32_t rank, std::uint32_t bytes, double share) {
  Step step;
  step.share = share;
  for (std::uint32_t n = 1; n < kKernelRanks; n++) {
    step.sends.push_back({(rank + n) % kKernelRanks, bytes});
    step.receives.push_back({(rank + kKernelRanks - n) % kKernelRanks, bytes});
  }
  program.push_back(step);
}

// Returns conjugate gradient, one of 26 inner iterations of each of 75. Partial vectors of n/4 doubles are
// summed over a row of processes and transposed, and two scalars are summed over the row.
Program conjugate_gradient(std::uint32_t rank, std::uint32_t n) {
  Program p;
  const std::uint32_t vector = n / kSide * kDouble, row = rank / kSide, column = rank % kSide;
  p.push_back({{}, {}, 1});
  exchange(p, rank, rank ^ 2, vector);
  exchange(p, rank, rank ^ 1, vector);
  exchange(p, rank, column * kSide + row, vector);
  for (int scalar = 0; scalar < 2; scalar++) {
    exchange(p, rank, rank ^ 2, kDouble);
    exchange(p, rank, rank ^ 1, kDouble);
  }
  return p;
}

// Returns multigrid on 2 x 2 x 4 processes, the last axis across the hosts. Faces go both ways along each
// axis. A V-cycle needs three exchanges on each level, and two on the last.
Program multigrid(std::uint32_t rank, std::uint32_t n) {
  Program p;
  const std::uint32_t extents[] = {2, 2, 4}, strides[] = {1, 2, 4};
  double work = 0;
  for (std::uint32_t size = n; size >= 4; size /= 2) work += static_cast<double>(size) * size * size * 3;
  for (std::uint32_t size = n; size >= 4; size /= 2) {
    for (int time = 0; time < (size == 4 ? 2 : 3); time++) {
      p.push_back({{}, {}, static_cast<double>(size) * size * size / work});
      for (int axis = 0; axis < 3; axis++) {
        const std::uint32_t place = rank / strides[axis] % extents[axis];
        const std::uint32_t base = rank - place * strides[axis];
        const std::uint32_t up = base + (place + 1) % extents[axis] * strides[axis];
        const std::uint32_t down = base + (place + extents[axis] - 1) % extents[axis] * strides[axis];
        std::uint32_t face = kDouble;
        for (int other = 0; other < 3; other++)
          if (other != axis) face *= std::max(size / extents[other], 1U) + 2;
        p.push_back({{{down, face}, {up, face}}, {{up, face}, {down, face}}});
      }
    }
  }
  return p;
}

// Returns one time step of LU: two sweeps through 160 planes, each of which waits for two neighbours and
// feeds two. The faces of the right-hand side follow.
Program lower_upper(std::uint32_t rank) {
  constexpr std::uint32_t kPlanes = 160, kPoints = 162;
  constexpr std::uint32_t kEdge = 5 * ((kPoints + kSide - 1) / kSide) * kDouble;
  Program p;
  const std::uint32_t row = rank / kSide, column = rank % kSide;
  for (int sweep = 0; sweep < 2; sweep++) {
    Step step;
    step.pipelined = true;
    step.share = 0.6 / (2 * kPlanes);
    const bool back = sweep == 1;
    const auto side = [&](bool there, std::uint32_t other, bool receive) {
      if (there) (receive ? step.receives : step.sends).push_back({other, kEdge});
    };
    side(row > 0, rank - kSide, !back);
    side(column > 0, rank - 1, !back);
    side(row + 1 < kSide, rank + kSide, back);
    side(column + 1 < kSide, rank + 1, back);
    for (std::uint32_t plane = 0; plane < kPlanes; plane++) p.push_back(step);
  }
  Step faces;
  faces.share = 0.4;
  constexpr std::uint32_t kFace = kEdge * 2 * kPoints;
  for (const std::uint32_t stride : {kSide, 1U}) {
    const std::uint32_t place = stride == 1 ? column : row;
    if (place > 0)
      faces.receives.push_back({rank - stride, kFace}), faces.sends.push_back({rank - stride, kFace});
    if (place + 1 < kSide)
      faces.receives.push_back({rank + stride, kFace}), faces.sends.push_back({rank + stride, kFace});
  }
  p.push_back(faces);
  return p;
}

// Returns one time step of BT or SP, 162 points, multipartition. Each process has a cell in each of four
// slabs. Faces go to all six neighbours. Then each direction is solved forward and backward through the
// slabs.
Program multipartition(std::uint32_t rank, std::uint32_t forward, std::uint32_t backward) {
  constexpr std::uint32_t kPoints = 41 * 41;  // of a cell's face
  const std::uint32_t i = rank % kSide, j = rank / kSide;
  const auto at = [](std::uint32_t x, std::uint32_t y) { return x % kSide + y % kSide * kSide; };
  const std::uint32_t next[] = {at(i + 1, j), at(i, j + 1), at(i + 1, j + kSide - 1)};
  const std::uint32_t last[] = {at(i + kSide - 1, j), at(i, j + kSide - 1), at(i + kSide - 1, j + 1)};
  Program p;
  Step faces;
  faces.share = 0.25;
  for (int d = 0; d < 3; d++) {
    for (const std::uint32_t to : {next[d], last[d]}) {
      constexpr std::uint32_t kFaces = 2 * 5 * (kSide - 1) * kPoints * kDouble;
      faces.sends.push_back({to, kFaces});
      faces.receives.push_back({to, kFaces});
    }
  }
  p.push_back(faces);
  for (int d = 0; d < 3; d++) {
    for (std::uint32_t stage = 0; stage + 1 < kSide; stage++)
      p.push_back({{{last[d], forward * kPoints * kDouble}},
                   {{next[d], forward * kPoints * kDouble}},
                   0.2 / (kSide - 1)});
    for (std::uint32_t stage = 0; stage + 1 < kSide; stage++)
      p.push_back({{{next[d], backward * kPoints * kDouble}},
                   {{last[d], backward * kPoints * kDouble}},
                   0.05 / (kSide - 1)});
  }
  return p;
}

}  // namespace

Program kernel_program(std::string_view name, std::uint32_t rank) {
  Program p;
  if (name == "cg.B") return conjugate_gradient(rank, 75'000);
  if (name == "cg.C") return conjugate_gradient(rank, 150'000);
  if (name == "mg.B") return multigrid(rank, 256);
  if (name == "mg.C") return multigrid(rank, 512);
  if (name == "lu.C") return lower_upper(rank);
  if (name == "bt.C") return multipartition(rank, 5 * 5 + 5, 5);
  if (name == "sp.C") return multipartition(rank, 22, 10);
  if (name == "ep.C") {  // sums of pairs and of their ten annuli
    p.push_back({{}, {}, 1});
    for (const std::uint32_t doubles : {1U, 1U, 10U}) reduce_all(p, rank, doubles * kDouble);
  }
  if (name == "ft.B") {  // 512 x 256 x 256 complex numbers are transposed, a checksum is summed
    all_to_all(p, rank, 512U * 256 * 256 / (kKernelRanks * kKernelRanks) * 16, 1);
    reduce_all(p, rank, 16);
  }
  if (name == "is.C") {  // 2^27 keys: the sizes of 1024 buckets, counts, keys
    p.push_back({{}, {}, 1});
    reduce_all(p, rank, 1024 * 4);
    all_to_all(p, rank, 4, 0);
    all_to_all(p, rank, (1U << 27) / (kKernelRanks * kKernelRanks) * 4, 0);
  }
  return p;
}

}  // namespace omx::simulation::nic
