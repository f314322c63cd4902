// SPDX-License-Identifier: BSD-3-Clause
// Each refusal gives its reason in libfabric's log, which the environment of this test switches on.
#include <array>

#include "networked.h"

namespace omx::fabric::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Refusals : public NetworkedTest {
 protected:
  // Returns the log's lines of this provider while `call` runs.
  static std::string told(const std::function<void()>& call) {
    testing::internal::CaptureStderr();
    call();
    std::string lines;
    std::istringstream all(testing::internal::GetCapturedStderr());
    for (std::string line; std::getline(all, line);) {
      if (line.find(":omx:") != std::string::npos) lines += line + '\n';
    }
    return lines;
  }
  static int status_of(const std::function<int()>& call, std::string& lines) {
    int status = 0;
    lines = told([&] { status = call(); });
    return status;
  }
};

TEST_F(Refusals, hints__name_the_attribute) {
  using Wish = std::pair<const char*, std::function<void(fi_info&)>>;
  const std::vector<Wish> wishes = {
      {"caps", [](fi_info& i) { i.caps = FI_MULTICAST; }},
      {"addr_format", [](fi_info& i) { i.addr_format = FI_SOCKADDR_IN6; }},
      {"addr_format", [](fi_info& i) { i.addr_format = FI_ADDR_GNI; }},
      {"src_addr", [](fi_info& i) { i.src_addr = ::calloc(1, 64), i.src_addrlen = 64; }},
      {"dest_addr", [](fi_info& i) { i.dest_addr = ::calloc(1, 64), i.dest_addrlen = 64; }},
      {"ep_attr->type", [](fi_info& i) { i.ep_attr->type = FI_EP_DGRAM; }},
      {"ep_attr->protocol", [](fi_info& i) { i.ep_attr->protocol = FI_PROTO_RXM; }},
      {"ep_attr->max_msg_size", [](fi_info& i) { i.ep_attr->max_msg_size = std::size_t{1} << 33; }},
      {"ep_attr->tx_ctx_cnt", [](fi_info& i) { i.ep_attr->tx_ctx_cnt = 2; }},
      {"tx_attr->inject_size", [](fi_info& i) { i.tx_attr->inject_size = 4097; }},
      {"tx_attr->msg_order", [](fi_info& i) { i.tx_attr->msg_order = FI_ORDER_SAW; }},
      {"tx_attr->caps", [](fi_info& i) { i.tx_attr->caps = FI_HMEM; }},
      {"rx_attr->caps", [](fi_info& i) { i.rx_attr->caps = FI_HMEM; }},
      {"rx_attr->comp_order", [](fi_info& i) { i.rx_attr->comp_order = FI_ORDER_SAS; }},
      {"domain_attr->name", [](fi_info& i) { i.domain_attr->name = ::strdup("eth7"); }},
      {"domain_attr->cq_data_size", [](fi_info& i) { i.domain_attr->cq_data_size = 9; }},
      {"fabric_attr->name", [](fi_info& i) { i.fabric_attr->name = ::strdup("another"); }},
  };
  for (const auto& [attribute, wish] : wishes) {
    const Info wanted = hints();
    wish(*wanted);
    std::vector<Info> offers;
    const std::string lines = told([&] { offers = ask(nullptr, nullptr, 0, wanted.get()); });
    EXPECT_TRUE(offers.empty()) << attribute;
    EXPECT_THAT(lines, HasSubstr(attribute));
  }
}

TEST_F(Refusals, names__are_repeated_with_the_reason) {
  const Info wanted = hints();
  const auto lines_of = [&](const char* node, const char* service, std::uint64_t flags) {
    return told([&] { EXPECT_TRUE(ask(node, service, flags, wanted.get()).empty()) << node; });
  };
  EXPECT_THAT(lines_of("10.77.0.9", nullptr, FI_SOURCE), HasSubstr("10.77.0.9 is no interface of this host"));
  EXPECT_THAT(lines_of("10.77.0.2", "70000", 0), HasSubstr("service 70000"));
  EXPECT_THAT(lines_of("02:00", nullptr, 0), HasSubstr("02:00"));
  if (by_udp()) return;
  EXPECT_THAT(lines_of("10.77.0.77", "1", 0), HasSubstr("no host answered"));
  EXPECT_THAT(lines_of("10.99.0.1", "1", 0), HasSubstr("10.99.0.1\" is in no network"));
}

