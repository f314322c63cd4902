// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a cable as two interfaces with IP addresses: v0 has 10.77.0.1, v1 has 10.77.0.2. The host
// is called "alpha". With OMX_LINK=udp in the environment messages go by UDP.
#pragma once

#include "fabric_pair.h"

namespace omx::fabric::test {

inline bool by_udp() {
  const char* const link = std::getenv("OMX_LINK");
  return link && std::string(link).starts_with("udp");
}

class NetworkedTest : public FabricTest {
 protected:
  void SetUp() override {
    FabricTest::SetUp();
    if (IsSkipped()) return;
    static bool ready = false;
    if (ready) return;
    ready = true;
    link::ip("link set lo up");
    network_make();
    ::setenv("OMX_HOSTNAME", "alpha", 1);
    ::setenv("OMX_DISCOVERY_MS", "100", 1);
  }

  virtual void network_make() {
    link::ip("address add 10.77.0.1/24 dev v0");
    link::ip("address add 10.77.0.2/24 dev v1");
    link::ip("neigh add 10.77.0.9 lladdr 02:00:00:00:00:09 dev v1 nud permanent");
  }

  // Returns the offers in order. Empty: there are none.
  static std::vector<Info> ask(const char* node, const char* service, std::uint64_t flags,
                               const fi_info* hints) {
    fi_info* found = nullptr;
    std::vector<Info> all;
    if (fi_getinfo(FI_VERSION(1, 17), node, service, flags, hints, &found) != 0) return all;
    const Info owner(found);
    for (const fi_info* i = found; i; i = i->next) {
      if (std::string(i->fabric_attr->prov_name) == "omx") all.emplace_back(fi_dupinfo(i));
    }
    return all;
  }
  // Returns the first of the offers. nullptr: there are none.
  static Info ask_one(const char* node, const char* service, std::uint64_t flags, const fi_info* hints) {
    auto offers = ask(node, service, flags, hints);
    return offers.empty() ? Info() : std::move(offers.front());
  }
  static std::vector<std::string> domains(const std::vector<Info>& offers) {
    std::vector<std::string> names;
    names.reserve(offers.size());
    for (const Info& offer : offers) names.emplace_back(offer->domain_attr->name);
    return names;
  }
};

}  // namespace omx::fabric::test
