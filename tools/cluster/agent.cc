// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/agent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <map>

#include "base/clock.h"
#include "base/mac.h"
#include "config/settings_environment.h"
#include "tools/cluster/agent_facts.h"
#include "tools/cluster/probe_link.h"

namespace omx::tools {

namespace {

class StandardSeat final : public AgentSeat {
 public:
  StandardSeat() {
    std::signal(SIGPIPE, SIG_IGN);
    ::fcntl(STDIN_FILENO, F_SETFL, ::fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
  }
  int descriptor() const override { return STDIN_FILENO; }
  bool ended() override { return ended_; }
  std::optional<Record> take() override {
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got > 0) lines_.add({bytes.data(), static_cast<std::size_t>(got)});
    ended_ |= got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    return lines_.next();
  }
  void send(const Record& record) override {
    const std::string line = record_line(record);
    for (std::size_t at = 0; at < line.size() && !ended_;) {
      const ssize_t put = ::write(STDOUT_FILENO, line.data() + at, line.size() - at);
      if (put > 0) at += static_cast<std::size_t>(put);
      pollfd full{STDOUT_FILENO, POLLOUT, 0};
      if (put < 0 && errno == EAGAIN) ::poll(&full, 1, -1);
      if (put < 0 && errno != EAGAIN && errno != EINTR) ended_ = true;
    }
  }

 private:
  LineBuffer lines_;
  bool ended_ = false;
};

class Agent {
 public:
  explicit Agent(AgentSeat& seat) : seat_(seat) {}
  int run();

 private:
  Record answer(const Record& request);
  Record link_open(const Record& request);
  Record measure(const Record& request);
  ProbeLink* link_of(const Record& request);

  AgentSeat& seat_;
  std::map<std::string, std::unique_ptr<ProbeLink>, std::less<>> links_;
};

Record refused(const std::string& why) {
  return Record{"refused", {}}.add("error", why);
}

ProbeLink* Agent::link_of(const Record& request) {
  const auto found = links_.find(request.text("link"));
  return found == links_.end() ? nullptr : found->second.get();
}

Record Agent::link_open(const Record& request) {
  const auto settings = runtime::settings_load();
  if (!settings) return refused(settings.error().message);
  const std::string kind(request.text("link"));
  auto link = ProbeLink::open(*settings, kind, static_cast<std::uint32_t>(request.number("board")));
  if (!link) return refused(link.error().message);
  auto& opened = links_[kind] = std::move(*link);
  return Record{"opened", {}}
      .add("nic", opened->transport().interface().nic())
      .add("endpoint", std::uint64_t{opened->endpoint()})
      .add("mtu", std::uint64_t{opened->transport().interface().mtu()})
      .add("window", std::uint64_t{opened->window()});
}

Record Agent::measure(const Record& request) {
  ProbeLink* const link = link_of(request);
  if (!link) return refused("the link is not open");
  const ProbePeer peer{request.number("nic"), static_cast<std::uint8_t>(request.number("endpoint")),
                       static_cast<std::uint32_t>(request.number("mtu")),
                       static_cast<std::uint32_t>(request.number("window"))};
  const auto result = link->measure(peer, static_cast<std::uint32_t>(request.number("token")),
                                    static_cast<std::uint32_t>(request.number("frames")),
                                    clock_now() + request.number("limit_ms") * 1'000'000);
  return Record{"measured", {}}
      .add("reached", std::uint64_t{result.reached})
      .add("frame", std::uint64_t{result.frame})
      .add("expected", std::uint64_t{result.expected})
      .add("half_ns", static_cast<std::uint64_t>(result.half_round_trip_us * 1000))
      .add("bps", static_cast<std::uint64_t>(result.gbps * 1e9))
      .add("sent", std::uint64_t{result.sent});
}

Record Agent::answer(const Record& request) {
  if (request.verb == "facts") return agent_facts();
  if (request.verb == "open") return link_open(request);
  if (request.verb == "measure") return measure(request);
  if (request.verb == "clock") {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return Record{"clock", {}}.add("ns", static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                                             static_cast<std::uint64_t>(now.tv_nsec));
  }
  ProbeLink* const link = link_of(request);
  if (link && request.verb == "expect") {
    link->expect(static_cast<std::uint32_t>(request.number("token")),
                 static_cast<std::uint32_t>(std::min<std::uint64_t>(request.number("frames"), kFramesMost)));
    return Record{"ready", {}};
  }
  if (link && request.verb == "count") {
    while (link->serve()) {
    }
    const ProbeCount& count = link->count();
    return Record{"counted", {}}
        .add("received", std::uint64_t{count.received})
        .add("duplicates", std::uint64_t{count.duplicates})
        .add("damaged", std::uint64_t{count.damaged});
  }
  return refused(fmt::format("the request \"{}\" is not known; install the same version", request.verb));
}

int Agent::run() {
  for (;;) {
    while (auto request = seat_.take()) seat_.send(answer(*request));
    if (seat_.ended()) return 0;
    std::vector<ProbeLink*> links;
    bool busy = false;
    for (const auto& [kind, link] : links_) {
      links.push_back(link.get());
      busy |= link->serve();
    }
    if (!busy) {
      const bool polled = seat_.descriptor() >= 0;
      constexpr TimeNs kPolledPause = 1'000'000'000;
      ProbeLink::sleep(links, seat_.descriptor(), clock_now() + (polled ? kPolledPause : kSeatPauseNs));
    }
  }
}

}  // namespace

int agent_run(AgentSeat& seat) {
  return Agent(seat).run();
}

int agent_run() {
  StandardSeat seat;
  return agent_run(seat);
}

}  // namespace omx::tools
