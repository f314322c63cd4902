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
#include "tools/broker/kernel/packet_sockets.h"
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
  // Makes a sealed data socket, whose filter reads `classes`. It sends nothing before its grant is written.
  Result<DataSocket> data_make(SocketPlace place, const link::RingGeometry& ring, OwnFd classes);
  Result<OwnFd> beside_make(const SocketPlace& place, SocketKind kind) const;
  // Returns all packet sockets in the board's network, and in those of its predecessors.
  Result<std::vector<PacketSocket>> sockets() const;
  // Returns their cookies.
  Result<std::vector<std::uint64_t>> sockets_living() const;

  // Sets the egress program at the NIC again if another program removed it, and says so.
  void hook_check() const;
  // Follows the NIC after a change. Returns whether the board works.
  bool refresh();
  // Takes the board down for good: no endpoint can be opened any more. Its grants must be revoked. Sockets
  // that processes still have are silent, and sockets_living() still knows them.
  void retire();
  bool retired() const { return retired_; }
  // Takes the place of a retired board, whose sockets sockets_living() knows, too.
  void succeed(std::unique_ptr<ServedBoard> former);
  // Removes everything from the kernel. Sockets that processes still have fall silent. The program stays at
  // the NIC while it must keep them silent.
  void remove();

 private:
  ServedBoard(Plan plan, const Shared& shared, PrivateNetwork network)
      : plan_(std::move(plan)), shared_(shared), network_(std::move(network)) {}
  Result<void> set_up();
  void undo();
  void other_mode_remove() const;
  void nic_hook_remove() const;
  void network_remove();
  bool out(std::string why);
  bool has_own_address() const { return plan_.mode == Mode::confined && !plan_.passthru; }
  Result<void> state_read();
  Result<void> hooks_set() const;
  Result<void> voice_open();
  MacvlanOptions macvlan_options() const;
  Result<void> seal(int socket, const SocketPlace& place, std::size_t word) const;

  Plan plan_;
  const Shared shared_;
  PrivateNetwork network_;  // in trusted mode that of the host
  std::unique_ptr<RingPool> rings_ = std::make_unique<RingPool>(network_);
  std::unique_ptr<ServedBoard> former_;  // of this number, retired
  NicId nic_ = 0;                        // the source address of the board's frames
  link::InterfaceState state_;
  std::unique_ptr<BoardVoice> voice_;
  std::string outage_;         // why no endpoint can be opened; empty: the board works
  bool made_network_ = false;  // by this process
  bool made_macvlan_ = false;
  bool retired_ = false;
};

}  // namespace omx::broker
