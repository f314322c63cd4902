// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/peers_discovery.h"

#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/log.h"
#include "broker/offers.h"
#include "link/ethernet/packet_link.h"
#include "runtime/board/board_responder.h"
#include "runtime/clock.h"
#include "runtime/running_deadline.h"

namespace omx::runtime {

namespace {

// Answers take microseconds, so a lost frame should cost little time. The pause doubles each time.
constexpr TimeNs kFirstPauseNs = 50 * protocol::kMillisecond;
constexpr TimeNs kHelpPeriod = 2 * protocol::kMillisecond;
constexpr std::size_t kQueriesPerRound = 64;
constexpr int kMxNoDevice = 5;

// Asks the network of one board.
class Asker {
 public:
  Asker() = default;
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  virtual ~Asker() = default;

  virtual void ask(NicId nic) = 0;
  // Makes legacy hosts announce themselves.
  virtual void announce(std::uint32_t serial) = 0;
  virtual void flush() = 0;
  virtual void receive() = 0;
  // Returns whether no more answers can come.
  virtual bool ended() const { return false; }
  // May be -1 when it has ended.
  virtual int descriptor() const = 0;
};

// A board's link during the look-up. It also answers questions: this process may have no endpoint yet, and
// the host that we ask may be asking us.
class OwnAsker final : public Asker, private link::FrameHandler {
 public:
  OwnAsker(const Board& board, const Settings& settings, PeerTable& peers,
           std::unique_ptr<link::Transport> link, bool answers)
      : link_(std::move(link)), responder_(board, settings.endpoints_max, peers, *link_), answers_(answers) {
    if (answers_) responder_.ask_back();
  }

  void on_frame(wire::Frame frame) override {
    wire::Head head;
    const bool reply =
        wire::decode_head(frame, head) == wire::Drop::none && head.type == wire::PacketType::host_reply;
    if (answers_ || reply) responder_.on_frame(frame);
  }
  void ask(NicId nic) override { responder_.query(nic); }
  void announce(std::uint32_t serial) override { responder_.announce(serial); }
  void flush() override { link_->flush(); }
  void receive() override {
    while (link_->receive(*this, kQueriesPerRound) > 0) link_->flush();
  }
  int descriptor() const override { return link_->descriptor(); }

 private:
  std::unique_ptr<link::Transport> link_;
  BoardResponder responder_;
  bool answers_;
};

// The broker of this host, which asks for this process. A host may answer twice with one name: its broker,
// and a process that sends raw frames by itself. This process means the broker's board, where users'
// endpoints are, so the other answer waits a moment.
class BrokerAsker final : public Asker {
 public:
  BrokerAsker(broker::NamesAsked names, PeerTable& peers) : names_(std::move(names)), peers_(peers) {}

  void ask(NicId nic) override { names_.ask(nic); }
  void announce(std::uint32_t) override {}  // the broker sees to legacy hosts
  void flush() override {}
  void receive() override {
    const TimeNs now = clock_now();
    for (broker::NamesAsked::Name& name : names_.receive()) {
      if (name.by_broker)
        peers_.learn(name.nic, name.name);
      else
        waiting_.push_back({now + kPreference, std::move(name)});
    }
    std::erase_if(waiting_, [&](const Waiting& waiting) {
      if (now < waiting.until) return false;
      if (!peers_.find(waiting.name.name)) peers_.learn(waiting.name.nic, waiting.name.name);
      return true;
    });
    if (!names_.failure() || reported_) return;
    reported_ = true;
    log(LogLevel::info, "{}", names_.failure()->message);
  }
  bool ended() const override { return names_.ended() && waiting_.empty(); }
  int descriptor() const override { return names_.descriptor(); }

 private:
  // A broker on a busy host may need some tens of milliseconds for its answer.
  static constexpr TimeNs kPreference = 50 * protocol::kMillisecond;
  struct Waiting {
    TimeNs until = 0;
    broker::NamesAsked::Name name;
  };

