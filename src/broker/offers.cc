// SPDX-License-Identifier: BSD-3-Clause
#include "broker/offers.h"

namespace omx::broker {

namespace {

BoardOffer offer_of(const BoardRecord& record) {
  BoardOffer offer;
  offer.interface = text_load(record.interface);
  offer.hostname = text_load(record.hostname);
  offer.nic = record.nic;
  offer.mac = record.mac;
  offer.ifindex = record.ifindex;
  offer.mtu = record.mtu;
  offer.trusted = record.flags & kBoardTrusted;
  offer.up = record.flags & kBoardUp;
  offer.running = record.flags & kBoardRunning;
  return offer;
}

}  // namespace

Result<std::vector<BoardOffer>> boards_offered(const std::string& path) {
  const auto until = Connection::in(kStartPatience);
  auto connection = Connection::open(path, until);
  if (!connection) return tl::unexpected(connection.error());
  const auto reply = connection->ask(request_of(Kind::boards, ""), until);
  if (!reply) return tl::unexpected(reply.error());
  std::vector<BoardOffer> offers;
  for (const BoardRecord& record : reply->boards) {
    BoardOffer offer = offer_of(record);
    if (!offer.interface.empty()) offers.push_back(std::move(offer));
  }
  return offers;
}

Result<NamesAsked> NamesAsked::open(const std::string& path, const std::string& interface) {
  auto connection = Connection::open(path, Connection::in(kStartPatience));
  if (!connection) return tl::unexpected(connection.error());
  return NamesAsked(std::move(*connection), interface);
}

// receive() sees it when the broker is gone.
void NamesAsked::ask(NicId nic) {
  Request request = request_of(Kind::ask, interface_);
  request.nic = nic;
  connection_.send(request);
}

std::vector<NamesAsked::Name> NamesAsked::receive() {
  std::vector<Name> names;
  while (connection_.readable()) {
    const auto reply = connection_.take(Kind::name);
    if (reply) {
      const Answer& answer = reply->answer;
      names.push_back({answer.nic, text_load(answer.text), answer.by_broker != 0});
    } else if (!failure_) {
      failure_ = reply.error();
    }
  }
  return names;
}

}  // namespace omx::broker
