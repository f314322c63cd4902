// SPDX-License-Identifier: BSD-3-Clause
// Two processes send each other a random mix of messages of all classes at once, through the MX API, and
// check every byte. Message i of a direction is the same on both sides, because it is a function of the seed.
//
//   omx_soak --endpoint 0 --peer MAC --peer-endpoint 0 --messages 100000 --seed 1
//
// With --until-told both continue until each gets SIGTERM. Then each announces how many messages it began.
//
// Exit status: 0 success. 1 mismatch, wrong status or failed call. 3 a request ended with an error status
// that --tolerate allows, because the peer was killed on purpose. Then the time from the last success to the
// failure is printed.
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/mac.h"
#include "base/random.h"
#include "myriexpress.h"

namespace {

constexpr std::uint32_t kKey = 0x50a4;
constexpr int kWindow = 48;
constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};
// Match information of messages without an index: their count, and the last one.
constexpr std::uint64_t kMatchCount = ~std::uint64_t{1}, kMatchLast = ~std::uint64_t{0};

volatile sig_atomic_t told = 0;

struct Options {
  std::uint32_t endpoint = 0, peer_endpoint = 0;
  std::string peer;
  std::uint64_t messages = 10000, seed = 1;
  std::uint32_t max_length = 1 << 20;
  bool tolerate = false;
  bool until_told = false;
  bool wait = false;
  std::uint32_t request_timeout_ms = 0;
  double connect_s = 20;
};

double now_s() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

[[noreturn]] void die(const char* what, const char* why) {
  std::fprintf(stderr, "omx_soak: %s: %s\n", what, why);
  std::exit(1);
}

void check(mx_return_t code, const char* what) {
  if (code != MX_SUCCESS) die(what, mx_strerror(code));
}

// The properties of message `index` from the side with `origin`.
struct Plan {
  std::uint32_t length = 0;
  std::uint32_t received = 0;  // bytes of the receive buffer
  bool synchronous = false;
  bool masked = false;
  std::uint64_t match = 0;
  int segments = 1;
  std::uint64_t content = 0;
};

Plan plan(const Options& o, std::uint64_t origin, std::uint64_t index) {
  omx::Random random(o.seed * 1000003 + origin * 7919 + index * 31);
  Plan p;
  const auto dice = random.below(100);
  const auto log_uniform = [&](std::uint64_t low, std::uint64_t high) {
    std::uint64_t top = low;
    while (top < high && random.below(100) < 80) top *= 2;
    return static_cast<std::uint32_t>(low + random.below(std::min(top, high) - low + 1));
  };
  if (dice < 5)
    p.length = 0;
  else if (dice < 35)
    p.length = static_cast<std::uint32_t>(random.below(33));
  else if (dice < 55)
    p.length = static_cast<std::uint32_t>(33 + random.below(96));
  else if (dice < 92)
    p.length = log_uniform(129, 32768);
  else
    p.length = log_uniform(32769, o.max_length);
  p.length = std::min(p.length, o.max_length);
  p.received = random.below(50) == 0 ? p.length / 2 : p.length;
  p.synchronous = random.below(20) == 0;
  p.masked = random.below(2) == 0;
  p.match = (random.next() << 48) | index;
  p.segments = random.below(4) == 0 ? static_cast<int>(1 + random.below(6)) : 1;
  p.content = random.next() | 1;
  return p;
}

// Unmaps what a request used as soon as it has ended, so that a library that touches it later is caught.
template <class T>
struct OwnPages {
  using value_type = T;
  OwnPages() = default;
  template <class U>
  explicit OwnPages(const OwnPages<U>&) {}
  T* allocate(std::size_t n) {
    void* const pages =
        mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) die("mmap", "no memory");
    return static_cast<T*>(pages);
  }
  void deallocate(T* pages, std::size_t n) { munmap(pages, n * sizeof(T)); }
  bool operator==(const OwnPages&) const { return true; }
};
using Bytes = std::vector<char, OwnPages<char>>;

void fill(Bytes& data, const Plan& p) {
  data.resize(p.length);
  std::uint64_t v = p.content;
  std::size_t i = 0;
  for (; i + 8 <= data.size(); i += 8, v = v * 6364136223846793005ULL + 1442695040888963407ULL)
    std::memcpy(&data[i], &v, 8);
  for (; i < data.size(); i++) data[i] = static_cast<char>(v >> (8 * (i % 8)));
}

