// SPDX-License-Identifier: BSD-3-Clause
// Each offer can be asked for, because programs give an offer, or a part of it, back as their hints.
#include <cstring>

#include "networked.h"

namespace omx::fabric::test {
namespace {

struct Part {
  const char* name;
  // Moves the part from the offer into hints that are empty except for the provider.
  std::function<void(fi_info& offer, fi_info& hints)> take;
};

const std::vector<Part>& parts() {
  static const std::vector<Part> all = {
      {"caps", [](fi_info& o, fi_info& h) { h.caps = o.caps; }},
      {"mode", [](fi_info& o, fi_info& h) { h.mode = o.mode; }},
      {"addr_format", [](fi_info& o, fi_info& h) { h.addr_format = o.addr_format; }},
      {"src_addr",
       [](fi_info& o, fi_info& h) {
         h.addr_format = o.addr_format;
         std::swap(h.src_addr, o.src_addr);
         std::swap(h.src_addrlen, o.src_addrlen);
       }},
      {"dest_addr",
       [](fi_info& o, fi_info& h) {
         h.addr_format = o.addr_format;
         std::swap(h.dest_addr, o.dest_addr);
         std::swap(h.dest_addrlen, o.dest_addrlen);
       }},
      {"tx_attr", [](fi_info& o, fi_info& h) { std::swap(h.tx_attr, o.tx_attr); }},
      {"rx_attr", [](fi_info& o, fi_info& h) { std::swap(h.rx_attr, o.rx_attr); }},
      {"caps and both attributes",
       [](fi_info& o, fi_info& h) {
         h.caps = o.caps;
         std::swap(h.tx_attr, o.tx_attr);
         std::swap(h.rx_attr, o.rx_attr);
       }},
      {"ep_attr", [](fi_info& o, fi_info& h) { std::swap(h.ep_attr, o.ep_attr); }},
      {"domain_attr", [](fi_info& o, fi_info& h) { std::swap(h.domain_attr, o.domain_attr); }},
      {"fabric_attr", [](fi_info& o, fi_info& h) { std::swap(h.fabric_attr, o.fabric_attr); }},
      {"nic", [](fi_info& o, fi_info& h) { std::swap(h.nic, o.nic); }},
  };
  return all;
}

class OffersBack : public NetworkedTest {
 protected:
  // Returns the offer of the same domain; nullptr if it is refused.
  static Info same(const fi_info& offer, const fi_info* hints) {
    for (Info& answer : ask(nullptr, nullptr, 0, hints)) {
      if (std::strcmp(answer->domain_attr->name, offer.domain_attr->name) == 0) return std::move(answer);
    }
    return nullptr;
  }

  static void give_back(const std::vector<Info>& offers) {
    ASSERT_FALSE(offers.empty());
    for (const Info& offer : offers) {
      SCOPED_TRACE(fi_tostr(offer.get(), FI_TYPE_INFO));
      const Info again = same(*offer, offer.get());
      ASSERT_TRUE(again) << "in full";
      EXPECT_EQ(again->caps, offer->caps);
      EXPECT_EQ(again->addr_format, offer->addr_format);
      EXPECT_EQ(again->rx_attr->caps, offer->rx_attr->caps);
      EXPECT_EQ(again->tx_attr->caps, offer->tx_attr->caps);
      EXPECT_EQ(again->src_addrlen, offer->src_addrlen);
      for (const Part& part : parts()) {
        const Info source(fi_dupinfo(offer.get()));
        const Info wanted = hints();
        part.take(*source, *wanted);
        EXPECT_TRUE(same(*offer, wanted.get())) << part.name;
      }
    }
  }
};

TEST_F(OffersBack, without_hints) {
  const auto offers = ask(nullptr, nullptr, 0, nullptr);
  // Addresses of sockets stand behind those that programs take by default.
  ASSERT_GE(offers.size(), 4U);
  const auto of_sockets = [](const Info& offer) {
    // An interface has a link-local IPv6 address as well, once the kernel has checked it.
    return offer->addr_format == FI_SOCKADDR_IN || offer->addr_format == FI_SOCKADDR_IN6;
  };
  EXPECT_FALSE(of_sockets(offers.front()));
  EXPECT_TRUE(of_sockets(offers.back()));
  give_back(offers);
}

TEST_F(OffersBack, with_hints_for_each_capability) {
  for (const std::uint64_t caps :
       {FI_MSG, FI_TAGGED, FI_RMA, FI_ATOMIC, FI_MSG | FI_SEND, FI_TAGGED | FI_RECV, FI_MSG | FI_SOURCE,
        FI_MSG | FI_SOURCE | FI_SOURCE_ERR, FI_RMA | FI_READ, FI_MSG | FI_TAGGED | FI_DIRECTED_RECV,
        FI_RMA | FI_RMA_EVENT, FI_MSG | FI_MULTI_RECV}) {
    const Info wanted = hints(static_cast<std::uint64_t>(caps));
    give_back(ask(nullptr, nullptr, 0, wanted.get()));
  }
}

TEST_F(OffersBack, with_addresses_of_every_format) {
  for (const std::uint32_t format : {FI_FORMAT_UNSPEC, FI_SOCKADDR, FI_SOCKADDR_IN, FI_ADDR_STR}) {
    const Info wanted = hints();
    wanted->addr_format = format;
    give_back(ask("10.77.0.9", "9228", 0, wanted.get()));
    give_back(ask("v1", "9228", FI_SOURCE, wanted.get()));
  }
}

// A program does not get errors for messages from unknown peers unless it asks for them. The capabilities of
// an offer and of its parts agree.
TEST_F(OffersBack, capabilities__are_those_of_the_parts) {
  for (const Info& offer : ask(nullptr, nullptr, 0, nullptr)) {
    EXPECT_EQ(offer->rx_attr->caps & ~offer->caps, 0U);
    EXPECT_EQ(offer->tx_attr->caps & ~offer->caps, 0U);
    EXPECT_EQ(offer->caps & FI_SOURCE_ERR, 0U);
  }
  const Info wanted = hints();
  wanted->rx_attr->caps = FI_MSG | FI_SOURCE | FI_SOURCE_ERR;
  const Info offer = ask_one(nullptr, nullptr, 0, wanted.get());
  ASSERT_TRUE(offer);
  EXPECT_TRUE(offer->caps & FI_SOURCE_ERR);
}

}  // namespace
}  // namespace omx::fabric::test
