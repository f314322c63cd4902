// SPDX-License-Identifier: BSD-3-Clause
// Every text that a person or an environment gives us. The first byte selects the parser. A text that is
// refused gives one sentence (text_checks.h). A text that is accepted is printed as one that parses to the
// same value.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "base/cpu_list.h"
#include "base/mac.h"
#include "base/own_fd.h"
#include "config/settings.h"
#include "config/settings_environment.h"
#include "config/settings_load.h"
#include "config/settings_rows.h"
#include "config/verbose_prefix.h"
#include "netdev/interfaces.h"
#include "netdev/interfaces_choose.h"
#include "runtime/board/peer_table.h"
#include "runtime/endpoint/rail_choice.h"
#include "steering/binding_file.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/settings/text_checks.h"

namespace omx::fuzz {
namespace {

using runtime::Settings;
using Variables = std::map<std::string, std::string, std::less<>>;

// A configuration file in memory.
class File {
 public:
  explicit File(const std::string& text) : fd_(::memfd_create("settings", MFD_CLOEXEC)) {
    REQUIRE(::write(fd_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  OwnFd fd_;
};

Result<Settings> load(const std::string& file, const Variables& variables) {
  const File config(file);
  auto settings = runtime::settings_load(
      [&](const char* name) -> const char* {
        const auto it = variables.find(name);
        return it == variables.end() ? nullptr : it->second.c_str();
      },
      config.path());
  if (!settings) check_message(settings.error().message);
  if (settings)
    for (const std::string& warning : settings->warnings) check_message(warning);
  return settings;
}

// Returns all rows except the one that names the file that was read.
Variables rows_of(const Settings& settings) {
  Variables rows;
  for (const runtime::SettingRow& row : runtime::settings_rows(settings)) rows[row.variable] = row.value;
  rows.erase("OMX_CONFIG");
  return rows;
}

void check_settings(const std::string& file, const Variables& variables) {
  const auto settings = load(file, variables);
  if (!settings) return;
  const Variables rows = rows_of(*settings);
  // A variable cannot hold a NUL.
  const auto has = [&](std::string_view what) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const auto& row) { return row.second.find_first_of(what) != std::string::npos; });
  };
  if (has(std::string_view("", 1))) return;
  const auto again = load("", rows);
  REQUIRE(again && rows_of(*again) == rows);
  REQUIRE(again->protocol.reliability.peer_timeout == settings->protocol.reliability.peer_timeout);
  // In a file, quotes keep blanks, but cannot keep quotes or line ends.
  if (has("\"\n")) return;
  std::string text;
  for (const runtime::SettingRow& row : runtime::settings_rows(*settings)) {
    if (!rows.contains(row.variable)) continue;
    std::string key = std::string(row.variable).substr(4);
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
    text += key + " = \"" + row.value + "\"\n";
  }
  const auto from_file = load(text, {});
  REQUIRE(from_file && rows_of(*from_file) == rows);
}

// Checks lines of the form NAME=VALUE.
void check_environment(const std::string& text) {
  Variables variables;
  std::vector<std::string> entries;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    entries.emplace_back(text, at, end - at);
    entries.back().resize(entries.back().find('\0') == std::string::npos ? entries.back().size()
                                                                         : entries.back().find('\0'));
    const std::string& entry = entries.back();
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos) variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    at = end + 1;
  }
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back(nullptr);
  for (const std::string& warning : runtime::settings_unknown(environment.data())) check_message(warning);
  check_settings("", variables);
}

void check_prefix(const std::string& text) {
  const runtime::PrefixFacts facts{42, "node1", "3", "0", "enp1s0"};
  const auto prefix = runtime::verbose_prefix_expand(text, facts);
  if (prefix) REQUIRE(prefix->size() <= 16 + text.size() * 8);
  // A text is a prefix or not, whatever the facts are.
  REQUIRE(prefix.has_value() == runtime::verbose_prefix_expand(text, {}).has_value());
}

