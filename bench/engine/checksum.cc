// SPDX-License-Identifier: BSD-3-Clause
// Measures the ways to compute the checksum of frames, by length of the data. The data is in the cache, as
// that of a frame which was just copied or received.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/crc32c_ways.h"

namespace {

using omx::crc32c_ways::Way;

void checksum(benchmark::State& state, Way way) {
  const std::vector<unsigned char> data(static_cast<std::size_t>(state.range(0)), 0x5a);
  std::uint32_t crc = ~0U;
  // Each checksum continues the one before, so that one must end before the next begins.
  for (auto _ : state) benchmark::DoNotOptimize(crc = way(crc, data.data(), data.size()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}

void add(const char* name, Way way) {
  if (!way) return;
  benchmark::RegisterBenchmark(name, checksum, way)->Arg(64)->Arg(192)->Arg(1024)->Arg(8192)->Arg(65536);
}

}  // namespace

int main(int argc, char** argv) {
  add("table", omx::crc32c_ways::by_table);
  add("instruction", omx::crc32c_ways::by_instruction());
  add("streams", omx::crc32c_ways::by_streams());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
