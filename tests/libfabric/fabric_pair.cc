// SPDX-License-Identifier: BSD-3-Clause
#include "fabric_pair.h"

#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/support/emulated.h"

namespace omx::fabric::test {

Bytes pattern(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; i++) bytes[i] = static_cast<std::byte>((i * 2654435761U + seed) >> 13);
  return bytes;
}

Info hints(std::uint64_t caps) {
  Info h(fi_allocinfo());
  h->caps = caps;
  h->fabric_attr->prov_name = ::strdup("omx");
  h->ep_attr->type = FI_EP_RDM;
  return h;
}

Info info_of(const std::string& board, const fi_info* wanted, std::uint32_t version) {
  fi_info* found = nullptr;
  if (fi_getinfo(version, nullptr, nullptr, 0, wanted, &found) != 0) return nullptr;
  const Info all(found);
  for (fi_info* i = found; i; i = i->next)
    if (std::string(i->fabric_attr->prov_name) == "omx" && board == i->domain_attr->name)
      return Info(fi_dupinfo(i));
  return nullptr;
}

void End::open(const std::string& board, const Options& options) {
  const Info wanted = hints(options.caps);
  wanted->tx_attr->size = options.tx_size;
  wanted->tx_attr->op_flags = options.op_flags;
  Info offered = info_of(board, wanted.get());
  ASSERT_TRUE(offered) << "the provider does not offer " << board;
  open(std::move(offered), options);
}

void End::open(Info offered, const Options& options) {
  info = std::move(offered);
  ASSERT_TRUE(info) << "nothing is offered";
  ASSERT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
  ASSERT_EQ(fi_domain(fabric, info.get(), &domain, nullptr), 0);
  fi_av_attr av_attr{};
  ASSERT_EQ(fi_av_open(domain, &av_attr, &av, nullptr), 0);
  fi_cq_attr cq_attr{};
  cq_attr.format = options.format;
  cq_attr.wait_obj = options.wait;
  ASSERT_EQ(fi_cq_open(domain, &cq_attr, &cq, nullptr), 0);
  ASSERT_EQ(fi_endpoint(domain, info.get(), &ep, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(ep, &av->fid, 0), 0);
  ASSERT_EQ(fi_ep_bind(ep, &cq->fid, options.bind), 0);
  if (options.enable) {
    ASSERT_EQ(fi_enable(ep), 0);
  }
}

void End::close() {
  for (fid* object : {reinterpret_cast<fid*>(ep), reinterpret_cast<fid*>(cq), reinterpret_cast<fid*>(av),
                      reinterpret_cast<fid*>(domain), reinterpret_cast<fid*>(fabric)}) {
    if (object) {
      EXPECT_EQ(fi_close(object), 0);
    }
  }
  ep = nullptr;
  cq = nullptr;
  av = nullptr;
  domain = nullptr;
  fabric = nullptr;
}

Bytes End::name() const {
  Bytes name(64);
  std::size_t length = name.size();
  EXPECT_EQ(fi_getname(&ep->fid, name.data(), &length), 0);
  name.resize(length);
  return name;
}

fi_addr_t End::learn(const End& other) const {
  return learn(other.name());
}

fi_addr_t End::learn(const Bytes& name) const {
  fi_addr_t number = FI_ADDR_NOTAVAIL;
  EXPECT_EQ(fi_av_insert(av, name.data(), 1, &number, 0, nullptr), 1);
  return number;
}

void FabricTest::SetUp() {
  OMX_SKIP_EMULATED("has no rings and filters of packet sockets");
  static const std::string why_not = [] {
    std::string reason;
    if (!link::network_enter(reason)) return reason;
    link::ip("link add v0 type veth peer name v1");
    for (const char* end : {"v0", "v1"}) link::ip(std::string("link set ") + end + " mtu 9000 up");
    ::setenv("OMX_INTERFACES", "v0,v1", 1);
    ::setenv("OMX_PEER_TIMEOUT_MS", "3000", 1);
    ::setenv("FI_OMX_CONNECT_TIMEOUT", "2000", 1);
    ::setenv("FI_LOG_LEVEL", "warn", 0);
    ::setenv("FI_LOG_SUBSYS", "ep_ctrl", 0);
    // Both ends are on this host, but only some runs use shared memory.
    ::setenv("OMX_LOCAL", std::getenv("OMX_TEST_LOCAL") ? "1" : "0", 1);
    ::setenv("OMX_LOCAL_RNDV_THRESHOLD", "32768", 1);
    return std::string();
  }();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
}

void FabricTest::TearDown() {
  // Messages of one end may wait for the other.
  std::thread other([this] { a.close(); });
  b.close();
  other.join();
}

void FabricTest::open(const End::Options& options) {
  a.open("v0", options);
  b.open("v1", options);
  if (!options.enable || HasFatalFailure()) return;
  a_to_b = a.learn(b);
  b_to_a = b.learn(a);
}

void FabricTest::move(End& end) {
  if ((&end == &a && !a_moves) || !end.cq) return;
  Event event;
  const ssize_t got = fi_cq_readfrom(end.cq, &event.good, 1, &event.source);
  if (got == -FI_EAGAIN || got == 0) return;
  if (got == -FI_EAVAIL) {
    event.failed = true;
    EXPECT_EQ(fi_cq_readerr(end.cq, &event.error, 0), 1);
  } else {
    ASSERT_EQ(got, 1);
  }
  kept_.emplace_back(&end, event);
}

bool FabricTest::drive_until(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    move(a);
    move(b);
    if (std::chrono::steady_clock::now() > limit) return false;
  }
  return true;
}

