// SPDX-License-Identifier: BSD-3-Clause
#include "steering/binding_setting.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cpu_list.h"

namespace omx::steering {

namespace {

constexpr std::string_view kAll = "all:", kFile = "file:";

}  // namespace

std::optional<BindingSetting> binding_setting_parse(std::string_view text) {
  BindingSetting setting;
  if (text == "off" || text == "no" || text == "none") return setting;
  if (text == "auto") {
    setting.mode = BindingMode::automatic;
    return setting;
  }
  if (text == "file" || (text.starts_with(kFile) && text.size() > kFile.size())) {
    setting.mode = BindingMode::file;
    if (text != "file") setting.path = text.substr(kFile.size());
    return setting;
  }
  const bool all = text.starts_with(kAll);
  setting.mode = BindingMode::listed;
  setting.processors = cpu_list_parse(all ? text.substr(kAll.size()) : text);
  if (setting.processors.empty() || (all && setting.processors.size() > 1)) return std::nullopt;
  return setting;
}

std::string binding_setting_text(const BindingSetting& setting) {
  switch (setting.mode) {
    case BindingMode::off:
      break;
    case BindingMode::automatic:
      return "auto";
    case BindingMode::file:
      return setting.path == kBindingFile ? "file" : fmt::format("{}{}", kFile, setting.path);
    case BindingMode::listed:
      if (setting.processors.size() == 1) return fmt::format("{}{}", kAll, setting.processors[0]);
      // The order of the processors matters, so only an ascending list has a shorter form.
      if (std::is_sorted(setting.processors.begin(), setting.processors.end()))
        return cpu_list_text(setting.processors);
      return fmt::format("{}", fmt::join(setting.processors, ","));
  }
  return "off";
}

}  // namespace omx::steering
