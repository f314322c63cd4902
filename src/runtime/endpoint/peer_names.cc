// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/peer_names.h"

#include <fmt/format.h>

#include <optional>

#include "protocol/state/peer.h"
#include "runtime/board/resolver.h"

namespace omx::runtime {

namespace {
constexpr unsigned kQuestionsMost = 8;  // in a second
constexpr unsigned kQuestionsOfNic = 3;
}  // namespace

std::string PeerNames::text(NicId nic, std::uint8_t endpoint) const {
  std::string host = address_name(nic);
  if (nic == core_.board.interface.nic) {
    host = "this host";
  } else if (const auto known = table_ ? table_->find(nic) : std::nullopt; known && !known->name.empty()) {
    host = known->name.ends_with(":0") ? known->name.substr(0, known->name.size() - 2) : known->name;
    const std::string address = address_name(nic);
    host = fmt::format("host {} ({})", host, address.empty() ? nic_text(nic) : address);
  }
  return fmt::format("{}, endpoint {}", host.empty() ? "host " + nic_text(nic) : host, endpoint);
}

void PeerNames::ask() {
  if (!table_ || core_.board.udp || !answers_.opened()) return;
  unsigned questions = 0;
  const std::uint32_t count = core_.engine->peer_count();
  for (; asked_ < count && questions < kQuestionsMost; asked_++) {
    protocol::Peer* peer = core_.engine->peer_at(asked_);
    if (!peer || peer == core_.engine->self() || !protocol::peer_connected(peer)) continue;
    const NicId nic = protocol::peer_info(peer).nic;
    const auto known = table_->find(nic);
    if (nic == core_.board.interface.nic || (known && !known->name.empty())) continue;
    answers_.query(nic);
    questions++;
  }
  if (asked_ >= count && ++rounds_ < kQuestionsOfNic) asked_ = 0;
  if (questions > 0) core_.link->flush();
}

}  // namespace omx::runtime
