// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/policy_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>

#include "base/own_fd.h"
#include "base/setting_text.h"
#include "base/text.h"
#include "base/text_file.h"
#include "netdev/open_failure.h"
#include "tools/broker/policy_keys.h"

namespace omx::broker {

namespace {

constexpr std::size_t kInterfaceNameMost = 15;

struct ScopeWord {
  std::string_view word;
  Scope scope;
};
constexpr ScopeWord kScopes[] = {{"user", Scope::user}, {"group", Scope::group}, {"board", Scope::board}};

// The left side of a line.
struct Subject {
  Scope scope = Scope::all;
  Account account;    // the user or group
  std::string board;  // the interface
  const PolicyKey* key = nullptr;
};

bool has_scope(const PolicyKey& key, Scope scope) {
  return key.scopes & static_cast<std::uint8_t>(scope);
}

std::string_view scope_word(Scope scope) {
  for (const ScopeWord& s : kScopes)
    if (s.scope == scope) return s.word;
  return "";
}

// Returns the lines that set a key for what the line is about: "mode" or "board NAME mode".
std::string key_forms(const PolicyKey& key) {
  std::string text = has_scope(key, Scope::all) ? fmt::format("\"{} = ...\"", key.name) : "";
  for (const ScopeWord& s : kScopes) {
    if (has_scope(key, s.scope))
      text += fmt::format("{}\"{} NAME {} = ...\"", text.empty() ? "" : " or ", s.word, key.name);
  }
  return text;
}

std::string unknown_key(std::string_view word, Scope scope) {
  std::vector<std::string_view> keys;
  for (const PolicyKey& key : policy_keys())
    if (has_scope(key, scope)) keys.push_back(key.name);
  const std::string_view meant = nearest_word(word, keys);
  if (!meant.empty()) return fmt::format("unknown key \"{}\"; did you mean \"{}\"?", shown(word), meant);
  return fmt::format("unknown key \"{}\"; keys are {}", shown(word), fmt::join(keys, ", "));
}

Expected<const PolicyKey*, std::string> key_find(std::string_view word, Scope scope) {
  const auto keys = policy_keys();
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const PolicyKey& key) { return key.name == word; });
  if (found == keys.end()) return tl::unexpected(unknown_key(word, scope));
  if (has_scope(*found, scope)) return &*found;
  return tl::unexpected(
      fmt::format("{} cannot be set for a {}; write {}", word, scope_word(scope), key_forms(*found)));
}

bool is_interface_name(std::string_view name) {
  return !name.empty() && name.size() <= kInterfaceNameMost && name.find('/') == std::string_view::npos &&
         shown(name) == name;
}

// Reads "key", "user NAME key", "group NAME key" or "board NAME key".
Expected<Subject, std::string> subject_parse(std::string_view text, const Accounts& accounts) {
  const auto words = words_of(text);
  if (words.size() != 1 && words.size() != 3) {
    return tl::unexpected(
        fmt::format("\"{}\" is no key; write \"key = value\", or \"user NAME\", \"group NAME\" or \"board "
                    "NAME\" before the key",
                    shown(text)));
  }
  Subject subject;
  if (words.size() == 3) {
    const auto found = std::find_if(std::begin(kScopes), std::end(kScopes),
                                    [&](const ScopeWord& s) { return s.word == words[0]; });
    if (found == std::end(kScopes)) {
      return tl::unexpected(fmt::format(
          "\"{}\" is not user, group or board; write one of these before the name", shown(words[0])));
    }
    subject.scope = found->scope;
  }
  const auto key = key_find(words.back(), subject.scope);
  if (!key) return tl::unexpected(key.error());
  subject.key = *key;
  if (subject.scope == Scope::board) {
    subject.board = words[1];
    if (is_interface_name(words[1])) return subject;
    return tl::unexpected(
        fmt::format("\"{}\" is no name of an interface; ip link lists the names", shown(words[1])));
  }
  if (subject.scope == Scope::all) return subject;
  auto account =
      subject.scope == Scope::user ? user_find(accounts, words[1]) : group_find(accounts, words[1]);
  if (!account) return tl::unexpected(account.error());
  subject.account = std::move(*account);
  return subject;
}

PolicyTarget target_of(const Subject& subject, Policy& policy, const Accounts& accounts) {
  PolicyTarget target{policy, nullptr, nullptr, accounts};
  if (subject.scope == Scope::user) target.limits = &policy.user_changes[*subject.account.id];
  if (subject.scope == Scope::group) target.limits = &policy.group_changes[*subject.account.id];
  if (subject.scope == Scope::board) target.board = &policy.board_changes[subject.board];
  return target;
}

// Finds the default group. A host without it has no user in it.
void default_group_find(Account& group, const Accounts& accounts) {
  group.id = accounts.gid_of(group.name);
}

Failure refusal(const std::string& path, const std::string& why) {
  return {link::kFailure, fmt::format("{}: {}", shown(path, kPathShown), why)};
}

}  // namespace

Result<Policy> policy_parse(std::string_view text, const std::string& path, const Accounts& accounts) {
  Policy policy;
  policy.file = path;
  default_group_find(policy.members.groups.front(), accounts);
  default_group_find(policy.socket.group, accounts);
  std::map<std::tuple<const PolicyKey*, Scope, std::optional<std::uint32_t>, std::string>, int> seen;
  for (const SettingLine& line : setting_lines(text)) {
    const auto bad = [&](const std::string& why) {
      return fail(link::kFailure, fmt::format("{}:{}: {}", shown(path, kPathShown), line.number, why));
    };
    if (!line.value) return bad(fmt::format("no '=' in \"{}\"; write \"key = value\"", shown(line.text)));
    const auto subject = subject_parse(line.key, accounts);
    if (!subject) return bad(subject.error());
    const PolicyKey& key = *subject->key;
    const auto [entry, fresh] =
        seen.emplace(std::tuple(&key, subject->scope, subject->account.id, subject->board), line.number);
    if (!fresh) {
      return bad(fmt::format("\"{}\" was set in line {} already; remove one of the two", shown(line.key),
                             entry->second));
    }
    PolicyTarget target = target_of(*subject, policy, accounts);
    const auto accepted = key.set(*line.value, target);
    if (!accepted) return bad(accepted.error());
    if (!*accepted) {
      return bad(fmt::format("{} = \"{}\" is not accepted; give {}", shown(line.key), shown(*line.value),
                             key.accepted()));
    }
  }
  return policy;
}

Result<Policy> policy_load(const std::string& path, const Accounts& accounts, uid_t owner) {
  const std::string file = path.empty() ? kPolicyFile : path;
  // O_NONBLOCK: the open must not wait for a process that writes into a named pipe.
  const OwnFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.open() && errno == ENOENT && path.empty()) return policy_parse("", file, accounts);
  struct stat about {};
  if (fd.open() && ::fstat(fd.get(), &about) == 0 &&
      (!S_ISREG(about.st_mode) || about.st_uid != owner || (about.st_mode & (S_IWGRP | S_IWOTH)))) {
    return tl::unexpected(refusal(
        file, "it must be a regular file of root that no other user may write; chown root and chmod 644"));
  }
  const auto text = text_file_read(fd);
  if (!text) {
    return tl::unexpected(
        refusal(file, text_file_error(text.error()) + "; correct the path (omxd --config FILE) or the file"));
  }
  return policy_parse(*text, file, accounts);
}

}  // namespace omx::broker
