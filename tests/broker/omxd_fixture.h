// SPDX-License-Identifier: BSD-3-Clause
// A broker that runs as a process of its own, on a cable in a network of the test's own, and users without
// rights who ask it.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/granted_endpoint.h"
#include "broker/offers.h"
#include "tests/support/omxd_process.h"
#include "tests/support/test_network.h"
#include "tools/broker/kernel/grant_map.h"

namespace omx::broker {

inline constexpr uid_t kAlice = 60001, kBob = 60002;

class OmxdTest : public link::CableTest {
 public:
  // Starts the broker and waits until it serves.
  void start(const std::string& policy = "users = *\nboards = v0,v1\n");
  void policy_write(const std::string& policy) { omxd_.policy_write(policy); }
  void signal(int number) const;
  // Ends the broker with a signal, and returns its exit status, or minus the signal.
  int end(int number) { return omxd_.end(number); }
  int run_once(const std::string& arguments) const { return omxd_.run_once(arguments); }
  bool log_says(const std::string& text) const { return omxd_.log_says(text); }
  std::string log() const { return omxd_.log(); }
  std::string socket() const { return omxd_.socket(); }

  // Runs `work` as a user without any right in a forked process. Its failed expectations make the test fail.
  static void as_user(uid_t uid, const std::function<void()>& work);

  EndpointWish wish(const std::string& interface, std::uint8_t endpoint) const;
  // Opens a link by the broker, as the runtime does. Returns nullptr, with the reason, when it is refused.
  std::unique_ptr<link::Transport> link_open(const std::string& interface, std::uint8_t endpoint,
                                             std::string* why = nullptr) const;
  // Opens the maps of the program at the hook of the interface.
  std::optional<GrantMaps> maps_of(const std::string& interface) const;
  // Returns how many grants the kernel holds.
  std::size_t grants_in_kernel() const;
  // Returns how many descriptors the broker has open, without those of BPF maps.
  std::size_t broker_descriptors() const;
  // Returns how many BPF maps it has open. It keeps those of endpoints for the next ones of the same user.
  std::size_t broker_maps() const;
  // Returns whether the board of the interface has a private network.
  bool network_mounted(const std::string& interface) const;

 protected:
  void SetUp() override;

 private:
  std::size_t descriptors_count(bool maps) const;

  OmxdProcess omxd_{OMX_OMXD};
};

// Sends a frame from one link to an endpoint of the other's board, and returns whether it arrives.
bool frame_passes(link::Transport& from, std::uint8_t from_endpoint, link::Transport& to,
                  std::uint8_t endpoint);

}  // namespace omx::broker
