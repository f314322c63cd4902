// SPDX-License-Identifier: BSD-3-Clause
// A link on which no frame arrives, as a base for tests of one part of a link.
#pragma once

#include "link/transport.h"

namespace omx::runtime {

class QuietLink : public link::Transport, public link::InterfaceWatch {
 public:
  explicit QuietLink(NicId nic = 1, std::uint32_t mtu = 9000, const link::Facets& facets = {})
      : Transport("nothing", *this, facets), nic_(nic), mtu_(mtu) {}
  wire::TxFrame& frame_begin(std::uint32_t) override { return frame_; }
  void frame_commit() override {}
  void flush() override {}
  std::size_t receive(link::FrameHandler&, std::size_t) override { return 0; }
  bool pending() override { return false; }
  int descriptor() const override { return -1; }
  NicId nic() const override { return nic_; }
  std::uint32_t mtu() const override { return mtu_; }
  bool refresh() override { return true; }
  const link::LinkCounters& counters() const override { return counters_; }

 protected:
  wire::TxFrame frame_;

 private:
  NicId nic_;
  std::uint32_t mtu_;
  link::LinkCounters counters_;
};

}  // namespace omx::runtime
