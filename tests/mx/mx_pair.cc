// SPDX-License-Identifier: BSD-3-Clause
#include "mx_pair.h"

#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <mutex>

#include "link/ethernet/xdp_link.h"

namespace omx::mx_tests {

std::vector<HandledError> g_handled;

mx_return_t recording_handler(char* text, mx_return_t code) {
  g_handled.push_back({code, text});
  return code;
}

Bytes pattern(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; i++)
    bytes[i] = static_cast<unsigned char>((i * 2654435761U + seed) >> 13);
  return bytes;
}

Environment::~Environment() {
  for (const auto& [name, value] : previous_) {
    if (value)
      ::setenv(name.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name.c_str());
  }
}

void Environment::set(const std::string& name, const std::string& value) {
  const char* const before = ::getenv(name.c_str());
  previous_.try_emplace(name, before ? std::optional<std::string>(before) : std::nullopt);
  ::setenv(name.c_str(), value.c_str(), 1);
}

int in_child(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void CableOnly::SetUp() {
  CableTest::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  if (const char* const link = std::getenv("OMX_LINK"); link && std::string_view(link) == "xdp") {
    const auto trial = link::xdp_trial({.packets = {.interface = "v0"}});
    if (!trial) GTEST_SKIP() << trial.error().message;
  }
  environment_.set("OMX_INTERFACES", "v0,v1");
  environment_.set("OMX_HOSTNAME", "host");
  // Both ends are on this host, but only these runs use shared memory.
  environment_.set("OMX_LOCAL", std::getenv("OMX_TEST_LOCAL") ? "1" : "0");
  // The threshold is fixed, because a sanitizer distorts the measurement.
  environment_.set("OMX_LOCAL_RNDV_THRESHOLD", "32768");
  // A progress thread would call handlers, and do what a test expects not to happen. So only some runs have
  // one. With loss there must be a progress thread. A thread that waits at one end does not send again from
  // the other.
  const char* const progress = std::getenv("OMX_TEST_PROGRESS");
  environment_.set("OMX_PROGRESS", progress ? progress : "off");
  environment_.set("OMX_DISCOVERY_MS", "200");
  environment_.set("OMX_PEER_TIMEOUT_MS", "3000");
  environment_.set("OMX_CLOSE_LINGER_MS", "100");
  g_handled.clear();
  mx_set_error_handler(recording_handler);
}

namespace {
// Nothing reports when a forgotten send has read its data, so the data live as long as the endpoints.
struct Forgotten {
  std::mutex lock;
  std::deque<Bytes> data;
};
Forgotten g_forgotten;
}  // namespace

void CableOnly::TearDown() {
  mx_finalize();
  mx_set_error_handler(nullptr);
  g_forgotten.data.clear();
}

void Initialised::SetUp() {
  CableOnly::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  ASSERT_EQ(mx_init(), MX_SUCCESS);
}

mx_endpoint_t Initialised::open(std::uint32_t board, std::uint32_t id, std::vector<mx_param_t> params) {
  mx_endpoint_t endpoint = nullptr;
  EXPECT_EQ(
      mx_open_endpoint(board, id, kKey, params.data(), static_cast<std::uint32_t>(params.size()), &endpoint),
      MX_SUCCESS);
  return endpoint;
}

void Pair::SetUp() {
  Initialised::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  a_ = open(0);
  b_ = open(1);
  ASSERT_TRUE(a_ && b_);
  to_b_ = connect(a_, b_);
}

void Pair::drive_for(unsigned ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (std::chrono::steady_clock::now() < end) drive();
}

mx_status_t Pair::finish(mx_endpoint_t endpoint, mx_request_t request) {
  mx_status_t status{};
  std::uint32_t done = 0;
  EXPECT_TRUE(drive_until([&] { return mx_test(endpoint, &request, &status, &done) != MX_SUCCESS || done; }));
  EXPECT_EQ(done, 1U);
  EXPECT_TRUE(!done || !request);
  return status;
}

void Pair::finish_both(mx_endpoint_t e1, mx_request_t r1, mx_endpoint_t e2, mx_request_t r2) {
  EXPECT_EQ(finish(e1, r1).code, MX_STATUS_SUCCESS);
  EXPECT_EQ(finish(e2, r2).code, MX_STATUS_SUCCESS);
}

mx_endpoint_addr_t Pair::connect(mx_endpoint_t from, mx_endpoint_t to) {
  mx_request_t request = nullptr;
  EXPECT_EQ(mx_iconnect(from, nic(to), id(to), kKey, 0, nullptr, &request), MX_SUCCESS);
  const mx_status_t status = finish(from, request);
  EXPECT_EQ(status.code, MX_STATUS_SUCCESS);
  return status.source;
}

namespace {
mx_segment_t segment_of(const Bytes& bytes) {
  return {const_cast<unsigned char*>(bytes.data()), static_cast<std::uint32_t>(bytes.size())};
}
}  // namespace

mx_request_t Pair::post(mx_endpoint_t endpoint, Bytes& buffer, std::uint64_t info, std::uint64_t mask,
                        void* context) {
  mx_segment_t segment = segment_of(buffer);
  mx_request_t request = nullptr;
  EXPECT_EQ(mx_irecv(endpoint, &segment, 1, info, mask, context, &request), MX_SUCCESS);
  return request;
}

mx_request_t Pair::send(mx_endpoint_t endpoint, mx_endpoint_addr_t to, const Bytes& data, std::uint64_t info,
                        void* context) {
  mx_segment_t segment = segment_of(data);
  mx_request_t request = nullptr;
  EXPECT_EQ(mx_isend(endpoint, &segment, 1, to, info, context, &request), MX_SUCCESS);
  return request;
}

mx_request_t Pair::send_sync(mx_endpoint_t endpoint, mx_endpoint_addr_t to, const Bytes& data,
                             std::uint64_t info) {
  mx_segment_t segment = segment_of(data);
  mx_request_t request = nullptr;
  EXPECT_EQ(mx_issend(endpoint, &segment, 1, to, info, nullptr, &request), MX_SUCCESS);
  return request;
}

void Pair::send_forgotten(mx_endpoint_t endpoint, mx_endpoint_addr_t to, const Bytes& data,
                          std::uint64_t info) {
  const Bytes* kept = nullptr;
  {
    const std::lock_guard held(g_forgotten.lock);
    kept = &g_forgotten.data.emplace_back(data);
  }
  mx_segment_t segment = segment_of(*kept);
  EXPECT_EQ(mx_isend(endpoint, &segment, 1, to, info, nullptr, nullptr), MX_SUCCESS);
}

mx_endpoint_addr_t Pair::address(mx_endpoint_t endpoint) {
  mx_endpoint_addr_t own{};
  EXPECT_EQ(mx_get_endpoint_addr(endpoint, &own), MX_SUCCESS);
  return own;
}

std::uint64_t Pair::nic(mx_endpoint_t endpoint) {
  std::uint64_t value = 0;
  EXPECT_EQ(mx_decompose_endpoint_addr(address(endpoint), &value, nullptr), MX_SUCCESS);
  return value;
}

std::uint32_t Pair::id(mx_endpoint_t endpoint) {
  std::uint32_t value = 0;
  EXPECT_EQ(mx_decompose_endpoint_addr(address(endpoint), nullptr, &value), MX_SUCCESS);
  return value;
}

bool Pair::same(mx_endpoint_addr_t x, mx_endpoint_addr_t y) {
  std::uint64_t nics[2] = {};
  std::uint32_t ids[2] = {};
  mx_decompose_endpoint_addr(x, &nics[0], &ids[0]);
  mx_decompose_endpoint_addr(y, &nics[1], &ids[1]);
  return nics[0] == nics[1] && ids[0] == ids[1];
}

bool Pair::unexpected_waits(mx_endpoint_t endpoint) {
  drive();
  std::uint32_t found = 0;
  EXPECT_EQ(mx_iprobe(endpoint, 0, 0, nullptr, &found), MX_SUCCESS);
  return found;
}

}  // namespace omx::mx_tests
