// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "tools/cluster/job.h"

namespace omx::tools {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(host_list, counts_ranges) {
  EXPECT_THAT(*host_list("h1,h2"), ElementsAre("h1", "h2"));
  EXPECT_THAT(*host_list("n[08-10,12]x,m"), ElementsAre("n08x", "n09x", "n10x", "n12x", "m"));
}

TEST(host_list, refuses_with_a_sentence) {
  const std::pair<const char*, const char*> cases[] = {{"h1", "fewer than two"},
                                                       {"h1,h2,h1", "\"h1\" is given twice"},
                                                       {"-oProxyCommand=x,h2", "not the name"},
                                                       {"h1,a b", "not the name"},
                                                       {"h[1-", "open bracket"},
                                                       {"h[2-1],x", "range"},
                                                       {"h[a],x", "range"},
                                                       {"h[1-99999],x", "range"},
                                                       {"h[4294967295],x", "range"},
                                                       {"h[1-4096],x", "more than 4096"},
                                                       {"/nowhere/hosts", "No such file"},
                                                       {"h[1-2],h$(x)", "not the name"}};
  for (const auto& [text, why] : cases) {
    const auto hosts = host_list(text);
    ASSERT_FALSE(hosts) << text;
    EXPECT_THAT(hosts.error().message, HasSubstr(why));
  }
}

TEST(host_list, refuses_a_name_that_no_host_can_have) {
  const auto hosts = host_list("h[" + std::string(300, '0') + "1-2],x");
  ASSERT_FALSE(hosts);
  EXPECT_THAT(hosts.error().message, HasSubstr("not the name"));
}

TEST(host_list, reads_the_files_of_mpi) {
  std::string path = (std::filesystem::temp_directory_path() / "omx-hosts-XXXXXX").string();
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  ::close(fd);
  std::ofstream(path) << "# our hosts\nh1 slots=4\n\nh2:8   # old\nh[3-4]\nfd4f::5\n";
  const auto hosts = host_list(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(hosts) << hosts.error().message;
  EXPECT_THAT(*hosts, ElementsAre("h1", "h2", "h3", "h4", "fd4f::5"));
}

TEST(launch_words, replaces_host_and_program) {
  EXPECT_THAT(launch_words("ssh -q {host} {omx}", "h1", "/bin/omx"),
              ElementsAre("ssh", "-q", "h1", "/bin/omx", "check", "--agent"));
  EXPECT_THAT(launch_words("ip netns exec ns-{host}", "h1", "omx"),
              ElementsAre("ip", "netns", "exec", "ns-h1", "omx", "check", "--agent"));
}

Result<Job> job_of(std::map<std::string, std::string> variables) {
  return job_find([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(job_find, reads_launchers) {
  const auto slurm = job_of({{"SLURM_PROCID", "3"},
                             {"SLURM_NTASKS", "8"},
                             {"SLURM_LOCALID", "1"},
                             {"SLURM_JOB_ID", "17"},
                             {"SLURM_STEP_ID", "2"}});
  ASSERT_TRUE(slurm);
  EXPECT_EQ(slurm->rank, 3U);
  EXPECT_EQ(slurm->size, 8U);
  EXPECT_FALSE(slurm->first_of_host);
  EXPECT_EQ(slurm->id, "17-2");
  // Slurm's variables are those of the daemons that Open MPI starts by srun.
  const auto open_mpi = job_of({{"OMPI_COMM_WORLD_RANK", "1"},
                                {"OMPI_COMM_WORLD_SIZE", "2"},
                                {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                {"PMIX_NAMESPACE", "prte@1/../x"},
                                {"SLURM_PROCID", "0"},
                                {"SLURM_NTASKS", "1"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->rank, 1U);
  EXPECT_TRUE(open_mpi->first_of_host);
  EXPECT_EQ(open_mpi->id, "prte_1____x");
}

TEST(job_find, fails_outside_of_a_job) {
  const auto job = job_of({{"SLURM_JOB_ID", "17"}});
  ASSERT_FALSE(job);
  EXPECT_THAT(job.error().message, HasSubstr("--hosts"));
}

}  // namespace

}  // namespace omx::tools
