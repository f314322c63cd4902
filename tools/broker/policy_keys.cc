// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/policy_keys.h"

#include <fmt/format.h>
#include <sys/un.h>

#include <algorithm>
#include <limits>

#include "base/number.h"
#include "base/setting_text.h"
#include "base/text.h"

namespace omx::broker {

namespace {

using Set = Expected<bool, std::string>;

constexpr std::uint64_t kMiB = 1 << 20, kTiB = std::uint64_t{1} << 40;
constexpr std::uint32_t kEndpointsMost = 4096, kConnectionsMost = 65536;
// One frame of 64 KiB a second takes half a Mb/s.
constexpr std::uint64_t kRateLeast = 1'000'000, kRateMost = 1'000'000'000'000;
constexpr std::uint32_t kTimeoutLeastMs = 100, kTimeoutMostMs = 600'000;
// uid_t and gid_t of -1 mean "none" to the kernel.
constexpr std::uint64_t kIdMost = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::size_t kSocketPathMost = sizeof(sockaddr_un::sun_path) - 1;

constexpr std::uint8_t bits(std::initializer_list<Scope> scopes) {
  std::uint8_t all = 0;
  for (const Scope s : scopes) all = static_cast<std::uint8_t>(all | static_cast<std::uint8_t>(s));
  return all;
}
constexpr std::uint8_t kAll = bits({Scope::all}), kLimit = bits({Scope::all, Scope::user, Scope::group}),
                       kBoard = bits({Scope::all, Scope::board});

std::optional<std::uint64_t> within(std::optional<std::uint64_t> value, std::uint64_t low,
                                    std::uint64_t high) {
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

// A limit. `Field` is a member of LimitChanges, and of Limits by the same name.
template <auto Plain, auto Changed, class T>
bool limit_set(std::optional<T> value, PolicyTarget& to) {
  if (!value) return false;
  if (to.limits) to.limits->*Changed = value;
  if (!to.limits) to.policy.limits.*Plain = *value;
  return true;
}

struct Endpoints {
  static Set set(std::string_view text, PolicyTarget& to) {
    const auto value = within(number_parse(text), 0, kEndpointsMost);
    return limit_set<&Limits::endpoints, &LimitChanges::endpoints, std::uint32_t>(value, to);
  }
  static std::string accepted() { return number_accepted(0, kEndpointsMost) + " (0 = no raw frames)"; }
};

struct Connections {
  static Set set(std::string_view text, PolicyTarget& to) {
    const auto value = within(number_parse(text), 1, kConnectionsMost);
    return limit_set<&Limits::connections, &LimitChanges::connections, std::uint32_t>(value, to);
  }
  static std::string accepted() { return number_accepted(1, kConnectionsMost); }
};

struct Memory {
  static Set set(std::string_view text, PolicyTarget& to) {
    const auto value = within(number_parse_units(text, 1024), kMiB, kTiB);
    return limit_set<&Limits::memory, &LimitChanges::memory>(value, to);
  }
  static std::string accepted() { return number_accepted(kMiB, kTiB) + " bytes; K, M or G may follow"; }
};

struct MemoryTotal {
  static Set set(std::string_view text, PolicyTarget& to) {
    const auto value = within(number_parse_units(text, 1024), kMiB, kTiB);
    if (value || text == "auto") to.policy.memory_total = value;
    return value || text == "auto";
  }
  static std::string accepted() { return "auto (a quarter of the host's memory), or " + Memory::accepted(); }
};

struct Rate {
  static Set set(std::string_view text, PolicyTarget& to) {
    const auto value = text == "none" ? std::optional<std::uint64_t>(0)
                                      : within(number_parse_units(text, 1000), kRateLeast, kRateMost);
    return limit_set<&Limits::rate, &LimitChanges::rate>(value, to);
  }
  static std::string accepted() {
    return "none, or " + number_accepted(kRateLeast, kRateMost) + " bits per second; K, M or G may follow";
  }
};

struct Users {
  static Set set(std::string_view text, PolicyTarget& to) {
    std::vector<Account> users;
    bool everyone = false;
    for (const std::string_view word : list_words(text)) {
      everyone |= word == "*";
      if (word == "*") continue;
      const auto user = user_find(to.accounts, word);
      if (!user) return tl::unexpected(user.error());
      users.push_back(*user);
    }
    Members& members = members_of(to);
    members.users = std::move(users);
    members.everyone = everyone;
    return true;
  }
  // Returns whom a board is for. A board that names users or groups is for these alone.
  static Members& members_of(PolicyTarget& to) {
    if (!to.board) return to.policy.members;
    if (!to.board->members) to.board->members.emplace();
    return *to.board->members;
  }
  static std::string accepted() { return "names or numbers of users, or * for all"; }
};

struct Groups {
  static Set set(std::string_view text, PolicyTarget& to) {
    std::vector<Account> groups;
    for (const std::string_view word : list_words(text)) {
      if (word == "*")
        return tl::unexpected(std::string("groups takes no \"*\"; write \"users = *\" for all users"));
      const auto group = group_find(to.accounts, word);
      if (!group) return tl::unexpected(group.error());
      groups.push_back(*group);
    }
    Users::members_of(to).groups = std::move(groups);
    return true;
  }
  static std::string accepted() { return "names or numbers of groups"; }
};

struct Boards {
  static Set set(std::string_view text, PolicyTarget& to) {
    to.policy.boards = text;
    return true;
  }
  static std::string accepted() { return "what OMX_INTERFACES accepts"; }
};

struct ModeKey {
  static Set set(std::string_view text, PolicyTarget& to) {
    if (text != mode_name(Mode::confined) && text != mode_name(Mode::trusted)) return false;
    const Mode mode = text == mode_name(Mode::trusted) ? Mode::trusted : Mode::confined;
    if (to.board) to.board->mode = mode;
    if (!to.board) to.policy.mode = mode;
    return true;
  }
  static std::string accepted() { return "confined, or trusted (equals CAP_NET_RAW on the interface)"; }
};

struct Passthru {
  static Set set(std::string_view text, PolicyTarget& to) {
    const auto value = boolean_parse(text);
    if (!value) return false;
    if (to.board) to.board->passthru = value;
    if (!to.board) to.policy.passthru = *value;
    return true;
  }
  static std::string accepted() { return "yes or no"; }
};

struct RequestTimeout {
  static Set set(std::string_view text, PolicyTarget& to) {
    const auto value = within(number_parse(text), kTimeoutLeastMs, kTimeoutMostMs);
    if (value) to.policy.request_timeout_ms = static_cast<std::uint32_t>(*value);
    return value.has_value();
  }
  static std::string accepted() { return number_accepted(kTimeoutLeastMs, kTimeoutMostMs) + " milliseconds"; }
};

struct SocketPath {
  static Set set(std::string_view text, PolicyTarget& to) {
    if (text.empty() || text.front() != '/' || text.size() > kSocketPathMost ||
        text.find('\0') != std::string_view::npos)
      return false;
    to.policy.socket.path = text;
    return true;
  }
  static std::string accepted() {
    return fmt::format("a path from / on, of at most {} bytes", kSocketPathMost);
  }
};

struct SocketMode {
  static Set set(std::string_view text, PolicyTarget& to) {
    if (text == "auto") to.policy.socket.mode.reset();
    if (text == "auto") return true;
    const bool octal = !text.empty() && text.size() <= 4 && text.find_first_not_of("01234567") == text.npos;
    mode_t mode = 0;
    for (const char digit : text) mode = mode * 8 + static_cast<mode_t>(digit - '0');
    if (!octal || mode > 0777) return false;
    to.policy.socket.mode = mode;
    return true;
  }
  static std::string accepted() {
    return "auto (0660 if only socket_group may have raw frames, otherwise 0666), or permissions like 0660";
  }
};

struct SocketGroup {
  static Set set(std::string_view text, PolicyTarget& to) {
    const auto words = list_words(text);
    if (words.size() != 1) return false;
    const auto group = group_find(to.accounts, words.front());
    if (!group) return tl::unexpected(group.error());
    to.policy.socket.group = *group;
    return true;
  }
  static std::string accepted() { return "the name or number of a group"; }
};

template <class Kind>
constexpr PolicyKey key(std::string_view name, std::uint8_t scopes) {
  return {name, scopes, Kind::set, Kind::accepted};
}

constexpr PolicyKey kKeys[] = {
    key<Users>("users", kBoard),
    key<Groups>("groups", kBoard),
    key<Boards>("boards", kAll),
    key<ModeKey>("mode", kBoard),
    key<Passthru>("passthru", kBoard),
    key<Endpoints>("endpoints", kLimit),
    key<Memory>("memory", kLimit),
    key<Connections>("connections", kLimit),
    key<Rate>("rate", kLimit),
    key<MemoryTotal>("memory_total", kAll),
    key<RequestTimeout>("request_timeout_ms", kAll),
    key<SocketPath>("socket", kAll),
    key<SocketMode>("socket_mode", kAll),
    key<SocketGroup>("socket_group", kAll),
};

// Returns an account whose name the host knows, or whose number may belong to a container's user.
Expected<Account, std::string> account_find(std::string_view word, std::optional<std::uint32_t> known,
                                            std::string_view kind, std::string_view command) {
  const std::string name(word);
  if (known) return Account{name, known};
  const auto number = within(number_parse(word), 0, kIdMost);
  if (number && all_digits(word)) return Account{name, static_cast<std::uint32_t>(*number)};
  return tl::unexpected(fmt::format("this host has no {} \"{}\"; correct the name, or create it ({} NAME)",
                                    kind, shown(word), command));
}

}  // namespace

std::span<const PolicyKey> policy_keys() {
  return kKeys;
}

// A name may not hold a NUL, because the databases take C strings.
Expected<Account, std::string> user_find(const Accounts& accounts, std::string_view word) {
  const bool text = word.find('\0') == std::string_view::npos;
  return account_find(word, text ? accounts.uid_of(std::string(word)) : std::nullopt, "user", "adduser");
}

Expected<Account, std::string> group_find(const Accounts& accounts, std::string_view word) {
  const bool text = word.find('\0') == std::string_view::npos;
  return account_find(word, text ? accounts.gid_of(std::string(word)) : std::nullopt, "group", "groupadd");
}

}  // namespace omx::broker
