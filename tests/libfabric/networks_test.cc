// SPDX-License-Identifier: BSD-3-Clause
// A host with interfaces in several networks: v1 and v3 in one, v0 in another, v2 in none.
#include "networked.h"

namespace omx::fabric::test {
namespace {

using testing::ElementsAre;

class Networks : public NetworkedTest {
 protected:
  void network_make() override {
    ::unsetenv("OMX_INTERFACES");
    link::ip("link add v2 type veth peer name v3");
    for (const char* end : {"v2", "v3"}) link::ip(std::string("link set ") + end + " up");
    // The other end of a cable is made first, and interfaces come in the order in which they were made.
    link::ip("address add 10.77.0.1/24 dev v1");
    link::ip("address add 10.78.0.2/24 dev v0");
    link::ip("address add 10.77.0.3/24 dev v3");
  }
  static std::vector<std::string> offered(const Info& wanted, const char* node = nullptr,
                                          std::uint64_t flags = 0) {
    return domains(ask(node, nullptr, flags, wanted.get()));
  }
};

// MPI libraries ask so, and give the interfaces to the ranks of a host in turn.
TEST_F(Networks, no_choice__the_network_of_the_first) {
  const Info wanted = hints(FI_TAGGED);
  EXPECT_THAT(offered(wanted), ElementsAre("v1", "v3"));
  wanted->addr_format = FI_SOCKADDR_IN;
  EXPECT_THAT(offered(wanted), ElementsAre("v1", "v3"));
}

TEST_F(Networks, a_name_or_an_address__chooses) {
  for (const char* name : {"v0", "v1", "omx-all"}) {
    const Info wanted = hints(FI_TAGGED);
    wanted->domain_attr->name = ::strdup(name);
    EXPECT_THAT(offered(wanted), ElementsAre(name));
  }
  const Info wanted = hints(FI_TAGGED);
  EXPECT_THAT(offered(wanted, "10.78.0.2", FI_SOURCE), ElementsAre("v0"));
  EXPECT_THAT(offered(wanted, "v0", FI_SOURCE), ElementsAre("v0"));
  link::ip("neigh replace 10.78.0.9 lladdr 02:00:00:00:00:09 dev v0 nud permanent");
  EXPECT_THAT(offered(wanted, "10.78.0.9"), testing::Contains("v0"));
}

TEST_F(Networks, a_look__shows_all) {
  const Info wanted = hints();
  EXPECT_THAT(offered(wanted), ElementsAre("v1", "v0", "v3", "v2", "omx-all"));
  EXPECT_GT(ask(nullptr, nullptr, 0, nullptr).size(), 5U);
}

}  // namespace
}  // namespace omx::fabric::test
