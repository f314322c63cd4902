// SPDX-License-Identifier: BSD-3-Clause
// A mesh of processes with several threads each, on one host or several. Every thread sends messages of all
// sizes to random threads of all processes, its own included. It checks every byte, the order, and that no
// message is lost or comes twice. Any process may be killed and restarted at any time.
//
//   omx_mesh --member MAC:0 --member MAC:1 --self 0 --threads 4 --seconds 10
//
// A message describes itself in its match information: receiving thread (4 bits), sending process (4),
// sending thread (4), stream (16), number in the stream (20), salt (16). A stream begins with a connection,
// and its numbers count from 0 without gaps. Exit status: 0 success, 1 a mismatch or a request that did not
// end.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/mac.h"
#include "mx_extensions.h"
#include "myriexpress.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kKey = 0x3e54;
constexpr std::uint64_t kThreadMask = 0xFULL << 60;
constexpr std::size_t kReceives = 4, kSends = 4;
constexpr std::uint32_t kGuard = 16;
constexpr unsigned char kUntouched = 0x5A;
constexpr auto kAfterDeath = std::chrono::seconds(3);  // until all that a killed process has sent is received
constexpr auto kStall = std::chrono::seconds(90);

struct Options {
  std::vector<std::string> members;
  std::size_t self = 0;
  unsigned threads = 4;
  double seconds = 10;
  std::uint32_t max_length = 1 << 20;
  bool kills = false;
};

std::atomic<bool> g_stop{false};

[[noreturn]] void die(const std::string& text) {
  fmt::print(stderr, "omx_mesh: {}\n", text);
  std::fflush(stderr);
  ::_exit(1);
}

void check(mx_return_t code, const char* what) {
  if (code != MX_SUCCESS) die(fmt::format("{}: {}", what, mx_strerror(code)));
}

struct Label {
  unsigned to_thread = 0, process = 0, thread = 0, stream = 0, number = 0, salt = 0;
  std::uint64_t match() const {
    return std::uint64_t{to_thread} << 60 | std::uint64_t{process} << 56 | std::uint64_t{thread} << 52 |
           std::uint64_t{stream} << 36 | std::uint64_t{number} << 16 | salt;
  }
  static Label of(std::uint64_t m) {
    const auto bits = [m](unsigned shift, unsigned count) {
      return static_cast<unsigned>(m >> shift & ((1U << count) - 1));
    };
    return {bits(60, 4), bits(56, 4), bits(52, 4), bits(36, 16), bits(16, 20), bits(0, 16)};
  }
};

std::uint64_t word(std::uint64_t match, std::size_t i) {
  return (match ^ i * 0x9E3779B97F4A7C15ULL) * 0xBF58476D1CE4E5B9ULL;
}
void fill(std::vector<unsigned char>& data, std::uint64_t match) {
  for (std::size_t i = 0; i < data.size(); i += 8) {
    const std::uint64_t w = word(match, i);
    std::memcpy(&data[i], &w, std::min<std::size_t>(8, data.size() - i));
  }
}
bool right(const std::vector<unsigned char>& data, std::size_t length, std::uint64_t match) {
  for (std::size_t i = 0; i < length; i += 8) {
    const std::uint64_t w = word(match, i);
    if (std::memcmp(&data[i], &w, std::min<std::size_t>(8, length - i)) != 0) return false;
  }
  for (std::size_t i = length; i < std::min<std::size_t>(length + kGuard, data.size()); i++)
    if (data[i] != kUntouched) return false;
  return true;
}

// The other processes, as known to all threads of this one.
class Members {
 public:
  Members(const Options& o, mx_endpoint_t endpoint) : o_(o), endpoint_(endpoint), peers_(o.members.size()) {}

