// SPDX-License-Identifier: BSD-3-Clause
// What the provider says on stderr when it offers nothing, and to which callers. Each case has its own
// process, because a process prints each reason once and reads settings once.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "fabric_pair.h"
#include "libfabric/plug_in.h"

namespace omx::fabric::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSentence = "libfabric provider omx: ";
constexpr std::uint64_t kCoreOnly = 1ULL << 59;  // the flag by which utility providers ask

using Variables = std::map<std::string, std::string>;

// Hints of a program that does not name the provider.
Info plain(std::uint64_t caps) {
  Info h(fi_allocinfo());
  h->caps = caps;
  h->ep_attr->type = FI_EP_RDM;
  return h;
}

int ask(const fi_info* wanted, std::uint64_t flags = 0, const char* node = nullptr) {
  fi_info* found = nullptr;
  const int status = fi_getinfo(FI_VERSION(1, 17), node, nullptr, flags, wanted, &found);
  bool ours = false;
  for (fi_info* i = found; i; i = i->next) ours = ours || std::strcmp(i->fabric_attr->prov_name, "omx") == 0;
  if (found) fi_freeinfo(found);
  return status == 0 && !ours ? -FI_ENODATA : status;
}

// Returns the provider without libfabric in between.
fi_provider* provider() {
  const std::string path = std::string(std::getenv("FI_PROVIDER_PATH")) + "/libomx-fi.so";
  void* const file = ::dlopen(path.c_str(), RTLD_NOW);
  auto* const begin = file ? reinterpret_cast<fi_provider* (*)()>(::dlsym(file, "fi_prov_ini")) : nullptr;
  return begin ? begin() : nullptr;
}

class Declines : public FabricTest {
 protected:
  // Returns what `body` prints on stderr, in a process with these variables, and with or without the right to
  // send frames. `body` returns whether the answer that it got is right.
  static std::string said(const Variables& variables, const std::function<bool()>& body) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      std::vector<std::string> ours = {"FI_LOG_LEVEL", "FI_LOG_SUBSYS"};
      for (char** entry = environ; *entry; entry++) {
        const std::string_view text = *entry;
        if (text.starts_with("OMX_") || text.starts_with("FI_OMX_"))
          ours.emplace_back(text.substr(0, text.find('=')));
      }
      for (const std::string& name : ours) ::unsetenv(name.c_str());
      for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
      ::_exit(body() ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[512];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "another answer was expected; said: " << text;
    return text;
  }
  static std::size_t sentences(const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(kSentence, at)) != std::string::npos; at++) count++;
    return count;
  }
  // Returns what a program prints that asks twice for features that we have, and gets nothing.
  static std::string refused(const Variables& variables) {
    return said(variables, [] {
      const Info wanted = plain(FI_TAGGED);
      return ask(wanted.get()) == -FI_ENODATA && ask(wanted.get()) == -FI_ENODATA;
    });
  }
};

TEST_F(Declines, wrong_interface) {
  const std::string text = refused({{"FI_OMX_IFACE", "nosuch"}});
  EXPECT_EQ(sentences(text), 1U) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("nosuch"), HasSubstr("FI_OMX_IFACE")));
}

TEST_F(Declines, malformed_values) {
  for (const auto& [name, value] :
       Variables{{"OMX_SPIN_US", "soon"}, {"FI_OMX_TX_SIZE", "0"}, {"FI_OMX_LINK", "wlan"}}) {
    const std::string text = refused({{name, value}});
    EXPECT_EQ(sentences(text), 1U) << text;
    EXPECT_THAT(text, AllOf(HasSubstr(name), HasSubstr(value)));
  }
}

TEST_F(Declines, native_frames) {
  const std::string text = refused({{"OMX_WIRE_MODE", "mxoe"}});
  EXPECT_EQ(sentences(text), 1U) << text;
  EXPECT_THAT(text, HasSubstr("OMX_WIRE_MODE=mxoe"));
}

TEST_F(Declines, no_right_to_send_frames) {
  const std::string text = said({{"OMX_LINK", "ethernet"}}, [] {
    const Info wanted = plain(FI_TAGGED);
    return ::seteuid(65534) == 0 && ask(wanted.get()) == -FI_ENODATA;
  });
  EXPECT_EQ(sentences(text), 1U) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("CAP_NET_RAW"), HasSubstr("OMX_LINK=udp")));
}

TEST_F(Declines, no_interface_is_up) {
  const std::string text = said({{"OMX_INTERFACES", "v0"}}, [] {
    const Info wanted = plain(FI_TAGGED);
    return std::system("ip link set v0 down") == 0 && ask(wanted.get()) == -FI_ENODATA &&
           std::system("ip link set v0 up") == 0;
  });
  EXPECT_EQ(sentences(text), 1U) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("v0"), HasSubstr("ip link set")));
}