Event FabricTest::next(End& end) {
  Event event;
  const bool found = drive_until([&] {
    for (auto i = kept_.begin(); i != kept_.end(); ++i) {
      if (i->first != &end) continue;
      event = i->second;
      kept_.erase(i);
      return true;
    }
    return false;
  });
  EXPECT_TRUE(found) << "nothing came";
  return event;
}

Event FabricTest::ended(End& end, void* context) {
  Event event;
  const bool found = drive_until([&] {
    for (auto i = kept_.begin(); i != kept_.end(); ++i) {
      const Event& e = i->second;
      if (i->first != &end || (e.failed ? e.error.op_context : e.good.op_context) != context) continue;
      event = e;
      kept_.erase(i);
      return true;
    }
    return false;
  });
  EXPECT_TRUE(found) << "the operation did not end";
  return event;
}

bool FabricTest::quiet(End& end) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < limit) {
    move(a);
    move(b);
  }
  for (const auto& [who, event] : kept_)
    if (who == &end) return false;
  return true;
}

void FabricTest::send(End& from, fi_addr_t to, Bytes memory, std::uint64_t tag, void* context) {
  const Bytes& data = sent_.emplace_back(std::move(memory));
  ssize_t result = -FI_EAGAIN;
  drive_until([&] {
    result = fi_tsend(from.ep, data.data(), data.size(), nullptr, to, tag, context);
    return result != -FI_EAGAIN;
  });
  EXPECT_EQ(result, 0);
}

void FabricTest::receive(End& at, Bytes& memory, std::uint64_t tag, std::uint64_t ignore, void* context,
                         fi_addr_t from) {
  EXPECT_EQ(fi_trecv(at.ep, memory.data(), memory.size(), nullptr, from, tag, ignore, context), 0);
}

void FabricTest::meet() {
  Bytes in(8);
  int received = 0, sent = 0;
  receive(b, in, 1, 0, &received);
  send(a, a_to_b, pattern(8, 1), 1, &sent);
  EXPECT_FALSE(ended(b, &received).failed);
  EXPECT_FALSE(ended(a, &sent).failed);
}

}  // namespace omx::fabric::test
