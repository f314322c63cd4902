// SPDX-License-Identifier: BSD-3-Clause
// Messages between library and broker, of any bytes. Each side either understands a message, or has a
// sentence about it.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "broker/message.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/settings/text_checks.h"

namespace omx::fuzz {
namespace {

void check(std::span<const std::byte> packet) {
  broker::Request request;
  const std::string refused = broker::request_read(packet, request);
  if (refused.empty()) {
    REQUIRE(packet.size() == sizeof request);
    REQUIRE(request.head.kind >= 1 && request.head.kind <= 5);
    REQUIRE(broker::text_load(request.interface).size() < broker::kInterfaceBytes);
  } else {
    check_message(refused);
  }
  for (const auto kind : {broker::Kind::boards, broker::Kind::open, broker::Kind::name}) {
    broker::Answer answer;
    std::vector<broker::BoardRecord> boards;
    const std::string objection = broker::answer_read(packet, kind, answer, boards);
    if (!objection.empty()) {
      check_message(objection);
      continue;
    }
    REQUIRE(boards.size() == answer.count && boards.size() <= broker::kBoardsMost);
    REQUIRE(broker::text_load(answer.text).size() < broker::kTextBytes);
    for (const broker::BoardRecord& board : boards)
      REQUIRE(broker::text_load(board.hostname).size() < broker::kNameBytes);
  }
}

}  // namespace
}  // namespace omx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  omx::fuzz::check(std::as_bytes(std::span(bytes, size)));
  return 0;
}
