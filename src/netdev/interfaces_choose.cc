// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/interfaces_choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "netdev/interfaces.h"
#include "netdev/interfaces_meant.h"

namespace omx::link {

namespace {

constexpr int kBoardUnknown = 8;  // MX_BOARD_UNKNOWN

// Returns the words of a list, each word once.
std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view name : list_words(text))
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  return names;
}

// Returns whether an interface is a container's port to the outside, as far as the container can tell.
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

std::string port_text(const Interface& i) {
  return fmt::format("port of {}, which gets its frames", i.master);
}

// Returns why an interface is not taken by default, or an empty string when it is.
std::string default_objection(const Interface& i, bool host_has_own_port, const char* variable) {
  if (i.loopback) return "loopback";
  if (!i.ethernet) return "not Ethernet";
  // The master takes the frames before our socket sees them.
  if (!i.master.empty()) return port_text(i);
  if (!i.up) return state_text(i);
  if (is_own_port(i)) return {};
  if (!is_container_port(i)) return fmt::format("{}: only taken when named in {}", i.kind, variable);
  if (host_has_own_port) {
    return fmt::format("{} beside a physical interface: only taken when named in {}", i.kind, variable);
  }
  return {};
}

// Returns how good an interface is as a board; lower is better. Programs that do not choose use board 0, so
// it should work, and lead to other hosts. Several NICs of one rank keep their order, because nothing shows
// which one the user means.
int rank(const Choice& c) {
  const Interface& i = c.interface;
  if (!c.taken) return 4;
  if (!i.up || !i.running) return 3;
  if (!is_container_port(i) || i.default_route) return 0;
  return i.shares_network ? 1 : 2;
}

std::vector<Choice> choose_default(const std::vector<Interface>& all, bool everything, const char* variable) {
  const bool host_has_own_port = std::any_of(all.begin(), all.end(), is_own_port);
  std::vector<Choice> choices;
  for (const Interface& i : all) {
    std::string objection;
    if (!everything) {
      objection = default_objection(i, host_has_own_port, variable);
    } else if (!i.ethernet) {
      objection = i.loopback ? "loopback" : "not Ethernet";
    }
    const bool taken = objection.empty();
    choices.push_back({i, taken, taken ? state_text(i) : objection});
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return rank(a) < rank(b); });
  return choices;
}

// Returns why an interface that a word other than its name means is not taken, or an empty string when it
// is.
std::string word_objection(const std::vector<Interface>& all, const Interface& i, Term term,
                           const char* variable) {
  if (i.loopback) return "loopback, only taken by its name";
  if (!i.master.empty()) return port_text(i);
  if (term != Term::speed) return {};
  return default_objection(i, std::any_of(all.begin(), all.end(), is_own_port), variable);
}

// Returns the interfaces that a word means, in the order in which they become boards.
std::vector<const Interface*> interfaces_of(const std::vector<Interface>& all, const std::string& word,
                                            const char* variable) {
  std::vector<const Interface*> meant;
  for (const Interface& i : all) {
    if (i.name == word) return {&i};
  }
  const Term term = term_of(word);
  const bool by_speed = term == Term::speed;
  for (const Interface& i : all) {
    if (interface_meant(i, word) && word_objection(all, i, term, variable).empty()) meant.push_back(&i);
  }
  // A VLAN has the address of the port under it.
  const auto stacked = [](const Interface* i) { return i->kind == "vlan"; };
  if (term == Term::mac && !std::all_of(meant.begin(), meant.end(), stacked)) std::erase_if(meant, stacked);
  std::stable_sort(meant.begin(), meant.end(), [&](const Interface* a, const Interface* b) {
    const auto working = [](const Interface* i) { return i->up && i->running; };
    if (working(a) != working(b)) return working(a);
    return by_speed && a->speed_mbps > b->speed_mbps;
  });
  return meant;
}

}  // namespace

std::string term_failure(const std::vector<Interface>& all, std::string_view text, const char* variable) {
  const Term term = term_of(text);
  const std::string known = fmt::format("there are: {}", interfaces_named(all));
  if (term == Term::name)
    return fmt::format("{} names {}, which does not exist; {}", variable, shown(text), known);
  if (term == Term::malformed) {
    return fmt::format(
        "{} holds {}; write a name, a MAC address, a network (10.1.0.0/16), a PCI address "
        "(0000:3b:00.0) or a speed (speed>=10g)",
        variable, shown(text));
  }
  for (const Interface& i : all) {
    if (interface_meant(i, text))
      return fmt::format("{} asks for {}, which is {}: {}", variable, shown(text), i.name,
                         word_objection(all, i, term, variable));
  }
  if (term == Term::mac)
    return fmt::format("{} asks for the MAC address {}, which no interface has; {}", variable, shown(text),
                       known);
  if (term == Term::network)
    return fmt::format("{} asks for an address in {}, which no interface has; {}", variable, shown(text),
                       known);
  if (term == Term::pci)
    return fmt::format("{} asks for the PCI address {}, which no interface has; {}", variable, shown(text),
                       known);
  const bool told = std::any_of(all.begin(), all.end(), [](const Interface& i) { return i.speed_mbps > 0; });
  return fmt::format("{} asks for {}, {}; {}", variable, shown(text),
                     told ? "which no interface has (omx info shows their speeds)"
                          : "but no interface here tells its speed: write names instead",
                     known);
}

Result<std::vector<Choice>> interfaces_choose(const std::vector<Interface>& all, const std::string& wanted,
                                              const char* variable) {
  const std::vector<std::string> words = split_names(wanted);
  if (words.empty()) return choose_default(all, false, variable);
  if (words.size() == 1 && words[0] == "all") return choose_default(all, true, variable);

  std::vector<Choice> choices;
  for (const std::string& word : words) {
    const auto meant = interfaces_of(all, word, variable);
    if (meant.empty()) return fail(kBoardUnknown, term_failure(all, word, variable));
    for (const Interface* i : meant) {
      const bool known = std::any_of(choices.begin(), choices.end(),
                                     [&](const Choice& c) { return c.interface.name == i->name; });
      if (known) continue;
      const bool usable = i->ethernet || i->loopback;
      const std::string why = fmt::format("{} in {}, ", i->name == word ? "named" : word, variable);
      choices.push_back({*i, usable, usable ? why + state_text(*i) : "not Ethernet"});
    }
  }
  const std::size_t chosen = choices.size();
  for (const Interface& i : all) {
    const bool known = std::any_of(choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(chosen),
                                   [&](const Choice& c) { return c.interface.name == i.name; });
    if (known) continue;
    const auto word = std::find_if(words.begin(), words.end(),
                                   [&](const std::string& text) { return interface_meant(i, text); });
    const std::string why = word == words.end() ? "" : word_objection(all, i, term_of(*word), variable);
    choices.push_back({i, false, why.empty() ? fmt::format("not in {}", variable) : why});
  }
  return choices;
}

}  // namespace omx::link
