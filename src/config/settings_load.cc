// SPDX-License-Identifier: BSD-3-Clause
#include "config/settings_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "base/setting_text.h"
#include "base/text.h"
#include "base/text_file.h"
#include "config/settings_table.h"

namespace omx::runtime {

namespace {

constexpr int kMxFailure = 2;

bool has_key(const Tunable& tunable, std::string_view key) {
  if (!tunable.in_file) return false;
  const auto names = tunable_own_names(tunable);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return tunable_key(name) == key; });
}

const Tunable* tunable_find_key(std::string_view key) {
  const auto all = tunables();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Tunable& tunable) { return has_key(tunable, key); });
  return found == all.end() ? nullptr : &*found;
}

std::string unknown_key_text(std::string_view key) {
  std::string lower(key);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower.starts_with("omx_")) lower.erase(0, 4);
  if (tunable_find_key(lower)) return fmt::format("unknown key \"{}\"; write \"{}\"", shown(key), lower);
  std::vector<std::string> keys;
  for (const Tunable& tunable : tunables())
    if (tunable.in_file) keys.push_back(tunable_key(tunable.variable));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  if (const std::string_view meant = nearest_word(lower, views); !meant.empty())
    return fmt::format("unknown key \"{}\"; did you mean \"{}\"?", shown(key), meant);
  return fmt::format(
      "unknown key \"{}\"; keys are the variables that \"omx info --settings\" lists, without OMX_ and in "
      "lower case",
      shown(key));
}

void origin_set(Settings& settings, const Tunable& tunable, std::string origin) {
  settings.origins.resize(tunables().size());
  settings.origins[static_cast<std::size_t>(&tunable - tunables().data())] = std::move(origin);
}

Result<void> file_apply(const std::string& text, const std::string& path, Settings& settings) {
  std::map<const Tunable*, int> seen;
  for (const SettingLine& line : setting_lines(text)) {
    const auto bad = [&](const std::string& why) {
      return fail(kMxFailure, fmt::format("{}:{}: {}", shown(path, kPathShown), line.number, why));
    };
    if (!line.value) return bad(fmt::format("no '=' in \"{}\"; write \"key = value\"", shown(line.text)));
    const auto [key, value] = std::pair(line.key, *line.value);
    const Tunable* tunable = tunable_find_key(key);
    if (!tunable) return bad(unknown_key_text(key));
    const auto [entry, fresh] = seen.emplace(tunable, line.number);
    if (!fresh)
      return bad(fmt::format("\"{}\" was set in line {} already; remove one of the two", key, entry->second));
    if (!tunable->parse(value, settings)) {
      return bad(fmt::format("{} = \"{}\" is not accepted; give {}", key, shown(value), tunable->accepted()));
    }
    origin_set(settings, *tunable, fmt::format("{}:{}", shown(path, kPathShown), line.number));
  }
  return {};
}

// Applies the first name of MX that is set to a valid value. Other software owns those names, so they must
// not keep a program from starting.
void mx_names_apply(const GetEnv& getenv, const Tunable& tunable, Settings& settings) {
  for (const std::string& alias : tunable_mx_names(tunable)) {
    const char* value = getenv(alias.c_str());
    if (!value || !*value) continue;
    if (tunable.parse(value, settings)) return origin_set(settings, tunable, alias + " in the environment");
    settings.warnings.push_back(fmt::format("{}=\"{}\" in the environment has no effect; give {}", alias,
                                            shown(value), tunable.accepted()));
  }
}

Result<void> environment_apply(const GetEnv& getenv, Settings& settings) {
  for (const Tunable& tunable : tunables()) {
    if (!tunable.in_file) continue;  // OMX_CONFIG was handled before
    const auto names = tunable_own_names(tunable);
    const auto set = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return getenv(name.c_str()); });
    if (set == names.end()) {
      if (!settings.ignore_mx_env) mx_names_apply(getenv, tunable, settings);
      continue;
    }
    const std::string& name = *set;
    const char* const value = getenv(name.c_str());
    if (!tunable.parse(value, settings)) {
      return fail(kMxFailure,
                  fmt::format("{}=\"{}\" in the environment is not accepted; give {}, or unset it", name,
                              shown(value), tunable.accepted()));
    } else {
      origin_set(settings, tunable, name == tunable.variable ? "environment" : name + " in the environment");
    }
  }
  return {};
}

}  // namespace

Result<void> settings_read(const GetEnv& getenv, const std::string& path, Settings& settings) {
  const char* variable = getenv("OMX_CONFIG");
  std::string file = path;
  if (file.empty() && variable) file = variable;
  const bool named = !file.empty();
  if (path.empty() && variable) origin_set(settings, tunables().front(), "environment");
  if (!named) file = kDefaultConfigFile;

  const auto text = text_file_read(file);
  if (text) {
    settings.config_file = file;
    if (auto r = file_apply(*text, file, settings); !r) return r;
  } else if (named || text.error() != ENOENT) {
    return fail(
        kMxFailure,
        fmt::format("cannot read the configuration file {}: {}; correct OMX_CONFIG or its permissions",
                    shown(file, kPathShown), text_file_error(text.error())));
  }
  if (auto r = environment_apply(getenv, settings); !r) return r;
  settings.protocol.max_endpoints = settings.endpoints_max;
  return {};
}

Result<Settings> settings_load(const GetEnv& getenv, const std::string& path) {
  Settings settings;
  if (auto r = settings_read(getenv, path, settings); !r) return tl::unexpected(r.error());
  return settings;
}

}  // namespace omx::runtime
