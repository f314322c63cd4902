// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/cmd_run.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"

namespace omx::tools {

namespace {

constexpr std::uint32_t kNetRaw = 1U << CAP_NET_RAW;

// Makes CAP_NET_RAW ambient, so that any program that this process starts has it. Returns 0 or errno.
int net_raw_pass_on() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &head, data) < 0) return errno;
  if (!(data[0].permitted & kNetRaw)) return EPERM;
  data[0].inheritable |= kNetRaw;
  if (::syscall(SYS_capset, &head, data) < 0) return errno;
  return ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) < 0 ? errno : 0;
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) {
    failed("run", "name a program: omx run -- PROGRAM...");
    return kUsage;
  }
  if (const int error = net_raw_pass_on()) {
    if (error == EPERM)
      return failed(
          "run",
          "this process may not pass CAP_NET_RAW on; as root, give the command the capability (setcap "
          "cap_net_raw+ep), and let only trusted users run it");
    return failed("run", "CAP_NET_RAW cannot be passed on: {}", std::strerror(error));
  }
  std::vector<std::string> owners = words;
  std::vector<char*> argv;
  for (std::string& word : owners) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return failed("run", "cannot start {}: {}", shown(words[0]), std::strerror(errno));
}

}  // namespace

Command run_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("run", "start a program with the right to raw frames (CAP_NET_RAW)");
  app->footer(
      "omx run -- PROGRAM... The command needs the capability itself: setcap cap_net_raw+ep on a copy of "
      "it.");
  auto words = std::make_shared<std::vector<std::string>>();
  app->add_option("program", *words, "the program and its arguments, behind --");
  return {app, [words] { return run(*words); }};
}

}  // namespace omx::tools
