// SPDX-License-Identifier: BSD-3-Clause
#include "link/ethernet/packet_bulk_path.h"

#include <cassert>

namespace omx::link {

bool PacketBulkPath::expect() {
  if (socket_.granted() && replacements_ != socket_.replacements()) reset();
  if (takes_ || refused_ || socket_.shared()) return takes_;
  refused_ = !admit();
  return takes_;
}

bool PacketBulkPath::admit() {
  assert(!takes_);
  assert(!socket_.shared());
  const PacketLinkOptions& options = socket_.options();
  if (options.all_frames || !options.bulk) return false;
  const InterfaceState& state = socket_.state();
  if (bulk_.is_open() ? !bulk_.admit(true) : !open(state)) return false;
  // Both sockets take pull replies until the next call. The engine drops duplicates.
  takes_ = socket_.filter_attach(FrameClass::eager) == 0;
  if (!takes_) bulk_.admit(false);
  return takes_;
}

bool PacketBulkPath::open(const InterfaceState& state) {
  replacements_ = socket_.replacements();
  if (GrantedSockets* const granted = socket_.granted()) return bulk_.open_granted(*granted, state.mtu);
  return bulk_.open(state.index, socket_.options().endpoint, state.mtu);
}

bool PacketBulkPath::forgo() {
  if (!takes_) return true;
  if (socket_.filter_attach(FrameClass::all) != 0)
    return false;  // one of the two sockets must take pull replies
  takes_ = false;
  bulk_.admit(false);  // otherwise pull replies come twice until the bulk socket is closed
  return true;
}

void PacketBulkPath::close() {
  if (takes_) return;
  bulk_.close();
  refused_ = false;
}

void PacketBulkPath::reset() {
  bulk_.close();
  takes_ = refused_ = false;
}

}  // namespace omx::link
