// SPDX-License-Identifier: BSD-3-Clause
#include "broker/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace omx::broker {

namespace {

// Returns what is wrong with the head of a packet; empty if nothing is.
std::string head_objection(const Head& head) {
  if (head.magic != kMagic) return "this is no message of Open-MX";
  if (head.version != kVersion)
    return fmt::format(
        "library and broker differ: one speaks version {}, the other {}; install the same "
        "version of open-mx and open-mx-broker",
        head.version, kVersion);
  return {};
}

}  // namespace

void text_store(std::span<char> field, std::string_view text) {
  const std::size_t length = std::min(text.size(), field.size() - 1);
  std::memcpy(field.data(), text.data(), length);
  std::fill(field.begin() + static_cast<std::ptrdiff_t>(length), field.end(), '\0');
}

std::string text_load(std::span<const char> field) {
  const auto end = std::ranges::find(field, '\0');
  return end == field.end() ? std::string() : std::string(field.begin(), end);
}

std::string request_read(std::span<const std::byte> packet, Request& request) {
  if (packet.size() < sizeof(Head)) return "a request is cut off";
  std::memcpy(&request.head, packet.data(), sizeof request.head);
  if (std::string objection = head_objection(request.head); !objection.empty()) return objection;
  if (packet.size() != sizeof request)
    return fmt::format("a request has {} bytes instead of {}", packet.size(), sizeof request);
  std::memcpy(&request, packet.data(), sizeof request);
  const auto kind = static_cast<Kind>(request.head.kind);
  if (kind < Kind::boards || kind > Kind::ask)
    return fmt::format("there is no request of kind {}", request.head.kind);
  const bool names_board = kind != Kind::boards && kind != Kind::socket;
  if (names_board && text_load(request.interface).empty()) return "the request names no interface";
  if ((kind == Kind::open || kind == Kind::attach) && request.endpoint > 255)
    return fmt::format("there is no endpoint {}; the last one is 255", request.endpoint);
  return {};
}

std::string answer_read(std::span<const std::byte> packet, Kind kind, Answer& answer,
                        std::vector<BoardRecord>& boards) {
  boards.clear();
  if (packet.size() < sizeof(Head)) return "its answer is cut off";
  std::memcpy(&answer.head, packet.data(), sizeof answer.head);
  if (std::string objection = head_objection(answer.head); !objection.empty()) return objection;
  if (packet.size() < sizeof answer) return "its answer is cut off";
  std::memcpy(&answer, packet.data(), sizeof answer);
  // A refusal may come before the question.
  if (answer.head.kind != static_cast<std::uint16_t>(kind) && answer.code == 0)
    return "it answers another question";
  if (answer.count > kBoardsMost || packet.size() != sizeof answer + answer.count * sizeof(BoardRecord))
    return "its answer has a wrong length";
  boards.resize(answer.count);
  if (answer.count > 0)
    std::memcpy(boards.data(), packet.data() + sizeof answer, answer.count * sizeof(BoardRecord));
  return {};
}

}  // namespace omx::broker
