// SPDX-License-Identifier: BSD-3-Clause
// The keys of the policy file, and which values they accept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "tools/broker/accounts.h"
#include "tools/broker/policy.h"

namespace omx::broker {

// The subject of a line: all users and boards, or some.
enum class Scope : std::uint8_t { all = 1, user = 2, group = 4, board = 8 };

// Where a line's value goes: the policy, and the rules of the user, group or board that the line names.
struct PolicyTarget {
  Policy& policy;
  LimitChanges* limits = nullptr;
  BoardChanges* board = nullptr;
  const Accounts& accounts;
};

struct PolicyKey {
  std::string_view name;
  std::uint8_t scopes;  // bits of Scope
  // Stores the value. Returns false if the value is not accepted. The error says what else is wrong with it.
  Expected<bool, std::string> (*set)(std::string_view value, PolicyTarget& target);
  std::string (*accepted)();
};

std::span<const PolicyKey> policy_keys();

// Returns an account by its name or number, or the sentence that there is none.
Expected<Account, std::string> user_find(const Accounts& accounts, std::string_view word);
Expected<Account, std::string> group_find(const Accounts& accounts, std::string_view word);

}  // namespace omx::broker
