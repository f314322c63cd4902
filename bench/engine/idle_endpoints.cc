// SPDX-License-Identifier: BSD-3-Clause
// omx_idle_endpoints FIRST COUNT [PROCESSES]: each process opens COUNT endpoints, with ids from FIRST on, and
// does not use them. A process prints "open" when all its endpoints are open, and ends at the end of its
// input.
#include <fmt/format.h>
#include <myriexpress.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "base/number.h"

namespace {

int idle(std::uint64_t first, std::uint64_t count) {
  if (mx_init() != MX_SUCCESS) return 1;
  std::vector<mx_endpoint_t> endpoints;
  for (std::uint64_t id = first; id < first + count; id++) {
    mx_endpoint_t endpoint;
    const mx_return_t code = mx_open_endpoint(0, static_cast<std::uint32_t>(id), 1, nullptr, 0, &endpoint);
    if (code != MX_SUCCESS) {
      fmt::print(stderr, "omx_idle_endpoints: endpoint {}: {}\n", id, mx_strerror(code));
      return 1;
    }
    endpoints.push_back(endpoint);
  }
  fmt::print("open\n");
  std::fflush(stdout);
  char byte;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  for (const mx_endpoint_t endpoint : endpoints) mx_close_endpoint(endpoint);
  mx_finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto first = argc >= 3 ? omx::number_parse(argv[1]) : std::nullopt;
  const auto count = argc >= 3 ? omx::number_parse(argv[2]) : std::nullopt;
  const auto processes = argc == 4 ? omx::number_parse(argv[3]) : 1;
  if (argc > 4 || !first || !count || !processes || *processes == 0 || *processes > 256 || *count > 256 ||
      *first > 256 || *first + *count * *processes > 256) {
    fmt::print(stderr, "usage: omx_idle_endpoints FIRST COUNT [PROCESSES], endpoints from 0 to 255\n");
    return 2;
  }
  if (*processes == 1) return idle(*first, *count);
  for (std::uint64_t i = 0; i < *processes; i++) {
    const pid_t child = ::fork();
    if (child == 0) return idle(*first + i * *count, *count);
    if (child < 0) return 1;  // the processes that exist end with their input
  }
  int wrong = 0, status;
  while (::wait(&status) > 0) wrong |= status;
  return wrong ? 1 : 0;
}