void check_peers(const std::string& text) {
  const auto peers = runtime::peers_parse(text, "/etc/open-mx/peers");
  if (!peers) return check_message(peers.error().message);
  std::string printed;
  runtime::PeerTable table;
  for (const runtime::Peer& p : *peers) {
    printed += mac_format(p.nic) + " " + p.name + "\n";
    table.set(p.nic, p.name);
  }
  const auto again = runtime::peers_parse(printed, "again");
  REQUIRE(again && again->size() == peers->size());
  for (std::size_t i = 0; i < peers->size(); i++) {
    const runtime::Peer& p = (*peers)[i];
    REQUIRE((*again)[i].nic == p.nic && (*again)[i].name == p.name);
    REQUIRE(table.find(p.name)->nic == p.nic);
    REQUIRE(table.find(p.nic)->name == p.name);
  }
}

void check_interfaces(const std::string& text) {
  std::vector<link::Interface> all(3);
  const char* const names[] = {"lo", "eth0", "br0"};
  for (std::uint32_t i = 0; i < 3; i++) {
    all[i].name = names[i];
    all[i].index = i + 1;
    all[i].up = all[i].running = true;
  }
  all[0].loopback = true;
  all[1].ethernet = all[2].ethernet = true;
  all[1].nic = 0x024f4d580001;
  all[1].pci_address = "0000:3b:00.0";
  all[1].speed_mbps = 25000;
  all[1].addresses = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, 1},
                      {0xFD, 0x4F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  all[2].virtual_kind = true;
  all[2].kind = "bridge";
  const auto choices = link::interfaces_choose(all, text);
  if (!choices) return check_message(choices.error().message);
  REQUIRE(choices->size() == all.size());
  for (const link::Choice& c : *choices) check_message(c.reason);
}

// Checks a list of boards for each endpoint. The number of a board is its place.
void check_rails(const std::string& text) {
  std::vector<runtime::Board> boards(3);
  const char* const names[] = {"lo", "eth0", "eth1"};
  for (std::uint32_t i = 0; i < 3; i++) {
    boards[i].number = i;
    boards[i].interface.name = names[i];
    boards[i].interface.loopback = i == 0;
    boards[i].interface.ethernet = i != 0;
    boards[i].interface.up = boards[i].interface.running = true;
    boards[i].mac = 0x024f4d580000 + i;
    boards[i].interface.speed_mbps = 10000 * i;
  }
  for (const runtime::Board& board : boards) {
    const auto rails = runtime::rails_choose(boards, board, text);
    if (!rails) {
      check_message(rails.error().message);
      continue;
    }
    for (const runtime::Board* rail : *rails)
      REQUIRE(rail != &board && !rail->interface.loopback && !board.interface.loopback);
    // Every board that is a rail has the same rails.
    for (const runtime::Board* rail : *rails)
      REQUIRE(runtime::rails_choose(boards, *rail, text)->size() == rails->size());
  }
}

void check_bindings(const std::string& text) {
  const auto lines = steering::binding_file_parse(text, "/tmp/bindings");
  if (!lines) return check_message(lines.error().message);
  std::string printed;
  for (const steering::BindingLine& l : *lines) {
    REQUIRE(!l.processors.empty() && l.endpoint < 256);
    printed += "board " + mac_format(l.board) + " ep " + std::to_string(l.endpoint) + " irq - mask " +
               cpu_mask_text(l.processors) + "\n";
  }
  const auto again = steering::binding_file_parse(printed, "again");
  REQUIRE(again && again->size() == lines->size());
  for (std::size_t i = 0; i < lines->size(); i++) REQUIRE((*again)[i].processors == (*lines)[i].processors);
}

void check_mac(const std::string& text) {
  const auto nic = mac_parse(text);
  if (nic) REQUIRE(mac_parse(mac_format(*nic)) == nic);
}

void check(std::uint8_t what, const std::string& text) {
  switch (what) {
    case 'f':
      return check_settings(text, {});
    case 'e':
      return check_environment(text);
    case 'x':
      return check_prefix(text);
    case 'p':
      return check_peers(text);
    case 'i':
      return check_interfaces(text);
    case 'r':
      return check_rails(text);
    case 'b':
      return check_bindings(text);
    case 'm':
      return check_mac(text);
    default:
      return;
  }
}

}  // namespace
}  // namespace omx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size > 0) omx::fuzz::check(bytes[0], std::string(reinterpret_cast<const char*>(bytes) + 1, size - 1));
  return 0;
}