TEST_F(Refusals, endpoint_that_is_taken__another_port_would_do) {
  const Info wanted = hints();
  b.open(ask_one("v1", "9228", FI_SOURCE, wanted.get()), {});
  End::Options options;
  options.enable = false;
  a.open(ask_one("v1", "9228", FI_SOURCE, wanted.get()), options);
  std::string lines;
  EXPECT_EQ(status_of([&] { return fi_enable(a.ep); }, lines), -FI_EADDRINUSE);
  EXPECT_THAT(lines, AllOf(HasSubstr("endpoint 140"), HasSubstr("another port")));
}

TEST_F(Refusals, objects__say_what_they_lack) {
  End::Options options;
  options.enable = false;
  a.open("v0", options);
  b.open("v1", options);
  std::array<char, 64> memory{};
  fid_ep* endpoint = nullptr;
  fid_av* vector = nullptr;
  fid_cq* queue = nullptr;
  fid_domain* domain = nullptr;
  fid_mr *region = nullptr, *second = nullptr;
  const Info unbound(fi_dupinfo(a.info.get())), elsewhere(fi_dupinfo(a.info.get()));
  ::free(elsewhere->domain_attr->name);
  elsewhere->domain_attr->name = ::strdup("eth7");
  ASSERT_EQ(fi_endpoint(a.domain, unbound.get(), &endpoint, nullptr), 0);
  ASSERT_EQ(fi_mr_reg(a.domain, memory.data(), 8, FI_REMOTE_READ, 0, 5, 0, &region, nullptr), 0);
  fi_av_attr shared{}, reading{};
  shared.name = "vector";
  reading.flags = FI_PEER;
  fi_cq_attr sets{};
  sets.wait_obj = FI_WAIT_SET;
  struct Case {
    int error;
    const char* text;
    std::function<int()> call;
  };
  const std::vector<Case> cases = {
      {FI_ENOAV, "address vector", [&] { return fi_enable(endpoint); }},
      {FI_EINVAL, "another domain", [&] { return fi_ep_bind(endpoint, &b.av->fid, 0); }},
      {0, "", [&] { return fi_ep_bind(endpoint, &a.av->fid, 0); }},
      {FI_ENOCQ, "FI_TRANSMIT", [&] { return fi_enable(endpoint); }},
      {FI_EBADFLAGS, "flag", [&] { return fi_ep_bind(endpoint, &a.cq->fid, FI_TRANSMIT | FI_MORE); }},
      {0, "", [&] { return fi_ep_bind(endpoint, &a.cq->fid, FI_TRANSMIT); }},
      {FI_ENOCQ, "FI_RECV", [&] { return fi_enable(endpoint); }},
      {FI_EINVAL, "bound there already", [&] { return fi_ep_bind(endpoint, &a.cq->fid, FI_TRANSMIT); }},
      {FI_ENODEV, "eth7", [&] { return fi_domain(a.fabric, elsewhere.get(), &domain, nullptr); }},
      {FI_ENOSYS, "by name", [&] { return fi_av_open(a.domain, &shared, &vector, nullptr); }},
      {FI_EBADFLAGS, "fi_av_open", [&] { return fi_av_open(a.domain, &reading, &vector, nullptr); }},
      {FI_ENOSYS, "FI_WAIT_FD", [&] { return fi_cq_open(a.domain, &sets, &queue, nullptr); }},
      {FI_ENOKEY, "key 0x5",
       [&] { return fi_mr_reg(a.domain, memory.data(), 8, FI_REMOTE_READ, 0, 5, 0, &second, nullptr); }},
      {0, "address 0 not inserted",
       [&] { return fi_av_insert(a.av, memory.data(), 1, nullptr, 0, nullptr); }},
      {FI_EINVAL, "fi_av_insertsvc",
       [&] { return fi_av_insertsvc(a.av, "v1", "no-such-service", nullptr, 0, nullptr); }},
  };
  for (std::size_t i = 0; i < cases.size(); i++) {
    std::string lines;
    EXPECT_EQ(status_of(cases[i].call, lines), -cases[i].error) << "case " << i;
    EXPECT_THAT(lines, HasSubstr(cases[i].text)) << "case " << i;
  }
  EXPECT_EQ(fi_close(&region->fid), 0);
  EXPECT_EQ(fi_close(&endpoint->fid), 0);
}

}  // namespace
}  // namespace omx::fabric::test
