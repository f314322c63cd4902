// SPDX-License-Identifier: BSD-3-Clause
// The broker's policy file with any bytes. A text that is refused gives one sentence. With a text that is
// accepted every answer of the policy is a mode or a sentence, and its limits are in their ranges.
#include <string>
#include <string_view>

#include "netdev/interface.h"
#include "tests/broker/made_up_accounts.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/settings/text_checks.h"
#include "tools/broker/policy_file.h"
#include "tools/broker/quota.h"

namespace omx::fuzz {
namespace {

using broker::Holding;
using broker::Limits;
using broker::Policy;
using broker::User;

std::vector<link::Interface> interfaces() {
  std::vector<link::Interface> all(3);
  const char* const names[] = {"lo", "eth0", "eth1"};
  for (std::uint32_t i = 0; i < 3; i++) {
    all[i].name = names[i];
    all[i].index = i + 1;
    all[i].up = all[i].running = true;
    all[i].loopback = i == 0;
    all[i].ethernet = i != 0;
  }
  return all;
}

void check_user(const Policy& policy, const User& user, const std::vector<link::Choice>& boards) {
  bool allowed = false;
  for (const link::Choice& board : boards) {
    const auto mode = policy.may(user, board);
    if (!mode) {
      check_message(mode.error().message);
      continue;
    }
    allowed = true;
    REQUIRE(board.taken);
    REQUIRE(*mode == policy.mode_of(board.interface.name));
  }
  const Limits limits = policy.limits_of(user);
  REQUIRE(limits.endpoints <= 4096 && limits.connections >= 1 && limits.memory >= 1 << 20);
  REQUIRE(limits.rate == 0 || limits.rate >= 1'000'000);
  REQUIRE(!allowed || limits.endpoints > 0);
  broker::Quota quota({limits.endpoints, limits.memory, limits.connections}, policy.file);
  REQUIRE(quota.take(user, {limits.endpoints, limits.memory, limits.connections}, limits));
  const auto more = quota.take(user, {1, 0, 0}, limits);
  REQUIRE(!more);
  check_message(more.error().message);
}

void check(std::string_view text) {
  const broker::Accounts accounts = broker::made_up_accounts();
  const auto policy = broker::policy_parse(text, "/etc/open-mx/broker.conf", accounts);
  if (!policy) return check_message(policy.error().message);
  REQUIRE(policy->socket_mode_of() <= 0777);
  REQUIRE(policy->socket.path.starts_with('/') && policy->socket.path.size() <= 107);
  REQUIRE(policy->request_timeout_ms >= 100);
  const auto boards = policy->boards_choose(interfaces());
  if (!boards) return check_message(boards.error().message);
  for (const uid_t uid : {uid_t{0}, broker::kAlice, broker::kBob, broker::kCarol, broker::kStranger})
    check_user(*policy, accounts.user(uid), *boards);
}

}  // namespace
}  // namespace omx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  omx::fuzz::check(std::string_view(reinterpret_cast<const char*>(bytes), size));
  return 0;
}
