// SPDX-License-Identifier: BSD-3-Clause
// omx_idle_endpoints FIRST COUNT: opens so many endpoints and calls none of them. Says "open" when all are,
// and ends with its input.
#include <fmt/format.h>
#include <myriexpress.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "base/number.h"

int main(int argc, char** argv) {
  const auto first = argc == 3 ? omx::number_parse(argv[1]) : std::nullopt;
  const auto count = argc == 3 ? omx::number_parse(argv[2]) : std::nullopt;
  if (!first || !count || *first + *count > 256) {
    fmt::print(stderr, "usage: omx_idle_endpoints FIRST COUNT, endpoints from 0 to 255\n");
    return 2;
  }
  if (mx_init() != MX_SUCCESS) return 1;
  std::vector<mx_endpoint_t> endpoints;
  for (std::uint64_t id = *first; id < *first + *count; id++) {
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
