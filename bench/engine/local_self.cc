// SPDX-License-Identifier: BSD-3-Clause
// omx_local_self: measures messages of an endpoint to itself, with posted receives, and memcpy of the same
// buffers. Prints one JSON object for each size, in microseconds.
#include <fmt/format.h>
#include <myriexpress.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kKey = 1;
constexpr int kIterations = 300;

void must(mx_return_t code, const char* what) {
  if (code == MX_SUCCESS) return;
  fmt::print(stderr, "omx_local_self: {}: {}\n", what, mx_strerror(code));
  std::exit(1);
}

class Self {
 public:
  Self() {
    must(mx_init(), "mx_init");
    must(mx_open_endpoint(MX_ANY_NIC, MX_ANY_ENDPOINT, kKey, nullptr, 0, &endpoint_), "mx_open_endpoint");
    must(mx_get_endpoint_addr(endpoint_, &own_), "mx_get_endpoint_addr");
  }
  ~Self() {
    mx_close_endpoint(endpoint_);
    mx_finalize();
  }
  void message(std::vector<char>& from, std::vector<char>& to) {
    mx_segment_t in = {to.data(), static_cast<std::uint32_t>(to.size())};
    mx_segment_t out = {from.data(), static_cast<std::uint32_t>(from.size())};
    mx_request_t receive, send;
    must(mx_irecv(endpoint_, &in, 1, 1, MX_MATCH_MASK_NONE, nullptr, &receive), "mx_irecv");
    must(mx_isend(endpoint_, &out, 1, own_, 1, nullptr, &send), "mx_isend");
    finish(send);
    finish(receive);
  }

 private:
  void finish(mx_request_t& request) {
    mx_status_t status;
    std::uint32_t done = 0;
    while (!done) must(mx_test(endpoint_, &request, &status, &done), "mx_test");
    must(status.code == MX_STATUS_SUCCESS ? MX_SUCCESS : MX_FAILURE, "a message");
  }
  mx_endpoint_t endpoint_;
  mx_endpoint_addr_t own_;
};

template <class Action>
double median_us(Action action) {
  std::vector<double> samples;
  for (int i = -kIterations / 10; i < kIterations; i++) {
    const Clock::time_point before = Clock::now();
    action();
    const std::chrono::duration<double, std::micro> took = Clock::now() - before;
    if (i >= 0) samples.push_back(took.count());
  }
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

}  // namespace

int main() {
  Self self;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20, std::size_t{4} << 20}) {
    std::vector<char> from(size, 'a'), to(size, 'b');
    const double message = median_us([&] { self.message(from, to); });
    const double copy = median_us([&] {
      if (size > 0) std::memcpy(to.data(), from.data(), size);
      asm volatile("" : : "r"(to.data()) : "memory");
    });
    fmt::print("{{\"size\":{},\"self_us\":{:.3f},\"memcpy_us\":{:.3f}}}\n", size, message, copy);
  }
  return 0;
}