  // Returns false while the process cannot be reached. `connection` changes with each new connection.
  bool address(std::size_t member, mx_endpoint_addr_t& address, unsigned& connection) {
    const std::lock_guard guard(mutex_);
    Peer& peer = peers_[member];
    if (!peer.up) {
      if (Clock::now() < peer.again) return false;
      const std::size_t colon = o_.members[member].rfind(':');
      const auto nic = omx::mac_parse(o_.members[member].substr(0, colon));
      const auto id = static_cast<std::uint32_t>(std::stoul(o_.members[member].substr(colon + 1)));
      const mx_return_t code = mx_connect(endpoint_, nic.value_or(0), id, kKey, 300, &peer.address);
      peer.again = Clock::now() + std::chrono::milliseconds(100);
      if (code != MX_SUCCESS) return false;
      peer.up = true;
      peer.connection++;
      connects++;
    }
    address = peer.address;
    connection = peer.connection;
    return true;
  }
  void failed(std::size_t member, unsigned connection) {
    const std::lock_guard guard(mutex_);
    if (peers_[member].connection != connection || !peers_[member].up) return;
    peers_[member].up = false;
    // Requests that are pending with the former instance must not hold up the next one.
    mx_disconnect(endpoint_, peers_[member].address);
    failures++;
  }

  std::atomic<unsigned> connects{0}, failures{0};

 private:
  struct Peer {
    bool up = false;
    unsigned connection = 0;
    mx_endpoint_addr_t address{};
    Clock::time_point again{};
  };
  const Options& o_;
  mx_endpoint_t endpoint_;
  std::mutex mutex_;
  std::vector<Peer> peers_;
};

class Worker {
 public:
  Worker(const Options& o, mx_endpoint_t endpoint, Members& members, unsigned thread)
      : o_(o), endpoint_(endpoint), members_(members), thread_(thread), random_(std::random_device{}()) {}

  void run() {
    for (Slot& r : receives_) post(r);
    const auto end = Clock::now() + std::chrono::duration<double>(o_.seconds);
    moved_ = Clock::now();
    while (!g_stop && Clock::now() < end) {
      for (Slot& s : sends_)
        if (!s.request) send(s);
      look();
    }
    // Messages of others still arrive, but our own requests must end.
    const auto drained = Clock::now() + std::chrono::seconds(2);
    while (Clock::now() < drained || sending()) look();
    for (Slot& r : receives_) {
      std::uint32_t result = 0;
      if (r.request) mx_cancel(endpoint_, &r.request, &result);
    }
  }

  std::uint64_t sent = 0, received = 0, bytes = 0, lost = 0;

 private:
  struct Slot {
    mx_request_t request = nullptr;
    mx_status_t status{};  // of a receive that has ended
    std::vector<unsigned char> data;
    std::size_t member = 0;
    unsigned connection = 0;
  };
  // Messages from one thread here to one thread there, over one connection.
  struct Stream {
    unsigned connection = 0, id = 0, next = 0;
    Clock::time_point gap{};  // when the first gap was seen
  };

  // Returns another id than the stream before had, as streams begin at least 100 ms apart.
  static unsigned stream_id() {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch());
    return static_cast<unsigned>(now.count() / 10) & 0xFFFF;
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::uint32_t length() {
    std::uint64_t top = 16;
    while (top < o_.max_length && below(100) < 75) top *= 2;
    return static_cast<std::uint32_t>(random_() % (std::min<std::uint64_t>(top, o_.max_length) + 1));
  }

  void post(Slot& r) {
    r.data.assign(o_.max_length + kGuard, kUntouched);
    mx_segment_t segment{r.data.data(), o_.max_length};
    check(mx_irecv(endpoint_, &segment, 1, std::uint64_t{thread_} << 60, kThreadMask, &r, &r.request),
          "mx_irecv");
  }

