// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether MPI programs would find the libfabric provider. libfabric prints nothing about a provider
// that it cannot load.
#pragma once

#include <string>

namespace omx::tools {

struct ProviderFacts {
  std::string file;     // empty: there is none
  bool found = false;   // libfabric finds it with this environment
  std::string problem;  // why it cannot be loaded
};

ProviderFacts provider_facts_find();
std::string provider_text(const ProviderFacts& facts);

}  // namespace omx::tools
