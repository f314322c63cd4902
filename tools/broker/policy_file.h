// SPDX-License-Identifier: BSD-3-Clause
// Reads the broker's policy. Its lines are "key = value", for some users or boards with a prefix:
//   endpoints = 64
//   user alice endpoints = 128
//   group hpc rate = 10G
//   board eth1 mode = trusted
// A file with a mistake gives no policy but one sentence, which names the line and the remedy.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/expected.h"
#include "tools/broker/accounts.h"
#include "tools/broker/policy.h"

namespace omx::broker {

// Parses the text of a file. `path` is for messages.
Result<Policy> policy_parse(std::string_view text, const std::string& path, const Accounts& accounts);

// Reads a file, which must be a regular one of `owner` (root, except in tests) that no other user may write.
// If `path` is empty the file is kPolicyFile, and without that file everything has its default.
Result<Policy> policy_load(const std::string& path, const Accounts& accounts, uid_t owner = 0);

}  // namespace omx::broker
