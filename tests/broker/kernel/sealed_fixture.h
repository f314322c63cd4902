// SPDX-License-Identifier: BSD-3-Clause
// A NIC (v0) with everything that confines sealed sockets, a user without rights who holds some, and the
// other end of the cable (v1), where all that got out is seen.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/test_network.h"
#include "tools/broker/kernel/grant_map.h"
#include "tools/broker/kernel/macvlan.h"
#include "tools/broker/kernel/private_network.h"
#include "tools/broker/kernel/receive_program.h"
#include "tools/broker/kernel/seal.h"
#include "tools/broker/kernel/sealed_socket.h"

namespace omx::broker {

using link::Bytes;

inline constexpr std::uint8_t kEndpoint = 9;  // of the attacker

// Where the egress program is: at the macvlan and the NIC behind it, as on a confined board, or at the NIC
// alone.
enum class Place : std::uint8_t { macvlan, nic };

// The sockets of one endpoint.
struct Sealed {
  std::uint32_t slot = 0;
  std::uint8_t endpoint = 0;
  OwnFd data, wakeup;
  OwnFd classes;
  Classes* words = nullptr;  // as the user maps it
};

class SealedTest : public link::CableTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Puts the egress program there, and sets the macvlan up.
  void program_put(Place place);

  // Opens the sockets of an endpoint, with a ring at the data socket if that is wanted, and grants them.
  Sealed open(std::uint8_t endpoint, const SocketMemory& memory = {});
  Grant grant_of(const Sealed& sealed) const;
  void grant(const Sealed& sealed, const Grant& value) {
    ASSERT_EQ(grant_write(maps_, sealed.slot, value), 0);
  }
  GrantCounters counters(const Sealed& sealed) const;

  // Runs the attack as user 65534 in a forked process. Its failed expectations make the test fail.
  static void as_user(const std::function<void()>& attack);

  // Sends the frames as the user, and the last one behind them.
  void attack_by(const Sealed& sealed, const std::vector<Bytes>& frames) const;

  // A frame as an endpoint of ours may send it: with our address, and our endpoint at the place of its type.
  Bytes frame_from(std::uint8_t endpoint, unsigned type, std::size_t size = 64) const;
  // The last frame of an attack, which is a good one.
  Bytes last_from(std::uint8_t endpoint) const;
  // Returns the frames that came out at the other end of the cable, up to the last one, which is left out.
  // Fails if the last one does not come.
  std::vector<Bytes> arrived(std::uint8_t endpoint);

  // Sends from the other end of the cable to the macvlan.
  void peer_send(const Bytes& frame);
  // A frame of the peer for an endpoint here.
  Bytes frame_to(std::uint8_t endpoint, unsigned type, std::uint8_t flags = 0) const;
  // Returns the types of the frames in a socket.
  static std::vector<unsigned> types_in(const OwnFd& socket);

  Place place_ = Place::macvlan;  // before SetUp()
  Binding binding_ = Binding::loose;
  std::optional<Seal> seal_;
  std::optional<PrivateNetwork> network_;
  GrantMaps maps_;
  OwnFd program_, nic_program_;
  Macvlan macvlan_;
  OwnFd peer_;
  std::uint32_t next_slot_ = 100;
};

// Sends a frame. Returns 0 or errno.
int send_frame(const OwnFd& socket, const Bytes& frame);

// Sets the source endpoint at the place where a packet of this type has it.
void set_source(Bytes& frame, unsigned type, std::uint8_t endpoint);

inline constexpr unsigned kEndpointTypes[] = {35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 64, 65};

}  // namespace omx::broker
