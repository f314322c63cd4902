// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "link/interfaces.h"

namespace omx::link {

namespace {

constexpr int kBoardUnknown = 8;  // MX_BOARD_UNKNOWN

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t first = name.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    name = name.substr(first, name.find_last_not_of(" \t") - first + 1);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
  return names;
}

// The container's own port to the outside, as far as one can tell from inside.
bool is_container_port(const Interface& i) {
  return i.kind == "veth" || i.kind == "macvlan";
}

bool is_own_port(const Interface& i) {
  return i.ethernet && i.up && i.master.empty() && (!i.virtual_kind || i.kind == "bond" || i.kind == "team");
}

std::string state_text(const Interface& i) {
  if (!i.up) return fmt::format("down (ip link set {} up)", i.name);
  return i.running ? "up" : "up, no carrier";
}

// Empty when nothing speaks against it.
std::string default_objection(const Interface& i, bool host_has_own_port) {
  if (i.loopback) return "loopback";
  if (!i.ethernet) return "not Ethernet";
  // The master takes the frames before our socket sees them.
  if (!i.master.empty()) return fmt::format("port of {}, which gets its frames", i.master);
  if (!i.up) return state_text(i);
  if (is_own_port(i)) return {};
  if (!is_container_port(i)) return fmt::format("{}: only taken when named in OMX_INTERFACES", i.kind);
  if (host_has_own_port) {
    return fmt::format("{} beside a physical interface: only taken when named in OMX_INTERFACES", i.kind);
  }
  return {};
}

std::vector<Choice> choose_default(const std::vector<Interface>& all, bool everything) {
  const bool host_has_own_port = std::any_of(all.begin(), all.end(), is_own_port);
  std::vector<Choice> choices;
  for (const Interface& i : all) {
    std::string objection;
    if (!everything) {
      objection = default_objection(i, host_has_own_port);
    } else if (!i.ethernet) {
      objection = i.loopback ? "loopback" : "not Ethernet";
    }
    const bool taken = objection.empty();
    choices.push_back({i, taken, taken ? state_text(i) : objection});
  }
  // Board 0 is what programs use that do not choose: it should work.
  std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    const auto rank = [](const Choice& c) {
      return !c.taken ? 2 : c.interface.up && c.interface.running ? 0 : 1;
    };
    return rank(a) < rank(b);
  });
  return choices;
}

}  // namespace

std::string interfaces_named(const std::vector<Interface>& all) {
  constexpr std::size_t kMost = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(all.size(), kMost); i++) names += (i ? ", " : "") + shown(all[i].name);
  if (all.size() > kMost) names += ", ...";
  return names.empty() ? "none" : names;
}

Result<std::vector<Choice>> interfaces_choose(const std::vector<Interface>& all, const std::string& wanted,
                                              const char* variable) {
  const std::vector<std::string> names = split_names(wanted);
  if (names.empty()) return choose_default(all, false);
  if (names.size() == 1 && names[0] == "all") return choose_default(all, true);

  std::vector<Choice> choices;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Interface& i) { return i.name == name; });
    if (found == all.end()) {
      return fail(kBoardUnknown, fmt::format("{} names {}, which does not exist; there are: {}", variable,
                                             shown(name), interfaces_named(all)));
    }
    const bool usable = found->ethernet || found->loopback;
    choices.push_back(
        {*found, usable, usable ? "named in OMX_INTERFACES, " + state_text(*found) : "not Ethernet"});
  }
  for (const Interface& i : all) {
    const bool named = std::find(names.begin(), names.end(), i.name) != names.end();
    if (!named) choices.push_back({i, false, "not in OMX_INTERFACES"});
  }
  return choices;
}

}  // namespace omx::link
