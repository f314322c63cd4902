// SPDX-License-Identifier: BSD-3-Clause
#include "omxd_process.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "test_network.h"
#include "tests/support/signal_child.h"
#include "user_process.h"

namespace omx::broker {

OmxdProcess::~OmxdProcess() {
  if (pid_ > 0) end(SIGKILL);
  if (folder_.empty()) return;
  run_once("--clean");
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool OmxdProcess::folder_make() {
  if (!folder_.empty()) return true;
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return false;
  char name[] = "/tmp/omxd-test-XXXXXX";
  if (!::mkdtemp(name)) return false;
  folder_ = name;
  return ::chmod(name, 0755) == 0;
}

void OmxdProcess::policy_write(const std::string& policy) const {
  std::ofstream(folder_ + "/policy") << policy;
}

// Starts the program with its output in the log.
pid_t OmxdProcess::launch(const std::string& arguments) const {
  std::vector<std::string> words{program_, "--config", folder_ + "/policy", "--socket", socket()};
  std::istringstream rest(arguments);
  for (std::string word; rest >> word;) words.push_back(word);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = ::open((folder_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(out, 1);
  ::dup2(out, 2);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

bool OmxdProcess::start(const std::string& policy) {
  if (!folder_make()) return false;
  policy_write(policy);
  std::ofstream(folder_ + "/log", std::ios::trunc);
  pid_ = launch("");
  const bool over = link::becomes_true([&] {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) pid_ = -1;
    return pid_ < 0 || log_says("serving");
  });
  return over && pid_ > 0;
}

int OmxdProcess::end(int signal) {
  if (pid_ <= 0) return -1;
  signal_child(pid_, signal);
  return status_of(std::exchange(pid_, -1));
}

int OmxdProcess::run_once(const std::string& arguments) const {
  return status_of(launch(arguments));
}

std::string OmxdProcess::log() const {
  std::ostringstream text;
  text << std::ifstream(folder_ + "/log").rdbuf();
  return text.str();
}

bool net_raw_drop() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2];
  if (::syscall(SYS_capget, &head, data) < 0) return false;
  data[0].effective &= ~(1U << CAP_NET_RAW);
  return ::syscall(SYS_capset, &head, data) == 0;
}

}  // namespace omx::broker
