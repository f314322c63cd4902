// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_mx.h"

#include <fmt/format.h>
#include <mx_extensions.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/mac.h"
#include "runtime/board/resolver.h"
#include "runtime/board/unreached.h"
#include "runtime/process/process.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

// This key keeps other MX programs from connecting to our endpoints by mistake.
constexpr std::uint32_t kKey = 0x6f6d7870;
// After so much silence the peer is asked whether it still runs, and it may take this long to answer.
constexpr std::uint32_t kSilenceMs = 200, kAnswerMs = 300;
// A server that has just lost its client opens its endpoint again, and nothing is open meanwhile. So a
// refused connect is tried again for this long.
constexpr std::chrono::milliseconds kReopening{3000}, kRefusedPause{50};
// The library's sentence about the last error of a thread, without the name of the function.
thread_local std::string g_error;

mx_return_t error_keep(char* text, mx_return_t code) {
  const std::string_view whole = text;
  const std::size_t colon = whole.find(": ");
  g_error = colon == std::string_view::npos ? whole : whole.substr(colon + 2);
  return code;
}

// Returns what that sentence says after its first semicolon: the reason and the remedy.
std::string advice() {
  const std::size_t semicolon = g_error.find("; ");
  return semicolon == std::string::npos ? "" : g_error.substr(semicolon + 2);
}

// Asks the runtime why a peer is not reached. The text of an error handler has no room for the full reason.
runtime::Unreached unreached(const std::string& peer, std::uint64_t nic, std::uint32_t endpoint,
                             bool refused) {
  const auto process = runtime::Process::create();
  if (!process) return {advice()};
  // An IPv6 NIC id does not contain the address, so the name is looked up first.
  if (wire::udp_family(nic) == wire::IpFamily::v6) (void)(*process)->nic_of(peer);
  return (*process)->unreached(nic, static_cast<std::uint8_t>(endpoint), {refused, advice(), true});
}

// Returns whether the library has printed the error: it does for errors that only a person can remedy.
bool told_already(mx_return_t code) {
  return code != MX_BUSY && code != MX_BOARD_UNKNOWN && code != MX_BAD_ENDPOINT;
}

}  // namespace

tl::unexpected<Failure> MxPort::failure(mx_return_t code) {
  return fail(code, g_error.empty() ? mx_strerror(code) : g_error);
}

Result<mx_status_t> MxPort::judge(const mx_status_t& status) {
  if (status.code == MX_STATUS_SUCCESS && status.msg_length == status.xfer_length) return status;
  std::uint64_t nic = 0;
  mx_decompose_endpoint_addr(status.source, &nic, nullptr);
  return fail(MX_FAILURE,
              fmt::format("a message with {} failed: {}", nic_text(nic), mx_strstatus(status.code)));
}

std::string nic_text(std::uint64_t nic) {
  char name[MX_MAX_HOSTNAME_LEN] = "";
  if (wire::udp_family(nic) == wire::IpFamily::v4) return runtime::address_name(nic);
  // An IPv6 NIC id means nothing to people, so its name is shown, too.
  if (wire::udp_family(nic) != wire::IpFamily::v6 || mx_nic_id_to_hostname(nic, name) != MX_SUCCESS)
    return mac_format(nic);
  return fmt::format("{} ({})", mac_format(nic), name);
}

Result<std::unique_ptr<MxPort>> MxPort::open(long board, std::uint32_t endpoint) {
  mx_set_error_handler(error_keep);
  if (const mx_return_t code = mx_init(); code != MX_SUCCESS && code != MX_ALREADY_INITIALIZED)
    return fail(code, "");
  mx_endpoint_t opened = nullptr;
  const std::uint32_t wanted = board < 0 ? MX_ANY_NIC : static_cast<std::uint32_t>(board);
  const mx_return_t code = mx_open_endpoint(wanted, endpoint, kKey, nullptr, 0, &opened);
  if (code != MX_SUCCESS) {
    if (told_already(code)) return fail(code, "");
    return failure(code);
  }
  std::unique_ptr<MxPort> port(new MxPort(opened));
  mx_endpoint_addr_t address{};
  mx_get_endpoint_addr(opened, &address);
  mx_decompose_endpoint_addr(address, &port->nic_, &port->endpoint_id_);
  return port;
}

