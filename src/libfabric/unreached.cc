// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/unreached.h"

#include <fmt/format.h>

#include <exception>
#include <string>

#include "base/log.h"
#include "libfabric/domain.h"
#include "libfabric/endpoint.h"
#include "libfabric/parameters.h"
#include "libfabric/provider.h"
#include "runtime/board/resolver.h"

namespace omx::fabric {

namespace {

// Returns the reason in words. `advice` is the runtime's.
std::string no_connection_reason(protocol::Status status, const std::string& advice, bool ended,
                                 protocol::TimeNs patience) {
  if (ended)
    return "its conversation with this process has ended; insert its address again (fi_av_insert) to begin "
           "another one";
  switch (status) {
    case protocol::Status::bad_endpoint:
    case protocol::Status::endpoint_closed:
    case protocol::Status::bad_session:
      return "no such endpoint is open there any more, as its process has ended or closed it";
    case protocol::Status::bad_key:
      return "it is open, but not by a program that uses libfabric";
    case protocol::Status::no_resources:
      return "it has no room for another peer";
    default:
      if (!advice.empty())
        return fmt::format("no answer within {} ms (FI_OMX_CONNECT_TIMEOUT); unless that host is down: {}",
                           patience / protocol::kMillisecond, advice);
      return fmt::format(
          "no answer within {} ms (FI_OMX_CONNECT_TIMEOUT): its process has ended, its host is down, or the "
          "two interfaces are not on one network (name others with FI_OMX_IFACE)",
          patience / protocol::kMillisecond);
  }
}

}  // namespace

protocol::TimeNs Unreached::connect_patience() {
  return parameters().connect_ms * protocol::kMillisecond;
}

void Unreached::tell(const protocol::Peer* peer, protocol::Status status, bool ended,
                     protocol::TimeNs patience) {
  try {
    const protocol::PeerInfo to = protocol::peer_info(peer);
    runtime::Endpoint& from = endpoint_.runtime_endpoint();
    const auto& interface = endpoint_.domain().board().interface;
    const NicId own = interface.nic;
    const std::string text =
        fmt::format("{}: no connection from {} to {}: {}", interface.name,
                    runtime::by_udp(own) ? runtime::address_name(own) : mac_format(own),
                    from.peer_text(to.nic, to.endpoint),
                    no_connection_reason(status, from.silence_advice(to.nic), ended, patience));
    warn(FI_LOG_EP_CTRL, text);
    if (!endpoint_.closing() && told_.insert(peer).second) log(LogLevel::warn, "{}", text);
  } catch (const std::exception& e) {
    warn(FI_LOG_EP_CTRL, e.what());
  }
}

}  // namespace omx::fabric
