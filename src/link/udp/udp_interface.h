// SPDX-License-Identifier: BSD-3-Clause
// The interface that a UDP link is bound to by its address.
#pragma once

#include <cstdint>

#include "link/interface_watch.h"
#include "link/udp/udp_address.h"
#include "link/udp/udp_options.h"
#include "link/udp/udp_receiver.h"

namespace omx::link {

class UdpInterface final : public InterfaceWatch {
 public:
  // `receiver` must outlive the object.
  UdpInterface(const UdpLinkOptions& options, const InterfaceState& state, const InterfaceAddress& address,
               UdpReceiver& receiver)
      : options_(options), state_(state), address_(address), receiver_(receiver) {}

  std::uint32_t index() const { return state_.index; }
  NicId nic() const override { return udp_nic(address_.ip); }
  std::uint32_t mtu() const override { return udp_mtu(state_.mtu, address_); }
  bool refresh() override;
  Outage outage() const override { return outage_; }
  InterfaceState now() const override { return now_; }
  int follow() override;

 private:
  bool index_taken() const;
  bool address_back() const;

  UdpLinkOptions options_;
  InterfaceState state_;
  Outage outage_ = Outage::none;
  InterfaceState now_;  // if the interface is gone: what has its name
  InterfaceAddress address_;
  UdpReceiver& receiver_;
};

}  // namespace omx::link
