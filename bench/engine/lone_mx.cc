// SPDX-License-Identifier: BSD-3-Clause
#include <myriexpress.h>

#include "bench/engine/lone_message.h"

namespace omx::bench {
namespace {

constexpr std::uint32_t kKey = 7;

void must(mx_return_t code, const char* what) {
  if (code != MX_SUCCESS) lone_failed(what, mx_strerror(code));
}

class MxSide {
 public:
  MxSide(std::uint32_t board, std::size_t bytes) : out_(bytes, 'o'), in_(bytes, 'i') {
    must(mx_open_endpoint(board, MX_ANY_ENDPOINT, kKey, nullptr, 0, &endpoint_), "mx_open_endpoint");
  }
  MxSide(const MxSide&) = delete;
  MxSide& operator=(const MxSide&) = delete;
  ~MxSide() { mx_close_endpoint(endpoint_); }

  void connect(MxSide& other) {
    mx_endpoint_addr_t own;
    must(mx_get_endpoint_addr(other.endpoint_, &own), "mx_get_endpoint_addr");
    std::uint64_t nic = 0;
    std::uint32_t id = 0;
    must(mx_decompose_endpoint_addr(own, &nic, &id), "mx_decompose_endpoint_addr");
    mx_request_t request;
    must(mx_iconnect(endpoint_, nic, id, kKey, 0, nullptr, &request), "mx_iconnect");
    while (!done(request)) other.look();
    peer_ = status_.source;
  }

  void post() {
    must(mx_irecv(endpoint_, &in_segment_, 1, 1, MX_MATCH_MASK_NONE, nullptr, &receive_), "mx_irecv");
  }
  void send() { must(mx_isend(endpoint_, &out_segment_, 1, peer_, 1, nullptr, &send_), "mx_isend"); }
  bool received() { return done(receive_); }
  bool sent() { return done(send_); }
  void look() {
    mx_request_t request;
    std::uint32_t found = 0;
    must(mx_ipeek(endpoint_, &request, &found), "mx_ipeek");
  }

 private:
  bool done(mx_request_t& request) {
    std::uint32_t done = 0;
    must(mx_test(endpoint_, &request, &status_, &done), "mx_test");
    if (done && status_.code != MX_STATUS_SUCCESS) lone_failed("a request", mx_strstatus(status_.code));
    return done != 0;
  }

  std::vector<char> out_, in_;
  mx_segment_t out_segment_{out_.data(), static_cast<std::uint32_t>(out_.size())};
  mx_segment_t in_segment_{in_.data(), static_cast<std::uint32_t>(in_.size())};
  mx_endpoint_t endpoint_{};
  mx_endpoint_addr_t peer_{};
  mx_request_t receive_{}, send_{};
  mx_status_t status_{};
};

}  // namespace

void lone_mx(const LoneOptions& options) {
  must(mx_init(), "mx_init");
  {
    MxSide a(0, options.bytes), b(1, options.bytes);
    a.connect(b);
    b.connect(a);
    exchange(a, b, options.rounds);
  }
  mx_finalize();
}

}  // namespace omx::bench
