// SPDX-License-Identifier: BSD-3-Clause
// omx_lone_message: two endpoints of one process send one message at a time to each other, the receive posted
// before. One thread drives both, so each call finds its frame there, and a tool that counts instructions
// (bench/stages) counts nothing but the message.
#include "bench/engine/lone_message.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

namespace omx::bench {

volatile std::uint64_t lone_mark = 0;

void lone_failed(const char* what, const char* why) {
  fmt::print(stderr, "omx_lone_message: {}: {}\n", what, why);
  std::exit(1);
}

}  // namespace omx::bench

int main(int argc, char** argv) {
  omx::bench::LoneOptions options;
  CLI::App app{
      "Sends one message at a time between two endpoints of this process. Measures nothing: bench/stages "
      "runs it."};
  app.add_option("--rounds", options.rounds, "messages in each direction")->check(CLI::PositiveNumber);
  app.add_option("--bytes", options.bytes, "size of a message");
  app.add_option("--interfaces", options.interfaces,
                 "of the two endpoints, which OMX_INTERFACES must name in this order")
      ->expected(2);
  app.add_option("--api", options.api, "mx; of libfabric tagged, or inject")
      ->check(CLI::IsMember({"mx", "tagged", "inject"}));
  CLI11_PARSE(app, argc, argv);
  fmt::print("mark {}\n", static_cast<const void*>(const_cast<const std::uint64_t*>(&omx::bench::lone_mark)));
  std::fflush(stdout);
  if (options.api == "mx")
    omx::bench::lone_mx(options);
  else
    omx::bench::lone_fabric(options);
  return 0;
}
