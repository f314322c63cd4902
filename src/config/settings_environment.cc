// SPDX-License-Identifier: BSD-3-Clause
#include "config/settings_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>

#include "base/log.h"
#include "base/log_file.h"
#include "base/text.h"
#include "config/settings_load.h"
#include "config/settings_table.h"

namespace omx::runtime {

namespace {

constexpr std::string_view kPrefix = "OMX_";

// Names of Open-MX 1.x that mean nothing here, and names of our build, tests and lab. A '_' at the end
// stands for all names that begin so.
constexpr std::string_view kOthers[] = {
    "OMX_CONNECT_POLLALL",
    "OMX_DEBUG_",
    "OMX_FMA_",
    "OMX_IFACES",
    "OMX_MODULE_",
    "OMX_PRCACHE",
    "OMX_RCACHE",
    "OMX_VERBDEBUG",
    "OMX_TEST_",
    "OMX_TESTS",
    "OMX_LAB_",
    "OMX_BENCH",
    "OMX_BUILD_PACKAGES",
    "OMX_CHECK_PACKAGES",
    "OMX_FUZZ",
    "OMX_LTO",
    "OMX_SANITIZE",
    "OMX_WARNINGS",
    // Environment modules set this to the directory of the installation.
    "OMX_DIR",
    "OMX_HOME",
    "OMX_ROOT",
};

bool known(std::string_view name) {
  const auto settings = tunables();
  const auto is_name = [name](const Tunable& tunable) {
    const auto own = tunable_own_names(tunable), others = tunable_mx_names(tunable);
    return std::find(own.begin(), own.end(), name) != own.end() ||
           std::find(others.begin(), others.end(), name) != others.end();
  };
  const auto is_other = [name](std::string_view other) {
    return other.back() == '_' ? name.starts_with(other) : name == other;
  };
  return std::any_of(settings.begin(), settings.end(), is_name) ||
         std::any_of(std::begin(kOthers), std::end(kOthers), is_other);
}

// A privileged program (setuid, file capabilities) must not let its caller choose which files it reads or
// writes.
constexpr std::string_view kPaths[] = {"OMX_CONFIG", "OMX_PEERS_FILE", "OMX_LOG_FILE"};

// Values of these variables that begin so name a file, too.
constexpr std::string_view kBinding = "OMX_PROCESS_BINDING", kBindingPath = "file";
constexpr std::string_view kBroker = "OMX_BROKER", kBrokerPath = "/";

bool names_file(std::string_view name, std::string_view value) {
  return std::find(std::begin(kPaths), std::end(kPaths), name) != std::end(kPaths) ||
         (name == kBinding && value.starts_with(kBindingPath)) ||
         (name == kBroker && value.starts_with(kBrokerPath));
}

const char* variable_get(const char* name) {
  const char* value = std::getenv(name);
  return value && names_file(name, value) ? ::secure_getenv(name) : value;
}

// Warns once of each text. The set is never destroyed: a thread may still load settings at exit().
void warn_once(const std::string& text) {
  static auto* const mutex = new std::mutex;
  static auto* const told = new std::set<std::string>;
  {
    const std::lock_guard guard(*mutex);
    if (!told->insert(text).second) return;
  }
  log(LogLevel::warn, "{}", text);
}

}  // namespace

bool settings_in_environment() {
  for (const Tunable& tunable : tunables())
    if (std::getenv(tunable.variable)) return true;
  return false;
}

std::vector<std::string> settings_unknown(const char* const* environment) {
  std::vector<std::string_view> without_prefix;
  for (const Tunable& tunable : tunables())
    without_prefix.push_back(std::string_view(tunable.variable).substr(kPrefix.size()));
  std::vector<std::string> warnings;
  for (; *environment; environment++) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    if (equals == std::string_view::npos || !name.starts_with(kPrefix) || known(name)) continue;
    const std::string_view meant = nearest_word(name.substr(kPrefix.size()), without_prefix);
    warnings.push_back(
        meant.empty() ? fmt::format("{} is not a setting; omx info --settings lists them", shown(name))
                      : fmt::format("{} is not a setting; did you mean {}{}?", shown(name), kPrefix, meant));
  }
  return warnings;
}

Result<void> settings_read(Settings& settings) {
  auto result = settings_read(variable_get, "", settings);
  log_file_set(settings.log_file);
  for (const char* name : {"OMX_CONFIG", "OMX_PEERS_FILE", "OMX_PROCESS_BINDING", "OMX_LOG_FILE"}) {
    if (std::getenv(name) && !variable_get(name)) {
      settings.warnings.push_back(fmt::format(
          "{} has no effect in a program with privileges of its own (setuid, setcap); use the files "
          "in /etc/open-mx",
          name));
    }
  }
  for (const std::string& text : settings.warnings) warn_once(text);
  for (const std::string& text : settings_unknown(environ)) warn_once(text);
  return result;
}

Result<Settings> settings_load() {
  Settings settings;
  if (auto r = settings_read(settings); !r) return tl::unexpected(r.error());
  return settings;
}

}  // namespace omx::runtime
