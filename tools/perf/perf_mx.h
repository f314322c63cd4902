// SPDX-License-Identifier: BSD-3-Clause
// An endpoint of the MX interface whose functions return failures as values. Everything that `omx perf`
// measures goes through these MX calls, as in applications.
#pragma once

#include <myriexpress.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/expected.h"

namespace omx::tools {

// A failure with an empty message was already reported by the library.
class MxPort {
 public:
  static Result<std::unique_ptr<MxPort>> open(long board, std::uint32_t endpoint);
  // Closes the endpoint. Pending operations end without completion, so their memory may be freed
  // afterwards.
  ~MxPort();
  MxPort(const MxPort&) = delete;
  MxPort& operator=(const MxPort&) = delete;

  // Chooses between polling with mx_test and sleeping in mx_wait, and sets the time-out of an operation. 0
  // means none.
  void set_waiting(bool blocking, std::uint32_t timeout_ms);

  // Names the peer whose messages complete the following operations. A receive does not fail when its sender
  // has ended, so after some silence this peer is asked whether it still runs.
  void set_peer(const mx_endpoint_addr_t& peer);
  void forget_peer() { peer_known_ = false; }

  // Returns "host:0 (02:..:01), board 0, endpoint 3".
  std::string describe() const;
  std::uint32_t endpoint_id() const { return endpoint_id_; }
  std::uint64_t nic() const { return nic_; }

  // Sets the name by which the user called the peer, for failures.
  void set_peer_name(const std::string& name) { named_ = name; }
  static Result<std::uint64_t> find_nic(const std::string& peer);
  Result<mx_endpoint_addr_t> connect(std::uint64_t nic, std::uint32_t endpoint, std::uint32_t timeout_ms);

  Result<mx_request_t> send(const mx_endpoint_addr_t& to, const std::byte* data, std::uint64_t size,
                            std::uint64_t match, bool sync);
  Result<mx_request_t> receive(std::byte* data, std::uint64_t size, std::uint64_t match,
                               std::uint64_t mask = MX_MATCH_MASK_NONE);
  // Waits for a request in the way of set_waiting(). A message that failed or was truncated is a failure.
  Result<mx_status_t> complete(mx_request_t request);

  // The quick forms of these three, for measured code: nothing stands between caller and library. A Result
  // costs some 10 ns even without a failure, so the failures come from the slow forms above.
  mx_return_t quick_send(const mx_endpoint_addr_t& to, const std::byte* data, std::uint64_t size,
                         std::uint64_t match, bool sync, mx_request_t& request, void* context = nullptr) {
    mx_segment_t segment{const_cast<std::byte*>(data), static_cast<std::uint32_t>(size)};
    return sync ? mx_issend(endpoint_, &segment, 1, to, match, context, &request)
                : mx_isend(endpoint_, &segment, 1, to, match, context, &request);
  }
  mx_return_t quick_receive(std::byte* data, std::uint64_t size, std::uint64_t match, mx_request_t& request,
                            void* context = nullptr) {
    mx_segment_t segment{data, static_cast<std::uint32_t>(size)};
    return mx_irecv(endpoint_, &segment, 1, match, MX_MATCH_MASK_NONE, context, &request);
  }
  // Returns false after some polls, on an error, or if this port sleeps. complete() then goes on.
  bool quick_complete(mx_request_t request, mx_status_t& status) {
    return !blocking_ && look(request, status) == Look::done;
  }
  // Waits for any request whose match information fits, in the way of set_waiting(). Fails with MX_TIMEOUT if
  // none is done in time.
  Result<mx_status_t> complete_any(std::uint64_t match, std::uint64_t mask);
  // Returns the failure for the code of quick_send or quick_receive.
  static tl::unexpected<Failure> failure(mx_return_t code);
  // Judges a completed request: a message that failed or was truncated is a failure.
  static Result<mx_status_t> judge(const mx_status_t& status);

 private:
  // Polls between two readings of the clock. A reading costs as much as a poll.
  static constexpr std::uint32_t kPollsPerLook = 4096;

  enum class Look { done, not_yet, error };
  Look look(mx_request_t& request, mx_status_t& status) {
    std::uint32_t done = 0;
    for (std::uint32_t polls = 0; polls < kPollsPerLook; polls++) {
      error_ = mx_test(endpoint_, &request, &status, &done);
      if (done) return Look::done;
      if (error_ != MX_SUCCESS) return Look::error;
    }
    return Look::not_yet;
  }

  explicit MxPort(mx_endpoint_t endpoint) : endpoint_(endpoint) {}
  Result<mx_status_t> poll(mx_request_t request);
  Result<mx_status_t> sleep(mx_request_t request);
  Result<void> peer_ask();
  std::string peer_name(std::uint64_t nic) const;
  std::string closed_text(std::uint64_t nic, std::uint32_t endpoint) const;
  std::string silent_text(std::uint64_t nic, std::uint32_t endpoint, std::uint32_t timeout_ms) const;

  mx_endpoint_t endpoint_;
  std::string named_;
  std::uint64_t nic_ = 0;
  std::uint32_t endpoint_id_ = 0;
  bool blocking_ = true;
  mx_return_t error_ = MX_SUCCESS;  // result of the last mx_test
  std::uint32_t timeout_ms_ = 0;
  bool peer_known_ = false;
  std::uint64_t peer_nic_ = 0;
  std::uint32_t peer_endpoint_ = 0, peer_session_ = 0;
};

// Returns "02:00:00:00:00:01", or by UDP "10.77.0.1".
std::string nic_text(std::uint64_t nic);

}  // namespace omx::tools
