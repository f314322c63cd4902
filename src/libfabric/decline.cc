// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/decline.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>

#include "base/log.h"
#include "base/messages/catalogue.h"
#include "base/text.h"
#include "base/text_file.h"
#include "config/settings.h"
#include "config/settings_environment.h"
#include "libfabric/capabilities.h"
#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

constexpr std::size_t kToldMost = 16;

// Variables that tell MPI libraries which provider to use. Open MPI does not put the name into its hints,
// and chooses among all that is offered.
constexpr const char* kChoices[] = {"OMPI_MCA_mtl_ofi_provider_include", "OMPI_MCA_btl_ofi_provider_include",
                                    "OMPI_MCA_opal_common_ofi_provider_include", "I_MPI_OFI_PROVIDER"};

bool is_us(std::string_view name) {
  const std::string_view ours = g_provider.name;
  return std::equal(name.begin(), name.end(), ours.begin(), ours.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  });
}

// Returns whether the list, with commas or semicolons, has our name in it. "^" before a list excludes.
bool names_us(const char* list) {
  if (!list || *list == '^') return false;
  std::string words = list;
  std::replace(words.begin(), words.end(), ';', ',');
  const auto all = list_words(words);
  return std::any_of(all.begin(), all.end(), is_us);
}

bool environment_names_us() {
  return std::any_of(std::begin(kChoices), std::end(kChoices),
                     [](const char* variable) { return names_us(std::getenv(variable)); });
}

bool settings_present() {
  if (runtime::settings_in_environment()) return true;
  for (char** entry = environ; entry && *entry; entry++)
    if (std::string_view(*entry).starts_with("FI_OMX_")) return true;
  return false;
}

// Returns whether FI_PROVIDER_PATH led libfabric to a folder that holds no provider but this one. A folder of
// many does not say which of them is meant.
bool folder_is_ours() {
  const char* const path = std::getenv("FI_PROVIDER_PATH");
  Dl_info about{};
  if (!path || !*path || !::dladdr(&g_provider, &about) || !about.dli_fname) return false;
  const auto files = folder_list(std::filesystem::path(about.dli_fname).parent_path().string());
  return std::count_if(files.begin(), files.end(),
                       [](const std::string& name) { return name.ends_with("fi.so"); }) == 1;
}

// Returns whether this reason is to be printed. Each is printed once, and a process prints a limited number.
bool first_time(const std::string& why) {
  static auto* const mutex = new std::mutex;
  static auto* const told = new std::set<std::string>;
  const std::lock_guard guard(*mutex);
  return told->size() < kToldMost && told->insert(why).second;
}

std::atomic<bool> g_served{false};

void say(const std::string& why, fi_log_level shown_at) {
  if (fi_log_enabled(&g_provider, shown_at, FI_LOG_CORE) || !first_time(why)) return;
  log_plain(LogLevel::warn, "libfabric provider omx: " + messages::tag(why) + why);
}

}  // namespace

Caller caller_of(const fi_info* hints, std::uint64_t flags) {
  if (flags & kCoreOnly) return Caller::looks_around;
  if (hints && hints->fabric_attr && hints->fabric_attr->prov_name)
    return names_us(hints->fabric_attr->prov_name) ? Caller::names_us : Caller::looks_around;
  if (names_us(std::getenv("FI_PROVIDER"))) return Caller::names_us;
  if (!hints || !hints->caps) return Caller::looks_around;
  if (environment_names_us()) return Caller::names_us;
  constexpr std::uint64_t kOurs = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
  const bool could = (hints->caps & kOurs) && !(hints->caps & ~kCaps);
  return could && (settings_present() || folder_is_ours()) ? Caller::may_mean_us : Caller::looks_around;
}

void decline(const std::string& why, Caller caller) {
  FI_WARN(&g_provider, FI_LOG_CORE, "%s\n", why.c_str());
  if (caller != Caller::looks_around) say(why, FI_LOG_WARN);
}

void decline_request(const std::string& why, Caller caller) {
  info(FI_LOG_CORE, why);
  if (caller == Caller::names_us && !g_served.load(std::memory_order_relaxed)) say(why, FI_LOG_INFO);
}

void request_served() {
  g_served.store(true, std::memory_order_relaxed);
}

}  // namespace omx::fabric
