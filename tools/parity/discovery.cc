// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/discovery.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>

#include "link/ethernet/packet_link.h"
#include "runtime/board/board_responder.h"
#include "tools/parity/parity.h"

namespace omx::tools {

namespace {

using runtime::TimeNs;

constexpr const char* kName = "omxoed";
constexpr TimeNs kSecond = 1'000'000'000;
constexpr unsigned kBurst = 8;            // broadcasts at the start, and when a new daemon is heard
constexpr TimeNs kBetween = 1 * kSecond;  // between the broadcasts of a burst
constexpr TimeNs kQuiet = 180 * kSecond;  // between broadcasts after a burst
constexpr std::size_t kFramesPerLook = 64;
constexpr std::size_t kKnownMost = 65536;  // limits the memory that announcements from the network can take

class Daemon final : public link::FrameHandler {
 public:
  Daemon(const runtime::Board& board, std::uint32_t endpoints_max, runtime::PeerTable& peers,
         std::unique_ptr<link::Transport> link, std::uint32_t serial)
      : board_(board),
        link_(std::move(link)),
        responder_(board, endpoints_max, peers, *link_),
        serial_(serial) {}

  int descriptor() const { return link_->descriptor(); }
  TimeNs next() const { return next_; }

  void announce(TimeNs now) {
    if (now < next_) return;
    responder_.announce(serial_);
    link_->flush();
    if (burst_ > 0) burst_--;
    next_ = now + (burst_ > 0 ? kBetween : kQuiet);
  }
  void receive(TimeNs now) {
    now_ = now;
    while (link_->receive(*this, kFramesPerLook) > 0) link_->flush();
  }
  // Makes the descriptor usable again after an outage of the interface.
  void refresh() { link_->interface().refresh(); }

  void on_frame(wire::Frame frame) override {
    NicId nic = 0;
    std::uint32_t serial = 0;
    if (wire::decode_discovery(frame, nic, serial) == wire::Drop::none && nic != board_.interface.nic)
      heard(nic, serial);
    responder_.on_frame(frame);
  }

 private:
  // Notes an announcement. A daemon that is new or has restarted does not know us yet, so announcements begin
  // again.
  void heard(NicId nic, std::uint32_t serial) {
    const auto known = known_.find(nic);
    if (known != known_.end() && known->second == serial) return;
    if (known == known_.end() && known_.size() == kKnownMost) return;
    known_[nic] = serial;
    burst_ = kBurst;
    next_ = std::min(next_, now_ + kBetween);
  }

  const runtime::Board& board_;
  std::unique_ptr<link::Transport> link_;
  runtime::BoardResponder responder_;
  std::uint32_t serial_;
  std::map<NicId, std::uint32_t> known_;
  unsigned burst_ = kBurst;
  TimeNs next_ = 0, now_ = 0;
};

using Daemons = std::vector<std::unique_ptr<Daemon>>;

Result<Daemons> daemons_open(runtime::Process& process) {
  std::uint32_t serial = 0;
  if (::getrandom(&serial, sizeof serial, 0) != sizeof serial)
    serial = static_cast<std::uint32_t>(::getpid());
  Daemons daemons;
  for (const runtime::Board& board : process.boards()) {
    if (board.interface.loopback || board.udp) continue;
    link::PacketLinkOptions options;
    options.interface = board.interface.name;
    options.endpoint = 255;  // an id that is rarely used: only frames for the whole board are of interest
    options.ring_frames = 256;
    options.ring_bytes = 1U << 20;
    auto link = link::packet_link_open(options);
    if (!link) return tl::unexpected(link.error());
    daemons.push_back(std::make_unique<Daemon>(board, process.settings().endpoints_max, process.peers(),
                                               std::move(*link), serial));
  }
  return daemons;
}

// Serves until a signal arrives.
void serve(Daemons& daemons, int signals) {
  std::vector<pollfd> waits = {{signals, POLLIN, 0}};
  for (const auto& daemon : daemons) waits.push_back({daemon->descriptor(), POLLIN, 0});
  while (!waits[0].revents) {
    const TimeNs now = runtime::clock_now();
    TimeNs next = now + kQuiet;
    for (const auto& daemon : daemons) {
      daemon->receive(now);
      daemon->announce(now);
      next = std::min(next, daemon->next());
    }
    const timespec timeout = timespec_of(next > now ? next - now : 0);
    if (::ppoll(waits.data(), waits.size(), &timeout, nullptr) < 0) continue;
    for (std::size_t i = 0; i < daemons.size(); i++)
      if (waits[i + 1].revents & POLLERR) daemons[i]->refresh();
  }
}

int usage() {
  fmt::print(stderr,
             "omxoed\nAnnounces the NICs of this host to hosts of Open-MX 1.x and MX, and answers for its "
             "names. It stays in the foreground until a signal ends it, and has no options.\n");
  return kParityFailed;
}

}  // namespace

int parity_discovery(int argc, char** argv) {
  if (parity_option(kName, argc, argv, "h") != -1 || argc > 1) return usage();
  const ParityBoards found = parity_boards(kName, -1);
  if (found.status) return found.status;
  if (runtime::boards_by_udp(found.boards)) {
    return parity_failed(kName,
                         "hosts that use UDP need no announcements, and raw frames are not allowed here: "
                         "they need CAP_NET_RAW");
  }
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const OwnFd signals(::signalfd(-1, &set, SFD_CLOEXEC));
  auto daemons = daemons_open(*found.process);
  if (!daemons) return parity_failed(kName, "{}", daemons.error().message);
  if (daemons->empty()) return parity_failed(kName, "No NICs found");
  fmt::print(stderr, "Now managing {} NICs...\n", daemons->size());
  serve(*daemons, signals.get());
  return 0;
}

}  // namespace omx::tools