  void send(Slot& s) {
    s.member = below(static_cast<unsigned>(o_.members.size()));
    mx_endpoint_addr_t to;
    if (!members_.address(s.member, to, s.connection)) return;
    Label label;
    label.to_thread = below(o_.threads);
    Stream& stream = out_[{s.member, label.to_thread}];
    if (stream.connection != s.connection || stream.next >> 20) stream = {s.connection, stream_id(), 0, {}};
    label.process = static_cast<unsigned>(o_.self);
    label.thread = thread_;
    label.stream = stream.id;
    label.number = stream.next++;
    label.salt = below(1U << 16);
    s.data.resize(length());
    fill(s.data, label.match());
    std::array<mx_segment_t, 3> segments;
    const auto whole = static_cast<std::uint32_t>(s.data.size());
    const std::uint32_t pieces = 1 + (whole > 10 ? below(3) : 0);
    for (std::uint32_t i = 0; i < pieces; i++) {
      const std::uint32_t from = whole / pieces * i;
      segments[i] = {s.data.data() + from, (i + 1 == pieces ? whole : whole / pieces * (i + 1)) - from};
    }
    const auto call = below(8) == 0 ? mx_issend : mx_isend;
    const mx_return_t code = call(endpoint_, segments.data(), pieces, to, label.match(), &s, &s.request);
    if (code != MX_SUCCESS) {
      s.request = nullptr;
      failed(s);
    }
  }

  // Tests all requests, or waits for one of them.
  void look() {
    bool moved = false;
    mx_status_t status;
    std::uint32_t result = 0;
    // All receives have the same match information, so messages go into them in the order of posting.
    for (Slot& r : receives_) {
      if (!r.request) continue;
      check(mx_test(endpoint_, &r.request, &r.status, &result), "mx_test");
      if (result) r.request = nullptr;
    }
    moved = arrivals();
    for (Slot& s : sends_) {
      if (!s.request) continue;
      check(mx_test(endpoint_, &s.request, &status, &result), "mx_test");
      if (!result) continue;
      s.request = nullptr;
      if (status.code == MX_STATUS_SUCCESS)
        sent++;
      else
        failed(s);
      moved = true;
    }
    if (moved) {
      moved_ = Clock::now();
      return;
    }
    if (sending() && Clock::now() - moved_ > kStall) die("a send did not end within 90 s");
    Slot& r = receives_[oldest_];
    if (below(4) != 0 && sending()) return;
    check(mx_wait(endpoint_, &r.request, 5, &r.status, &result), "mx_wait");
    if (!result) return;
    r.request = nullptr;
    arrivals();
    moved_ = Clock::now();
  }

  // Takes completed receives in the order of posting, and posts them again.
  bool arrivals() {
    bool any = false;
    for (; !receives_[oldest_].request; oldest_ = (oldest_ + 1) % kReceives) {
      arrived(receives_[oldest_]);
      post(receives_[oldest_]);
      any = true;
    }
    return any;
  }

  bool sending() const {
    for (const Slot& s : sends_)
      if (s.request) return true;
    return false;
  }

  void failed(Slot& s) {
    lost++;
    members_.failed(s.member, s.connection);
  }

