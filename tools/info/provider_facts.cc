// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/provider_facts.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

namespace omx::tools {

namespace {

constexpr const char* kFile = "libomx-fi.so";

// Returns the folders in which libfabric looks for providers. It uses its own folder only if the variable is
// not set.
std::vector<std::string> folders_of_libfabric() {
  const char* path = ::secure_getenv("FI_PROVIDER_PATH");
  if (!path || !*path) return {OMX_LIBFABRIC_FOLDER};
  std::vector<std::string> folders;
  std::istringstream in(*path == '@' ? path + 1 : path);
  for (std::string folder; std::getline(in, folder, ':');) folders.push_back(folder);
  return folders;
}

// Returns the provider's folder in the build or installation to which this command belongs.
std::string folder_beside() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto prefix = self.parent_path().parent_path();
  for (const char* folder : {"lib/libfabric", OMX_PROVIDER_FOLDER}) {
    if (std::filesystem::exists(prefix / folder / kFile, error)) return prefix / folder;
  }
  return {};
}

// Returns "2.1" for FI_VERSION(2, 1).
std::string interface_text(std::uint32_t version) {
  return fmt::format("{}.{}", version >> 16, version & 0xFFFF);
}

}  // namespace

ProviderFacts provider_facts_find() {
  ProviderFacts facts;
  std::error_code error;
  for (const std::string& folder : folders_of_libfabric()) {
    const std::string file = folder + "/" + kFile;
    if (folder.empty() || !std::filesystem::exists(file, error)) continue;
    facts.file = file;
    facts.found = true;
    break;
  }
  if (!facts.found) {
    const std::string folder = folder_beside();
    if (!folder.empty()) facts.file = folder + "/" + kFile;
  }
  if (facts.file.empty()) return facts;
  void* const provider = ::dlopen(facts.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!provider) {
    facts.problem = ::dlerror();
    return facts;
  }
  // The second one is libfabric's own, which the provider depends on.
  if (const void* built = ::dlsym(provider, "omx_fi_interface"))
    facts.built_with = *static_cast<const std::uint32_t*>(built);
  if (void* const newest = ::dlsym(provider, "fi_version"))
    facts.loaded_with = reinterpret_cast<std::uint32_t (*)()>(newest)();
  return facts;
}

std::string provider_text(const ProviderFacts& facts) {
  if (facts.file.empty())
    return "none: Open-MX was built without libfabric (libfabric-dev), or its provider is not installed";
  if (!facts.problem.empty()) return fmt::format("cannot be loaded: {}", facts.problem);
  std::string text = facts.file;
  if (!facts.found)
    text += fmt::format(", which programs find with FI_PROVIDER_PATH={}",
                        std::filesystem::path(facts.file).parent_path().string());
  if (facts.built_with && facts.built_with < facts.loaded_with)
    text += fmt::format(
        "; built with libfabric {}, it serves no program that asks for a newer interface, up to the {} of "
        "this host; "
        "build it with that libfabric",
        interface_text(facts.built_with), interface_text(facts.loaded_with));
  return text;
}

}  // namespace omx::tools