// libfabric offers its own newest interface only. A newer libfabric would let this through.
TEST_F(Declines, a_version_that_we_do_not_know) {
  const std::string text = said({{"FI_PROVIDER", "omx"}}, [] {
    fi_info* found = nullptr;
    fi_provider* const us = provider();
    return us && us->fi_version >= fi_version() &&
           us->getinfo(FI_VERSION(FI_MAJOR_VERSION, 99), nullptr, nullptr, 0, nullptr, &found) == -FI_ENODATA;
  });
  EXPECT_EQ(sentences(text), 1U) << text;
  EXPECT_THAT(text, AllOf(HasSubstr(fmt::format("{}.99", FI_MAJOR_VERSION)),
                          HasSubstr(fmt::format("{}.{}", FI_MAJOR_VERSION, FI_MINOR_VERSION))));
}

TEST_F(Declines, hints_that_cannot_be_met__the_attribute_is_named) {
  const std::string text = said({{"FI_PROVIDER", "omx"}}, [] {
    const Info wanted = plain(FI_TAGGED);
    wanted->tx_attr->inject_size = 1 << 20;
    return ask(wanted.get()) == -FI_ENODATA && ask(wanted.get()) == -FI_ENODATA;
  });
  EXPECT_EQ(sentences(text), 1U) << text;
  EXPECT_THAT(text, HasSubstr("tx_attr->inject_size"));
}

// Open MPI 5 tries that first on every host.
TEST_F(Declines, hints_with_memory_of_accelerators__are_a_try) {
  EXPECT_EQ(
      said({{"FI_PROVIDER", "omx"}}, [] { return ask(plain(FI_TAGGED | FI_HMEM).get()) == -FI_ENODATA; }),
      "");
  EXPECT_THAT(said({{"FI_PROVIDER", "omx"}, {"FI_LOG_LEVEL", "info"}},
                   [] { return ask(plain(FI_TAGGED | FI_HMEM).get()) == -FI_ENODATA; }),
              HasSubstr("FI_HMEM"));
}

// The reason is about the interface that was asked for, not about the others.
TEST_F(Declines, hints_that_cannot_be_met__of_one_interface) {
  const std::string text = said({}, [] {
    const Info wanted = hints(FI_TAGGED);
    wanted->domain_attr->name = ::strdup("v1");
    wanted->rx_attr->total_buffered_recv = 1;
    return ask(wanted.get()) == -FI_ENODATA;
  });
  EXPECT_THAT(text, HasSubstr("rx_attr->total_buffered_recv"));
  EXPECT_THAT(said({},
                   [] {
                     const Info wanted = hints(FI_TAGGED);
                     wanted->domain_attr->name = ::strdup("eth7");
                     return ask(wanted.get()) == -FI_ENODATA;
                   }),
              HasSubstr("domain_attr->name"));
}

TEST_F(Declines, hints_that_cannot_be_met__are_tries_of_a_program_that_was_served) {
  EXPECT_EQ(said({{"FI_PROVIDER", "omx"}},
                 [] {
                   const Info wanted = plain(FI_TAGGED);
                   const bool served = ask(wanted.get()) == 0;
                   wanted->tx_attr->inject_size = 1 << 20;
                   return served && ask(wanted.get()) == -FI_ENODATA;
                 }),
            "");
}

TEST_F(Declines, nodes_that_are_not_known) {
  const std::string text = said({{"FI_PROVIDER", "omx"}, {"OMX_DISCOVERY_MS", "1"}}, [] {
    const Info wanted = plain(FI_TAGGED);
    return ask(wanted.get(), FI_SOURCE, "nosuch") == -FI_ENODATA &&
           ask(wanted.get(), 0, "nobody:0") == -FI_ENODATA;
  });
  EXPECT_EQ(sentences(text), 2U) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("nosuch"), HasSubstr("nobody")));
}

TEST_F(Declines, libfabrics_log_names_each_reason) {
  const auto with_log = [](const std::function<void(fi_info&)>& wish) {
    return said({{"FI_LOG_LEVEL", "info"}, {"FI_LOG_PROV", "omx"}}, [&] {
      const Info wanted = plain(FI_TAGGED);
      wish(*wanted);
      return ask(wanted.get()) == -FI_ENODATA;
    });
  };
  EXPECT_THAT(with_log([](fi_info& i) { i.ep_attr->type = FI_EP_DGRAM; }), HasSubstr("ep_attr->type"));
  EXPECT_THAT(with_log([](fi_info& i) { i.addr_format = FI_SOCKADDR_IN; }), HasSubstr("addr_format"));
  EXPECT_THAT(with_log([](fi_info& i) {
                i.src_addr = std::calloc(1, 16);
                i.src_addrlen = 16;
              }),
              HasSubstr("src_addr"));
  const std::string said_once = with_log([](fi_info& i) { i.domain_attr->cq_data_size = 9; });
  EXPECT_THAT(said_once, HasSubstr("domain_attr->cq_data_size"));
  EXPECT_EQ(sentences(said_once), 0U) << "the log has it already";
}