MxPort::~MxPort() {
  mx_close_endpoint(endpoint_);
}

void MxPort::set_waiting(bool blocking, std::uint32_t timeout_ms) {
  blocking_ = blocking;
  timeout_ms_ = timeout_ms;
}

void MxPort::set_peer(const mx_endpoint_addr_t& peer) {
  mx_decompose_endpoint_addr2(peer, &peer_nic_, &peer_endpoint_, &peer_session_);
  peer_known_ = true;
}

// Asks whether the peer still runs, by connecting again. That changes nothing for a peer that runs. No answer
// proves nothing, so that is no failure.
Result<void> MxPort::peer_ask() {
  mx_endpoint_addr_t address{};
  const mx_return_t code = mx_connect(endpoint_, peer_nic_, peer_endpoint_, kKey, kAnswerMs, &address);
  std::uint32_t session = peer_session_;
  if (code == MX_SUCCESS) mx_decompose_endpoint_addr2(address, nullptr, nullptr, &session);
  if (code != MX_CONNECTION_FAILED && code != MX_BAD_CONNECTION_KEY && session == peer_session_) return {};
  return fail(code == MX_SUCCESS ? MX_CONNECTION_FAILED : code,
              fmt::format("the peer {} has gone: its \"omx perf\" has ended", nic_text(peer_nic_)));
}

std::string MxPort::describe() const {
  char name[MX_MAX_HOSTNAME_LEN] = "";
  std::uint32_t board = 0;
  mx_nic_id_to_hostname(nic_, name);
  mx_nic_id_to_board_number(nic_, &board);
  return fmt::format("{} ({}), board {}, endpoint {}", name, nic_text(nic_), board, endpoint_id_);
}

Result<std::uint64_t> MxPort::find_nic(const std::string& peer) {
  std::string name = peer;
  std::uint64_t nic = 0;
  const mx_return_t code = mx_hostname_to_nic_id(name.data(), &nic);
  if (code != MX_SUCCESS) return failure(code);
  return nic;
}

// Returns the peer as the user named it, with its address.
std::string MxPort::peer_name(std::uint64_t nic) const {
  const std::string address = nic_text(nic);
  return named_.empty() || named_ == address ? address : fmt::format("{} ({})", named_, address);
}

std::string MxPort::closed_text(std::uint64_t nic, std::uint32_t endpoint) const {
  constexpr const char* kRemedy = "start \"omx perf\" there, or give its endpoint with --peer-endpoint";
  const auto [reason, runs] = unreached(named_, nic, endpoint, true);
  const std::string remedy = runs             ? reason
                             : reason.empty() ? kRemedy
                                              : fmt::format("{}; {}", reason, kRemedy);
  if (nic == nic_ && runs) return remedy;
  return fmt::format("nothing is open on endpoint {} of {}: {}", endpoint, peer_name(nic), remedy);
}

std::string MxPort::silent_text(std::uint64_t nic, std::uint32_t endpoint, std::uint32_t timeout_ms) const {
  const std::string reason = unreached(named_, nic, endpoint, false).reason;
  return fmt::format(
      "no answer from {} within {} s: {}", peer_name(nic), timeout_ms / 1000,
      reason.empty() ? "is the host up, on this network, and is \"omx perf\" running there?" : reason);
}

Result<mx_endpoint_addr_t> MxPort::connect(std::uint64_t nic, std::uint32_t endpoint,
                                           std::uint32_t timeout_ms) {
  mx_endpoint_addr_t address{};
  const auto refused_most = Clock::now() + std::min(kReopening, std::chrono::milliseconds(timeout_ms));
  mx_return_t code = mx_connect(endpoint_, nic, endpoint, kKey, timeout_ms, &address);
  while (code == MX_CONNECTION_FAILED && Clock::now() < refused_most) {
    std::this_thread::sleep_for(kRefusedPause);
    code = mx_connect(endpoint_, nic, endpoint, kKey, timeout_ms, &address);
  }
  switch (code) {
    case MX_SUCCESS:
      return address;
    case MX_CONNECTION_FAILED:
      return fail(code, closed_text(nic, endpoint));
    case MX_BAD_CONNECTION_KEY:
      return fail(code, fmt::format("endpoint {} of {} belongs to another program, not to \"omx perf\"",
                                    endpoint, peer_name(nic)));
    case MX_TIMEOUT:
      return fail(code, silent_text(nic, endpoint, timeout_ms));
    default:
      return failure(code);
  }
}