  broker::NamesAsked names_;
  PeerTable& peers_;
  std::vector<Waiting> waiting_;
  bool reported_ = false;
};

using Askers = std::vector<std::unique_ptr<Asker>>;

Result<std::unique_ptr<Asker>> asker_open(const Board& board, const Settings& settings, PeerTable& peers,
                                          bool answers) {
  if (board.granted()) {
    auto names = broker::NamesAsked::open(board.broker, board.interface.name);
    if (!names) return tl::unexpected(names.error());
    return std::unique_ptr<Asker>(std::make_unique<BrokerAsker>(std::move(*names), peers));
  }
  link::PacketLinkOptions options;
  options.interface = board.interface.name;
  options.endpoint = 255;  // an id that is hardly used; we need frames of the board only
  options.ring_frames = 256;
  options.ring_bytes = 1U << 20;
  auto link = link::packet_link_open(options);
  if (!link) return tl::unexpected(link.error());
  return std::unique_ptr<Asker>(
      std::make_unique<OwnAsker>(board, settings, peers, std::move(*link), answers));
}

Result<Askers> askers_open(const std::vector<Board>& boards, const Settings& settings, PeerTable& peers,
                           bool answers) {
  Askers askers;
  std::optional<Failure> failure;
  for (const Board& board : boards) {
    if (board.interface.loopback || board.udp) continue;
    auto asker = asker_open(board, settings, peers, answers);
    if (asker)
      askers.push_back(std::move(*asker));
    else if (!failure)
      failure = asker.error();
  }
  if (boards_by_udp(boards))
    failure = Failure{kMxNoDevice, "by UDP no host is asked for its name; add the name to /etc/hosts or DNS"};
  if (askers.empty() && failure) return tl::unexpected(*failure);
  return askers;
}

void round_ask(Askers& askers, PeerTable& peers, const DiscoveryRequest& request, unsigned round) {
  std::vector<NicId> nics = {request.nic};
  if (request.nic == kBroadcastNic) {
    for (const Peer& peer : peers.all()) {
      if (peer.name.empty() && nics.size() <= kQueriesPerRound) nics.push_back(peer.nic);
    }
  }
  // Each serial makes every legacy host broadcast for some seconds, so this is done only if the first round
  // did not help.
  std::uint32_t serial = 0;
  const bool announce = round == 1 && ::getrandom(&serial, sizeof serial, GRND_NONBLOCK) == sizeof serial;
  for (const auto& asker : askers) {
    for (const NicId nic : nics) asker->ask(nic);
    if (announce) asker->announce(serial);
    asker->flush();
  }
}

void answers_await(Askers& askers, TimeNs limit) {
  std::vector<pollfd> waits;
  for (const auto& asker : askers) waits.push_back({asker->descriptor(), POLLIN, 0});
  const timespec timeout = timespec_of(limit);
  // An error on a descriptor (interface down) must not cause a busy loop: the second poll then waits for the
  // timeout only.
  if (::ppoll(waits.data(), waits.size(), &timeout, nullptr) <= 0) return;
  const bool error =
      std::any_of(waits.begin(), waits.end(), [](const pollfd& p) { return (p.revents & POLLERR) != 0; });
  if (error) ::ppoll(nullptr, 0, &timeout, nullptr);
}

}  // namespace

Result<bool> peers_discover(const std::vector<Board>& boards, const Settings& settings, PeerTable& peers,
                            const DiscoveryRequest& request) {
  auto askers = askers_open(boards, settings, peers, request.answers);
  if (!askers) return tl::unexpected(askers.error());
  if (askers->empty()) return false;

  TimeNs now = clock_now();
  RunningDeadline deadline(now, settings.discovery_ms);
  TimeNs pause = kFirstPauseNs;
  TimeNs round_at = now;
  for (unsigned round = 0; !deadline.passed(now); now = clock_now()) {
    if (now >= round_at) {
      round_ask(*askers, peers, request, round++);
      round_at = now + pause;
      pause *= 2;
    }
    answers_await(*askers, std::min({round_at, deadline.at(), now + kHelpPeriod}) - now);
    for (const auto& asker : *askers) asker->receive();
    // Called before leaving, too: other hosts may have asked us before they answered.
    if (request.meanwhile) request.meanwhile();
    if (request.found()) return true;
    if (std::ranges::all_of(*askers, [](const auto& asker) { return asker->ended(); })) return false;
  }
  return false;
}

}  // namespace omx::runtime