// Each of these callers would learn that this setting is wrong.
const Variables kWrong = {{"FI_OMX_IFACE", "nosuch"}};

TEST_F(Declines, nobody_is_told_who_looks_around) {
  EXPECT_EQ(said(kWrong, [] { return ask(nullptr) == -FI_ENODATA; }), "");
  EXPECT_EQ(said(kWrong, [] { return ask(plain(0).get()) == -FI_ENODATA; }), "");
  EXPECT_EQ(said(kWrong, [] { return ask(plain(FI_MULTICAST).get()) == -FI_ENODATA; }), "");
  EXPECT_EQ(said(kWrong, [] { return ask(plain(FI_TAGGED | FI_HMEM).get()) == -FI_ENODATA; }), "");
  EXPECT_EQ(said(kWrong,
                 [] {
                   const Info wanted = plain(FI_TAGGED);
                   wanted->fabric_attr->prov_name = ::strdup("efa");
                   return ask(wanted.get()) == -FI_ENODATA;
                 }),
            "");
}

TEST_F(Declines, utility_providers_are_not_told) {
  EXPECT_EQ(said({{"FI_PROVIDER", "omx"}, {"FI_OMX_IFACE", "nosuch"}},
                 [] {
                   fi_info* found = nullptr;
                   fi_provider* const us = provider();
                   const Info wanted = plain(FI_TAGGED);
                   for (const fi_ep_type type : {FI_EP_RDM, FI_EP_MSG, FI_EP_DGRAM}) {
                     wanted->ep_attr->type = type;
                     if (us->getinfo(FI_VERSION(1, 17), nullptr, nullptr, kCoreOnly, wanted.get(), &found) !=
                         -FI_ENODATA)
                       return false;
                   }
                   return true;
                 }),
            "");
}

// The folder is libfabric's and holds other providers too, and none of our settings is set. So only a name
// means us.
class DeclinesAmongOthers : public Declines {
 protected:
  void SetUp() override {
    Declines::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    std::string name = (std::filesystem::temp_directory_path() / "omx-decline-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::filesystem::copy(std::string(std::getenv("FI_PROVIDER_PATH")) + "/libomx-fi.so", folder_);
    std::ofstream(folder_ / "libother-fi.so") << "not one that can be loaded";
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    Declines::TearDown();
  }
  // Returns what said() returns on a host without any interface.
  std::string without_interface(Variables variables, const std::function<bool()>& body) {
    variables["FI_PROVIDER_PATH"] = folder_.string();
    return said(variables, [&] { return ::unshare(CLONE_NEWNET) == 0 && body(); });
  }
  static bool tagged_refused() { return ask(plain(FI_TAGGED).get()) == -FI_ENODATA; }
  static bool list_refused() { return ask(nullptr) == -FI_ENODATA; }

  std::filesystem::path folder_;
};

TEST_F(DeclinesAmongOthers, without_a_sign_nobody_is_told) {
  EXPECT_EQ(without_interface({}, tagged_refused), "");
}

TEST_F(DeclinesAmongOthers, open_mpi_names_it_in_the_environment_of_ranks) {
  for (const char* variable : {"OMPI_MCA_mtl_ofi_provider_include", "OMPI_MCA_btl_ofi_provider_include"}) {
    const std::string text = without_interface({{variable, "tcp,OMX"}}, tagged_refused);
    EXPECT_EQ(sentences(text), 1U) << text;
    EXPECT_THAT(text, HasSubstr("no usable Ethernet interface"));
    EXPECT_EQ(without_interface({{variable, "omx"}}, list_refused), "") << "a list in a rank's environment";
    EXPECT_EQ(without_interface({{variable, "tcp"}}, tagged_refused), "");
  }
}

// MPICH first asks without hints.
TEST_F(DeclinesAmongOthers, fi_provider_names_it) {
  EXPECT_EQ(sentences(without_interface({{"FI_PROVIDER", "tcp,omx"}}, list_refused)), 1U);
  EXPECT_EQ(without_interface({{"FI_PROVIDER", "^omx"}}, tagged_refused), "");
}

TEST_F(DeclinesAmongOthers, the_hints_name_it) {
  EXPECT_EQ(sentences(without_interface({}, [] { return ask(hints().get()) == -FI_ENODATA; })), 1U);
}

TEST_F(DeclinesAmongOthers, a_setting_means_it) {
  EXPECT_EQ(sentences(without_interface({{"OMX_SPIN_US", "7"}}, tagged_refused)), 1U);
  EXPECT_EQ(sentences(without_interface({{"FI_OMX_TX_SIZE", "7"}}, tagged_refused)), 1U);
  EXPECT_EQ(without_interface({{"OMX_SPIN_US", "7"}}, list_refused), "");
}

TEST_F(DeclinesAmongOthers, a_folder_of_its_own_means_it) {
  std::filesystem::remove(folder_ / "libother-fi.so");
  EXPECT_EQ(sentences(without_interface({}, tagged_refused)), 1U);
}

}  // namespace
}  // namespace omx::fabric::test
