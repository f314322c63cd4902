// SPDX-License-Identifier: BSD-3-Clause
// omxd: the broker of a host. It gives ordinary users raw Ethernet frames of Open-MX, and nothing else.
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/log.h"
#include "tools/broker/grants_print.h"
#include "tools/broker/kernel/seal.h"
#include "tools/broker/listener.h"
#include "tools/broker/policy_file.h"
#include "tools/broker/service.h"
#include "tools/broker/set_up.h"

namespace {

using namespace omx::broker;
using omx::LogLevel;

constexpr int kFailed = 1;
constexpr int kUsage = 2;  // also for a bad policy: another start would not help

int failed(const omx::Failure& failure, int status = kFailed) {
  omx::log(LogLevel::error, "{}", failure.message);
  return status;
}

// Blocks the signals that the loop reads. Threads inherit this.
void signals_block() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

// Each endpoint and connection takes a descriptor.
void descriptors_raise() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int serve(Policy policy, const std::string& file) {
  signals_block();
  descriptors_raise();
  auto listener = Listener::open(policy);
  if (!listener) return failed(listener.error());
  auto seal = Seal::enter();
  if (!seal) return failed(seal.error());
  Service* service = nullptr;
  auto up = broker_set_up(std::move(policy), [&service](std::uint32_t board, const BoardVoice::Name& name) {
    if (service) service->named(board, name);
  });
  if (!up) return failed(up.error());
  Service loop(**up, listener->take(), file);
  service = &loop;
  if (auto opened = loop.open(); !opened) return failed(opened.error());
  service_manager_tell("READY=1");
  const std::size_t boards = (*up)->boards.size();
  omx::log(LogLevel::summary, "serving {} board{}", boards, boards == 1 ? "" : "s");
  loop.run();
  service_manager_tell("STOPPING=1");
  if (const std::size_t open = broker_take_down(**up))
    omx::log(LogLevel::summary, "{} endpoints are open and go on; the next start takes them up", open);
  if (auto left = seal->leave(); !left) return failed(left.error());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  omx::g_log_level = static_cast<int>(LogLevel::summary);
  omx::log_set_prefix("omxd: ");
  CLI::App app("gives ordinary users raw Ethernet frames of Open-MX", "omxd");
  std::string file, socket;
  bool clean = false, check = false, grants = false;
  app.add_option("--config", file, "the policy's file (default: /etc/open-mx/broker.conf)");
  app.add_option("--socket", socket, "where to listen (default: as the policy says, or systemd's socket)");
  app.add_flag("--clean", clean, "remove what brokers left behind; open endpoints go silent");
  app.add_flag("--grants", grants, "show who has which endpoint, and what was sent");
  app.add_flag("--check", check, "only read the policy, and say what is wrong with it");
  app.set_version_flag("--version", OMX_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return failed({1, fmt::format("{}; omxd --help shows what is accepted", error.what())}, kUsage);
  }
  auto policy = policy_load(file, accounts_of_host());
  if (!policy) return failed(policy.error(), kUsage);
  if (check) return 0;
  if (!socket.empty()) policy->socket.path = socket;
  if (::geteuid() != 0 && (grants || clean))
    return failed({1, fmt::format("{} needs root: sudo omxd {}", grants ? "--grants" : "--clean",
                                  grants ? "--grants" : "--clean")});
  if (::geteuid() != 0)
    return failed(
        {1,
         "the broker needs root, or the capabilities of omxd.service; start it with \"systemctl start "
         "omxd.socket\""});
  if (grants) {
    const auto text = grants_text(*policy);
    if (!text) return failed(text.error());
    // fmt::print() would throw where a write fails.
    const bool written = std::fwrite(text->data(), 1, text->size(), stdout) == text->size();
    return written && std::fflush(stdout) == 0
               ? 0
               : failed({1, fmt::format("cannot write: {}", std::strerror(errno))});
  }
  if (clean && broker_answers(policy->socket.path))
    return failed(
        {1, fmt::format("a broker listens at {}; end it first (systemctl stop omxd.socket omxd.service), "
                        "then call omxd --clean again",
                        policy->socket.path)});
  if (clean) return broker_clean(*policy) ? 0 : kFailed;
  return serve(std::move(*policy), file);
}