  void arrived(const Slot& r) {
    const mx_status_t& status = r.status;
    const Label label = Label::of(status.match_info);
    history_.push_back(fmt::format("from {}.{} stream {} number {}: {} bytes, {}", label.process,
                                   label.thread, label.stream, label.number, status.msg_length,
                                   mx_strstatus(status.code)));
    if (history_.size() > 12) history_.pop_front();
    // The sender of a large message was killed while the message came.
    if (status.code != MX_STATUS_SUCCESS) {
      if (status.xfer_length != 0)
        die(fmt::format("{}: a failed receive has bytes", mx_strstatus(status.code)));
      if (auto it = in_.find(key(label)); it != in_.end()) it->second.next = label.number + 1;
      lost++;
      return;
    }
    if (label.to_thread != thread_ || label.process >= o_.members.size())
      die(fmt::format("match information {:#x} is not for thread {}", status.match_info, thread_));
    if (status.msg_length != status.xfer_length || !right(r.data, status.msg_length, status.match_info))
      die(fmt::format("message {:#x} of {} bytes has wrong bytes", status.match_info, status.msg_length));
    Stream& stream = in_[key(label)];
    if (stream.id != label.stream + 1) stream = {0, label.stream + 1, 0, {}};
    if (stream.next != label.number) gap(stream, label);
    if (stream.gap != Clock::time_point{} && Clock::now() - stream.gap > kAfterDeath)
      die(fmt::format("process {} thread {} stream {} goes on after a gap", label.process, label.thread,
                      label.stream));
    stream.next++;
    received++;
    bytes += status.msg_length;
  }
  // Notes a gap in a stream. A large message whose sender was killed before it was fetched is gone, and
  // smaller ones behind it are not. Any other gap is a loss.
  void gap(Stream& stream, const Label& label) {
    if (!o_.kills || label.number < stream.next) {
      for (const std::string& line : history_) fmt::print(stderr, "  {}\n", line);
      die(fmt::format("process {} thread {} stream {}: message {} came, not {}", label.process, label.thread,
                      label.stream, label.number, stream.next));
    }
    if (stream.gap == Clock::time_point{}) stream.gap = Clock::now();
    stream.next = label.number;
  }
  static unsigned key(const Label& label) { return label.process << 4 | label.thread; }

  const Options& o_;
  mx_endpoint_t endpoint_;
  Members& members_;
  unsigned thread_;
  std::mt19937_64 random_;
  std::array<Slot, kReceives> receives_;
  std::size_t oldest_ = 0;
  std::array<Slot, kSends> sends_;
  std::map<std::pair<std::size_t, unsigned>, Stream> out_;
  std::map<unsigned, Stream> in_;
  Clock::time_point moved_;
  std::deque<std::string> history_;  // of the latest receives
};

int run(const Options& o) {
  mx_set_error_handler(MX_ERRORS_RETURN);
  check(mx_init(), "mx_init");
  const auto id =
      static_cast<std::uint32_t>(std::stoul(o.members[o.self].substr(o.members[o.self].rfind(':') + 1)));
  mx_endpoint_t endpoint;
  check(mx_open_endpoint(MX_ANY_NIC, id, kKey, nullptr, 0, &endpoint), "mx_open_endpoint");
  Members members(o, endpoint);
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < o.threads; i++)
    workers.push_back(std::make_unique<Worker>(o, endpoint, members, i));
  threads.reserve(workers.size());
  for (const auto& worker : workers) threads.emplace_back([&worker] { worker->run(); });
  for (std::thread& t : threads) t.join();
  check(mx_close_endpoint(endpoint), "mx_close_endpoint");
  check(mx_finalize(), "mx_finalize");
  std::uint64_t sent = 0, received = 0, bytes = 0, lost = 0;
  for (const auto& w : workers) {
    sent += w->sent;
    received += w->received;
    bytes += w->bytes;
    lost += w->lost;
  }
  fmt::print("mesh ok: {} sent, {} received, {:.1f} MB, {} failed with dead peers, {} connects\n", sent,
             received, static_cast<double>(bytes) * 1e-6, lost, members.connects.load());
  if (received == 0) die("nothing was received");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{"Threads of several processes send each other messages; every byte and the order are checked"};
  app.add_option("--member", o.members, "MAC:ENDPOINT of each process, the same list for all")->required();
  app.add_option("--self", o.self, "which of them this is");
  app.add_option("--threads", o.threads)->check(CLI::Range(1, 16))->capture_default_str();
  app.add_option("--seconds", o.seconds)->capture_default_str();
  app.add_flag("--kills", o.kills, "some of them are killed now and then");
  app.add_option("--max-length", o.max_length)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (o.self >= o.members.size() || o.members.size() > 16) die("--self is not one of at most 16 members");
  std::signal(SIGTERM, [](int) { g_stop = true; });
  return run(o);
}
