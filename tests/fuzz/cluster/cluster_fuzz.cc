// SPDX-License-Identifier: BSD-3-Clause
// What agents of `omx check --hosts` and the network send: any bytes as lines, and as a frame. A record that
// is accepted can be written and comes back as it was.
#include <string_view>

#include "tests/fuzz/require.h"
#include "tools/cluster/channel.h"
#include "tools/cluster/probe_frame.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace omx;
  tools::LineBuffer lines;
  lines.add(std::string_view(reinterpret_cast<const char*>(bytes), size));
  while (const auto record = lines.next()) {
    const std::string line = tools::record_line(*record);
    const auto again = tools::record_parse(std::string_view(line).substr(0, line.size() - 1));
    REQUIRE(again && again->verb == record->verb && again->fields == record->fields);
  }
  tools::ProbeFrame probe;
  if (size >= wire::kHeadBytes)
    (void)tools::probe_decode({reinterpret_cast<const std::byte*>(bytes), size}, probe);
  return 0;
}
