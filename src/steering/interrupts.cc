// SPDX-License-Identifier: BSD-3-Clause
// Finds the interrupts of an interface and of its receive queues. Each driver has its own names for them:
// "eth0-TxRx-3", "mlx5_comp3@pci:0000:3b:00.0", "virtio1-input.0", "eth0".
#include "steering/interrupts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include "base/number.h"
#include "base/text.h"
#include "base/text_file.h"

namespace omx::steering {

namespace {

using Names = std::vector<std::string>;

// Returns number and names of each line of /proc/interrupts. Devices that share an interrupt have names with
// ", " between.
std::map<std::string, Names> interrupts_parse(std::string_view text) {
  std::map<std::string, Names> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.size() < 3 || words[0].back() != ':') continue;
    const std::string_view number = words[0].substr(0, words[0].size() - 1);
    if (!all_digits(number)) continue;
    Names& names = all[std::string(number)];
    for (std::size_t i = words.size(); i-- > 1;) {
      std::string_view name = words[i];
      const bool more = name.back() == ',';
      if (!names.empty() && !more) break;
      if (more) name.remove_suffix(1);
      names.emplace_back(name);
    }
  }
  return all;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Returns whether `name` contains the interface as a whole word. "eth1" is part of "ixgbe-eth1-TxRx-0", not
// of "eth10".
bool names_interface(std::string_view name, std::string_view interface) {
  for (std::size_t at = name.find(interface); at != std::string_view::npos;
       at = name.find(interface, at + 1)) {
    const std::size_t end = at + interface.size();
    const bool starts = at == 0 || !std::isalnum(static_cast<unsigned char>(name[at - 1]));
    const bool ends = end == name.size() || !std::isalnum(static_cast<unsigned char>(name[end]));
    if (starts && ends) return true;
  }
  return false;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// Returns the part of the name that identifies the queue. It lacks the interface, whose own name may contain
// "rx", and the PCI address.
std::string role_of(std::string_view name, std::string_view interface) {
  std::string role = lower(name.substr(0, name.find('@')));
  const std::string own = lower(interface);
  if (const std::size_t at = role.find(own); at != std::string::npos) role.erase(at, own.size());
  return role;
}

bool is_receive(const std::string& role) {
  for (const char* part : {"rx", "input", "comp", "-fp-", "-q", "_q"}) {
    if (contains(role, part)) return true;
  }
  return false;
}

// Returns the last number in `role`, as 3 in "mlx5_comp3". Returns 0 when there is none.
int queue_of(const std::string& role) {
  const std::size_t last = role.find_last_of("0123456789");
  if (last == std::string::npos) return 0;
  const std::size_t before = role.find_last_not_of("0123456789", last);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  int queue = 0;
  std::from_chars(role.data() + first, role.data() + last + 1, queue);
  return queue;
}

// Returns the message-signalled interrupts of the device, or of the PCI device below a virtio device.
std::set<std::string> msi_of(const std::string& root, const std::string& interface) {
  const std::string device = root + "/sys/class/net/" + interface + "/device";
  for (const char* folder : {"/msi_irqs", "/../msi_irqs"}) {
    const auto numbers = folder_list(device + folder);
    if (!numbers.empty()) return {numbers.begin(), numbers.end()};
  }
  return {};
}

}  // namespace

std::vector<Interrupt> interrupts_read(const std::string& root, const link::Interface& interface) {
  const std::set<std::string> msi = msi_of(root, interface.name);
  // On a host with hundreds of processors the file has megabytes.
  const std::string text = text_file_read(root + "/proc/interrupts", 64U << 20).value_or("");
  std::vector<Interrupt> found;
  std::vector<Interrupt> plain;  // interrupts for all purposes, with the interface's name
  for (const auto& [number, names] : interrupts_parse(text)) {
    for (const std::string& name : names) {
      if (!(msi.empty() ? names_interface(name, interface.name) : msi.count(number) > 0)) continue;
      const std::string role = role_of(name, interface.name);
      Interrupt interrupt;
      interrupt.number = number;
      interrupt.name = name;
      interrupt.queue = queue_of(role);
      const std::string folder = fmt::format("{}/proc/irq/{}", root, number);
      interrupt.allowed = line_read(folder + "/smp_affinity_list").value_or("");
      interrupt.effective = line_read(folder + "/effective_affinity_list").value_or("");
      if (is_receive(role)) {
        found.push_back(std::move(interrupt));
      } else if (name == interface.name) {
        plain.push_back(std::move(interrupt));
      }
      break;
    }
  }
  if (found.empty()) found = std::move(plain);
  std::stable_sort(found.begin(), found.end(),
                   [](const Interrupt& a, const Interrupt& b) { return a.queue < b.queue; });
  return found;
}

bool sysfs_shows(const std::string& root, const link::Interface& interface) {
  const std::string folder = root + "/sys/class/net/" + interface.name;
  const auto index = line_read(folder + "/ifindex");
  const auto address = line_read(folder + "/address");
  return index && address && *index == std::to_string(interface.index) &&
         (interface.nic == 0 || mac_parse(*address) == interface.nic);
}

}  // namespace omx::steering
