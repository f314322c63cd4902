// SPDX-License-Identifier: BSD-3-Clause
// The provider's own settings, FI_OMX_* ("fi_info -e" lists them).
#pragma once

#include <cstddef>
#include <string>

namespace omx::fabric {

struct Parameters {
  std::string iface;             // instead of OMX_INTERFACES
  std::string link;              // instead of OMX_LINK
  unsigned connect_ms = 30'000;  // milliseconds that an address may stay silent if it never answered
  std::size_t tx_size = 16'384;  // sends under way before FI_EAGAIN, beside those that wait for receives
  std::string malformed;         // what is wrong with the settings; if there is anything, no board is offered
};

// Returns the settings, which are read from the environment by the first call. Thread-safe.
const Parameters& parameters();
// Declares the settings to libfabric. The entry point calls it once, before anything reads them.
void parameters_define();

}  // namespace omx::fabric
