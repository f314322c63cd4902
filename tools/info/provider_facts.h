// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether MPI programs would find the libfabric provider. libfabric prints nothing about a provider
// that it cannot load.
#pragma once

#include <cstdint>
#include <string>

namespace omx::tools {

struct ProviderFacts {
  std::string file;     // empty: there is none
  bool found = false;   // libfabric finds it with this environment
  std::string problem;  // why it cannot be loaded
  // The interface of libfabric that it was built with, and the newest of the libfabric that it was loaded
  // with. 0: not known.
  std::uint32_t built_with = 0, loaded_with = 0;
};

ProviderFacts provider_facts_find();
std::string provider_text(const ProviderFacts& facts);

}  // namespace omx::tools