bool same(const Bytes& data, const Plan& p) {
  std::uint64_t v = p.content;
  std::size_t i = 0;
  for (; i + 8 <= p.received && i + 8 <= p.length;
       i += 8, v = v * 6364136223846793005ULL + 1442695040888963407ULL)
    if (std::memcmp(&data[i], &v, 8) != 0) return false;
  // Only the tail of the whole message is produced byte by byte.
  if (p.received == p.length)
    for (; i < p.length; i++)
      if (data[i] != static_cast<char>(v >> (8 * (i % 8)))) return false;
  for (i = p.received; i < data.size(); i++)
    if (data[i] != 0x5A) return false;
  return true;
}

int cut(Bytes& data, std::size_t length, int pieces, mx_segment_t* out) {
  int n = 0;
  std::size_t offset = 0;
  for (int i = 0; i < pieces; i++) {
    const std::size_t part = i + 1 == pieces ? length - offset : length / static_cast<std::size_t>(pieces);
    out[n].segment_ptr = data.data() + offset;
    out[n++].segment_length = static_cast<std::uint32_t>(part);
    offset += part;
  }
  return n;
}

struct Slot {
  mx_request_t request = nullptr;
  std::uint64_t index = 0;
  Plan p;
  Bytes data;
};

class Soak {
 public:
  explicit Soak(const Options& o) : o_(o) {}

  int run() {
    mx_set_error_handler(MX_ERRORS_RETURN);
    check(mx_init(), "mx_init");
    check(mx_open_endpoint(MX_ANY_NIC, o_.endpoint, kKey, nullptr, 0, &ep_), "mx_open_endpoint");
    if (o_.request_timeout_ms) check(mx_set_request_timeout(ep_, nullptr, o_.request_timeout_ms), "timeout");
    connect();
    if (o_.until_told) begin_without_end();
    const double start = now_s();
    last_success_ = start;
    while (sent_ < to_send_ || received_ < to_receive_) {
      if (told && to_send_ == kNoEnd) end_sending();
      post();
      reap();
      if (failed_) return report_failure();
    }
    const double seconds = now_s() - start;
    std::printf("soak ok: %" PRIu64 " messages out, %" PRIu64 " in, %.1f MB out, %.1f MB in, %.2f s, %" PRIu64
                " truncated\n",
                sent_, received_, bytes_out_ * 1e-6, bytes_in_ * 1e-6, seconds, truncated_);
    std::fflush(stdout);
    finish();
    mx_close_endpoint(ep_);
    mx_finalize();
    return 0;
  }

 private:
  void connect() {
    std::uint64_t self_nic = 0, nic = 0;
    std::uint32_t self_id = 0;
    mx_endpoint_addr_t self;
    check(mx_get_endpoint_addr(ep_, &self), "own address");
    check(mx_decompose_endpoint_addr(self, &self_nic, &self_id), "own address");
    if (const auto mac = omx::mac_parse(o_.peer))
      nic = *mac;
    else
      check(mx_hostname_to_nic_id(o_.peer.data(), &nic), "peer name");
    origin_ = self_nic * 256 + self_id;
    peer_origin_ = nic * 256 + o_.peer_endpoint;
    const double end = now_s() + o_.connect_s;
    mx_return_t code;
    do {
      code = mx_connect(ep_, nic, o_.peer_endpoint, kKey, 500, &peer_);
    } while (code != MX_SUCCESS && now_s() < end);
    check(code, "mx_connect");
  }

  void begin_without_end() {
    to_send_ = to_receive_ = kNoEnd;
    count_segment_ = {&count_in_, sizeof count_in_};
    check(mx_irecv(ep_, &count_segment_, 1, kMatchCount, MX_MATCH_MASK_NONE, &count_in_, &count_request_),
          "mx_irecv");
  }

  void end_sending() {
    to_send_ = count_out_ = started_;
    mx_segment_t segment = {&count_out_, sizeof count_out_};
    check(mx_isend(ep_, &segment, 1, peer_, kMatchCount, &count_out_, &count_request_), "mx_isend");
  }

