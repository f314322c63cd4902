// SPDX-License-Identifier: BSD-3-Clause
#include "pair.h"

namespace omx::runtime {

Bytes pattern(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; i++) bytes[i] = static_cast<std::byte>((i * 2654435761U + seed) >> 13);
  return bytes;
}

Settings PairTest::settings() {
  Settings s;
  s.interfaces = "v0,v1";
  s.hostname = "host";
  // Both ends are on this host, but only these runs use shared memory.
  s.intra_node.enabled = std::getenv("OMX_TEST_LOCAL") != nullptr;
  s.intra_node.rndv_threshold = 32768;  // a fixed value, because a sanitizer distorts the measurement
  s.waiting.progress = std::getenv("OMX_TEST_PROGRESS") ? ProgressMode::always : ProgressMode::off;
  s.discovery_ms = 200;
  if (by_udp()) s.link = *link_parse(std::getenv("OMX_LINK"));
  s.protocol.reliability.peer_timeout = 3000 * protocol::kMillisecond;
  s.endpoints_max = s.protocol.max_endpoints = 32;
  return s;
}

void PairTest::SetUp() {
  CableTest::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  process_ = process_create(settings());
  ASSERT_TRUE(process_);
  if (!opens_) return;
  a_ = open(*process_, "v0");
  b_ = open(*process_, "v1");
  ASSERT_TRUE(a_ && b_);
}

void PairTest::open_apart(const Settings& settings) {
  process_ = process_create(settings);
  other_ = process_create(settings);
  ASSERT_TRUE(process_ && other_);
  a_ = open(*process_, "v0");
  b_ = open(*other_, "v1");
  ASSERT_TRUE(a_ && b_);
}

std::unique_ptr<Process> PairTest::process_create(const Settings& s) {
  auto process = Process::create(s);
  EXPECT_TRUE(process.has_value()) << process.error().message;
  return process ? std::move(*process) : nullptr;
}

Endpoint* PairTest::open(Process& process, const std::string& interface, std::uint32_t id,
                         OpenOptions options) {
  for (const Board& board : process.boards()) {
    if (board.interface.name == interface) options.board = board.number;
  }
  options.endpoint = id;
  auto endpoint = process.open(options);
  EXPECT_TRUE(endpoint.has_value()) << endpoint.error().message;
  return endpoint.value_or(nullptr);
}

bool PairTest::others_wait() {
  int looks = 0;  // polls several times, because a thread may sleep for a lock in one of them
  return becomes_true([&] { return (looks = link::others_sleep() ? looks + 1 : 0) == 5; });
}

Completion PairTest::complete(Endpoint& endpoint, Request* request) {
  Completion completion;
  EXPECT_TRUE(drive_until([&] { return endpoint.test(request, completion) == WaitOutcome::done; }))
      << "not completed";
  return completion;
}

Address PairTest::connect(Endpoint& from, Endpoint& to) {
  const auto request = from.connect(to.board().interface.nic, to.id(), 0, 0, nullptr, false);
  EXPECT_TRUE(request.has_value());
  const Completion completion = complete(from, *request);
  EXPECT_EQ(completion.status, Status::success);
  EXPECT_EQ(completion.session, to.session());
  return from.address_of(completion.peer, completion.session, completion.conversation);
}

std::uint64_t PairTest::resent(Endpoint& endpoint) {
  const auto counters = endpoint.counters();
  return counters[protocol::Counter::resend_timeout] + counters[protocol::Counter::resend_tail] +
         counters[protocol::Counter::resend_sack];
}

Status PairTest::connect_status(Endpoint& from, NicId nic, std::uint8_t endpoint, std::uint32_t key) {
  const auto request = from.connect(nic, endpoint, key, 0, nullptr, false);
  EXPECT_TRUE(request.has_value());
  return complete(from, *request).status;
}

Request* PairTest::post(Endpoint& endpoint, Bytes& buffer, std::uint64_t match_info, std::uint64_t mask) {
  const protocol::Segment segment{buffer.data(), static_cast<std::uint32_t>(buffer.size())};
  protocol::ReceiveOp op;
  op.segments = {&segment, 1};
  op.match_info = match_info;
  op.match_mask = mask;
  op.context = buffer.data();
  const auto request = endpoint.receive(op);
  EXPECT_TRUE(request.has_value());
  return request.value_or(nullptr);
}

const Bytes& PairTest::keep(const Bytes& data) {
  const std::lock_guard guard(kept_mutex_);
  return kept_.emplace_back(data);
}

Request* PairTest::send(Endpoint& endpoint, const Address& to, const Bytes& data, std::uint64_t match_info,
                        bool forgotten) {
  const Bytes& sent = forgotten ? keep(data) : data;
  const protocol::Segment segment{const_cast<std::byte*>(sent.data()),
                                  static_cast<std::uint32_t>(sent.size())};
  protocol::SendOp op;
  op.segments = {&segment, 1};
  op.match_info = match_info;
  op.forgotten = forgotten;
  const auto request = endpoint.send(to, op);
  EXPECT_TRUE(request.has_value());
  return request.value_or(nullptr);
}

}  // namespace omx::runtime
