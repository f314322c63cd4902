// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/parameters.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/number.h"
#include "base/text.h"
#include "libfabric/capabilities.h"
#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

// Reads a number by our own parser. libfabric's takes "12abc" for a number and says nothing of "abc".
void number_read(const char* variable, std::size_t most, std::size_t& value, std::string& malformed) {
  const char* const text = std::getenv(variable);
  if (!text) return;
  const auto number = number_parse(text);
  if (number && *number > 0 && *number <= most)
    value = *number;
  else
    malformed =
        fmt::format("{}=\"{}\" is not accepted; give a number from 1 to {}", variable, shown(text), most);
}

Parameters parameters_read() {
  Parameters p;
  char* text = nullptr;
  if (fi_param_get_str(&g_provider, "iface", &text) == 0 && text) p.iface = text;
  if (fi_param_get_str(&g_provider, "link", &text) == 0 && text) p.link = text;
  std::size_t connect_ms = p.connect_ms;
  number_read("FI_OMX_CONNECT_TIMEOUT", 3'600'000, connect_ms, p.malformed);
  p.connect_ms = static_cast<unsigned>(connect_ms);
  number_read("FI_OMX_TX_SIZE", kQueueSizeMost, p.tx_size, p.malformed);
  return p;
}

}  // namespace

void parameters_define() {
  fi_param_define(&g_provider, "iface", FI_PARAM_STRING,
                  "Interfaces to use, separated by commas, best first (instead of OMX_INTERFACES)");
  fi_param_define(&g_provider, "link", FI_PARAM_STRING,
                  "What carries messages: ethernet, xdp, udp, udp4, udp6, or auto (instead of OMX_LINK)");
  fi_param_define(&g_provider, "connect_timeout", FI_PARAM_SIZE_T,
                  "Milliseconds until messages to an address that never answered fail (default 30000)");
  fi_param_define(
      &g_provider, "tx_size", FI_PARAM_SIZE_T,
      "Sends that may be under way by default before calls return FI_EAGAIN, beside those that wait "
      "for their receives (default 16384)");
}

const Parameters& parameters() {
  static const Parameters* const read = new Parameters(parameters_read());
  return *read;
}

}  // namespace omx::fabric