  // Cancels the receives beyond the number of messages that the peer has announced.
  void end_receiving() {
    to_receive_ = count_in_;
    for (Slot& s : receives_) {
      if (!s.request || s.index < to_receive_) continue;
      std::uint32_t result = 0;
      check(mx_cancel(ep_, &s.request, &result), "mx_cancel");
      if (!result) die("mx_cancel", "a receive was matched although no message was sent for it");
      s.request = nullptr;
    }
  }

  void post() {
    for (Slot& s : receives_) {
      if (s.request || posted_ >= to_receive_) continue;
      s.index = posted_++;
      s.p = plan(o_, peer_origin_, s.index);
      s.data.assign(s.p.received + 16, 0x5A);
      mx_segment_t segments[8];
      const int n = cut(s.data, s.p.received, s.p.segments, segments);
      const std::uint64_t mask = s.p.masked ? 0x0000ffffffffffffULL : MX_MATCH_MASK_NONE;
      check(mx_irecv(ep_, segments, static_cast<std::uint32_t>(n), s.p.match & mask, mask, &s, &s.request),
            "mx_irecv");
    }
    for (Slot& s : sends_) {
      if (s.request || started_ >= to_send_) continue;
      s.index = started_++;
      s.p = plan(o_, origin_, s.index);
      fill(s.data, s.p);
      mx_segment_t segments[8];
      const int n = cut(s.data, s.p.length, s.p.segments, segments);
      const auto call = s.p.synchronous ? mx_issend : mx_isend;
      check(call(ep_, segments, static_cast<std::uint32_t>(n), peer_, s.p.match, &s, &s.request), "mx_isend");
      bytes_out_ += s.p.length;
    }
  }

  // Completes requests in any order in which they finish.
  void reap() {
    mx_status_t status;
    std::uint32_t result = 0;
    for (bool first = true;; first = false) {
      if (first && o_.wait)
        check(mx_wait_any(ep_, 1000, 0, 0, &status, &result), "mx_wait_any");
      else
        check(mx_test_any(ep_, 0, 0, &status, &result), "mx_test_any");
      if (!result) return;
      if (status.context == &count_in_ || status.context == &count_out_) {
        if (status.code != MX_STATUS_SUCCESS)
          fail(status.code);
        else if (status.context == &count_in_)
          end_receiving();
        continue;
      }
      auto* slot = static_cast<Slot*>(status.context);
      complete(*slot, status);
      if (failed_) return;
    }
  }

  void fail(mx_status_code_t code) {
    failed_ = true;
    failure_ = code;
  }

  // Says which bytes are wrong. 5a is what the memory held before.
  static void tell_wrong(const Slot& s) {
    Bytes right(s.data.size(), 0x5A), sent;
    fill(sent, s.p);
    std::copy_n(sent.begin(), s.p.received, right.begin());
    std::size_t first = s.data.size(), last = 0, wrong = 0, untouched = 0;
    for (std::size_t i = 0; i < right.size(); i++) {
      if (s.data[i] == right[i]) continue;
      first = std::min(first, i);
      last = i;
      wrong++;
      untouched += s.data[i] == 0x5A;
    }
    std::fprintf(
        stderr,
        "message %" PRIu64
        " of %u bytes, %u received in %d pieces: %zu bytes are wrong from %zu to %zu, %zu of them 5a\n",
        s.index, s.p.length, s.p.received, s.p.segments, wrong, first, last, untouched);
  }

  void complete(Slot& s, const mx_status_t& status) {
    const bool receive = &s >= receives_ && &s < receives_ + kWindow;
    const bool truncation = s.p.received < s.p.length;
    s.request = nullptr;
    if (status.code != MX_STATUS_SUCCESS && status.code != MX_STATUS_TRUNCATED) {
      fail(status.code);
      return;
    }
    last_success_ = now_s();
    if (!receive) {
      Bytes().swap(s.data);
      sent_++;
      return;
    }
    if (status.msg_length != s.p.length || status.xfer_length != s.p.received ||
        status.match_info != s.p.match || (status.code == MX_STATUS_TRUNCATED) != truncation) {
      std::fprintf(stderr,
                   "message %" PRIu64 ": length %u of %u, expected %u of %u, match %" PRIx64 ", status %s\n",
                   s.index, status.xfer_length, status.msg_length, s.p.received, s.p.length,
                   status.match_info, mx_strstatus(status.code));
      die("receive", "wrong status");
    }
    if (!same(s.data, s.p)) {
      tell_wrong(s);
      die("receive", "wrong data");
    }
    Bytes().swap(s.data);
    truncated_ += truncation;
    bytes_in_ += s.p.received;
    received_++;
  }