Result<mx_request_t> MxPort::send(const mx_endpoint_addr_t& to, const std::byte* data, std::uint64_t size,
                                  std::uint64_t match, bool sync) {
  mx_request_t request = nullptr;
  const mx_return_t code = quick_send(to, data, size, match, sync, request);
  if (code != MX_SUCCESS) return failure(code);
  return request;
}

Result<mx_request_t> MxPort::receive(std::byte* data, std::uint64_t size, std::uint64_t match,
                                     std::uint64_t mask) {
  mx_segment_t segment{data, static_cast<std::uint32_t>(size)};
  mx_request_t request = nullptr;
  const mx_return_t code = mx_irecv(endpoint_, &segment, 1, match, mask, nullptr, &request);
  if (code != MX_SUCCESS) return failure(code);
  return request;
}

Result<mx_status_t> MxPort::complete(mx_request_t request) {
  return blocking_ ? sleep(request) : poll(request);
}

Result<mx_status_t> MxPort::complete_any(std::uint64_t match, std::uint64_t mask) {
  mx_status_t status;
  std::uint32_t done = 0;
  Clock::time_point start{};
  for (;;) {
    mx_return_t code = MX_SUCCESS;
    if (blocking_) {
      code = mx_wait_any(endpoint_, timeout_ms_, match, mask, &status, &done);
    } else {
      for (std::uint32_t polls = 0; polls < kPollsPerLook && !done && code == MX_SUCCESS; polls++)
        code = mx_test_any(endpoint_, match, mask, &status, &done);
    }
    if (done) return judge(status);
    if (code != MX_SUCCESS && code != MX_TIMEOUT) return failure(code);
    const Clock::time_point now = Clock::now();
    if (start == Clock::time_point{}) start = now;
    if (blocking_ || now - start >= std::chrono::milliseconds(timeout_ms_))
      return fail(MX_TIMEOUT, fmt::format("nothing was sent or received for {} s", timeout_ms_ / 1000));
  }
}

Result<mx_status_t> MxPort::poll(mx_request_t request) {
  mx_status_t status;
  Clock::time_point start{};
  std::chrono::milliseconds ask_after{kSilenceMs};
  for (;;) {
    switch (look(request, status)) {
      case Look::done:
        return judge(status);
      case Look::error:
        return failure(error_);
      case Look::not_yet:
        break;
    }
    if (!timeout_ms_) continue;
    const Clock::time_point now = Clock::now();
    if (start == Clock::time_point{}) start = now;
    if (now - start >= std::chrono::milliseconds(timeout_ms_))
      return fail(MX_TIMEOUT, fmt::format("the peer was silent for {} s", timeout_ms_ / 1000));
    if (peer_known_ && now - start >= ask_after) {
      if (auto r = peer_ask(); !r) return tl::unexpected(r.error());
      ask_after *= 2;
    }
  }
}

Result<mx_status_t> MxPort::sleep(mx_request_t request) {
  mx_status_t status;
  std::uint32_t done = 0, slice_ms = peer_known_ ? kSilenceMs : timeout_ms_;
  // The clock is read only after a slice has passed without completion. A measured operation ends before
  // that.
  Clock::time_point start{};
  std::uint32_t waited_ms = 0;
  // Without a time-out, a signal may still end mx_wait early.
  while (!timeout_ms_ || waited_ms < timeout_ms_) {
    if (timeout_ms_) slice_ms = std::min(slice_ms, timeout_ms_ - waited_ms);
    const mx_return_t code = mx_wait(endpoint_, &request, slice_ms, &status, &done);
    if (done) return judge(status);
    if (code != MX_SUCCESS && code != MX_TIMEOUT) return failure(code);
    if (peer_known_) {
      if (auto r = peer_ask(); !r) return tl::unexpected(r.error());
    }
    const Clock::time_point now = Clock::now();
    if (start == Clock::time_point{}) start = now - std::chrono::milliseconds(slice_ms);
    waited_ms = static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now - start).count());
    slice_ms *= 2;
  }
  return fail(MX_TIMEOUT, fmt::format("the peer was silent for {} s", timeout_ms_ / 1000));
}

}  // namespace omx::tools
