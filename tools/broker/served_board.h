// SPDX-License-Identifier: BSD-3-Clause
// A board that the broker serves: the private network that holds its macvlan, the egress program, and the
// voice of the board.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/own_fd.h"
#include "broker/message.h"
#include "link/packet/packet_ring.h"
#include "netdev/interface_state.h"
#include "netdev/interfaces_choose.h"
#include "tools/broker/board_voice.h"
#include "tools/broker/kernel/grant_map.h"
#include "tools/broker/kernel/macvlan.h"
#include "tools/broker/kernel/private_network.h"
#include "tools/broker/kernel/receive_program.h"
#include "tools/broker/policy.h"
#include "tools/broker/ring_pool.h"

namespace omx::broker {

// The grant for which a socket is made.
struct SocketPlace {
  std::uint32_t slot = 0;
  std::uint64_t cookie = 0;  // of the data socket, for a socket beside it
  int classes = -1;          // the map that the socket's filter reads
};

class ServedBoard {
 public:
  struct Plan {
    std::uint32_t number = 0;
    link::Choice choice;  // the NIC
    Mode mode = Mode::confined;
    bool passthru = false;
    std::string hostname;  // of the board, "host:number"
    BoardVoice::Ears ears;
  };
  // The parts that all boards use: the maps of the grants, and the folder where the private networks are
  // mounted, each by the name of its interface.
  struct Shared {
    const GrantMaps& maps;
    std::string networks;
  };
  // Sets the board up, or takes up what an earlier broker left. The maps must outlive the board.
  static Result<std::unique_ptr<ServedBoard>> open(Plan plan, const Shared& shared);

  const Plan& plan() const { return plan_; }
  const std::string& name() const { return plan_.choice.interface.name; }
  NicId nic() const { return nic_; }
  const link::InterfaceState& state() const { return state_; }
  std::uint32_t nic_index() const { return plan_.choice.interface.index; }
  BoardVoice* voice() const { return voice_.get(); }

  struct DataSocket {
    OwnFd socket;
    OwnFd classes;
    std::uint64_t cookie = 0;
  };
  // Makes a sealed data socket. It sends nothing before its grant is written.
  Result<DataSocket> data_make(SocketPlace place, const link::RingGeometry& ring);
  Result<OwnFd> beside_make(const SocketPlace& place, SocketKind kind) const;
  // Returns the cookies of all packet sockets in the board's network.
  Result<std::vector<std::uint64_t>> sockets_living() const;

  // Follows the NIC after a change. Returns whether the board works.
  bool refresh();
  // Removes everything from the kernel. Sockets that processes still have fall silent.
  void remove();

 private:
  ServedBoard(Plan plan, const Shared& shared, PrivateNetwork network)
      : plan_(std::move(plan)), shared_(shared), network_(std::move(network)) {}
  Result<void> set_up();
  void other_mode_remove() const;
  Result<void> hook_set() const;
  Result<void> voice_open();
  MacvlanOptions macvlan_options() const;
  Result<void> seal(int socket, const SocketPlace& place, std::size_t word) const;

  Plan plan_;
  const Shared shared_;
  PrivateNetwork network_;  // in trusted mode that of the host
  RingPool rings_{network_};
  NicId nic_ = 0;  // the source address of the board's frames
  link::InterfaceState state_;
  std::unique_ptr<BoardVoice> voice_;
  bool absent_ = false;  // the NIC is gone
};

}  // namespace omx::broker