  // Waits for the peer. Both sides must be done before either closes: a closing endpoint owes nothing to
  // receivers of large data.
  void finish() {
    mx_request_t request;
    mx_status_t status;
    std::uint32_t result = 0;
    char byte = 0;
    mx_segment_t segment = {&byte, 1};
    check(mx_irecv(ep_, &segment, 1, kMatchLast, MX_MATCH_MASK_NONE, nullptr, &request), "mx_irecv");
    mx_request_t send;
    check(mx_isend(ep_, &segment, 1, peer_, kMatchLast, nullptr, &send), "mx_isend");
    check(mx_wait(ep_, &request, 10000, &status, &result), "last receive");
    check(mx_wait(ep_, &send, 10000, &status, &result), "last send");
  }

  int report_failure() {
    std::printf("soak stopped: %s after %.3f s without success; %" PRIu64 " sent, %" PRIu64 " received\n",
                mx_strstatus(failure_), now_s() - last_success_, sent_, received_);
    // Every other request must end as well, in bounded time.
    const double start = now_s();
    std::uint64_t pending = 0, ended = 0;
    for (Slot& s : sends_) pending += s.request != nullptr;
    while (ended < pending && now_s() - start < 30) {
      mx_status_t status;
      std::uint32_t result = 0;
      check(mx_test_any(ep_, 0, 0, &status, &result), "mx_test_any");
      if (!result) continue;
      auto* slot = static_cast<Slot*>(status.context);
      if (slot >= sends_ && slot < sends_ + kWindow) ended++;
    }
    for (Slot& s : receives_) {
      std::uint32_t result = 0;
      if (s.request) mx_cancel(ep_, &s.request, &result);
    }
    std::printf("pending sends %" PRIu64 ", ended %" PRIu64 "\n", pending, ended);
    mx_close_endpoint(ep_);
    mx_finalize();
    if (ended < pending) return 1;
    return o_.tolerate ? 3 : 1;
  }

  Options o_;
  mx_endpoint_t ep_ = nullptr;
  mx_endpoint_addr_t peer_{};
  std::uint64_t origin_ = 0, peer_origin_ = 0;
  Slot sends_[kWindow], receives_[kWindow];
  std::uint64_t to_send_ = o_.messages, to_receive_ = o_.messages;
  std::uint64_t count_in_ = 0, count_out_ = 0;
  mx_segment_t count_segment_{};
  mx_request_t count_request_ = nullptr;
  std::uint64_t started_ = 0, sent_ = 0, posted_ = 0, received_ = 0, truncated_ = 0;
  double bytes_out_ = 0, bytes_in_ = 0;
  double last_success_ = 0;
  bool failed_ = false;
  mx_status_code_t failure_ = MX_STATUS_SUCCESS;
};

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{"Random messages of all classes in both directions, every byte checked"};
  app.add_option("--endpoint", o.endpoint);
  app.add_option("--peer", o.peer, "MAC or host:board")->required();
  app.add_option("--peer-endpoint", o.peer_endpoint);
  app.add_option("--messages", o.messages);
  app.add_option("--seed", o.seed);
  app.add_option("--max-length", o.max_length);
  app.add_option("--request-timeout-ms", o.request_timeout_ms);
  app.add_option("--connect-s", o.connect_s);
  app.add_flag("--until-told", o.until_told, "no number of messages, but until SIGTERM; both must have it");
  app.add_flag("--wait", o.wait, "block instead of polling");
  app.add_flag("--tolerate", o.tolerate, "the peer will be killed: exit 3 when that is noticed");
  CLI11_PARSE(app, argc, argv);
  if (o.until_told) signal(SIGTERM, [](int) { told = 1; });
  static Soak soak(o);
  return soak.run();
}
