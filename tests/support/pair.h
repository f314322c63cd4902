// SPDX-License-Identifier: BSD-3-Clause
// Two endpoints of one process on the two ends of a virtual cable (boards v0 and v1). Their frames go through
// the kernel.
#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "background.h"
#include "runtime/process/process.h"
#include "test_network.h"

namespace omx::runtime {

using link::Background;
using link::becomes_true;
using protocol::OpError;
using protocol::Status;
using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t size, unsigned seed);

class PairTest : public link::CableTest {
 protected:
  void SetUp() override;
  // Returns the settings of the process that SetUp makes.
  virtual Settings settings();
  // Makes another process object, for tests that want several, or other settings.
  std::unique_ptr<Process> process_create(const Settings& settings);
  // Opens a_ and b_ in two process objects, so that neither's waits make progress for the other.
  void open_apart(const Settings& settings);
  static Endpoint* open(Process& process, const std::string& interface, std::uint32_t id = kAnyEndpoint,
                        OpenOptions options = {});

  // Waits until all other threads of this process sleep, as threads do that wait on an endpoint.
  static bool others_wait();

  // Drives both ends until the condition holds. Returns false after a minute.
  template <class Condition>
  bool drive_until(Condition condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      a_->progress();
      b_->progress();
      if (std::chrono::steady_clock::now() > limit) return false;
    }
    return true;
  }

  Completion complete(Endpoint& endpoint, Request* request);
  // Connects and drives both ends. Returns the address, or fails an expectation.
  Address connect(Endpoint& from, Endpoint& to);
  // Returns how many packets the endpoint has sent again, as a busy machine makes it do.
  static std::uint64_t resent(Endpoint& endpoint);
  Status connect_status(Endpoint& from, NicId nic, std::uint8_t endpoint, std::uint32_t key = 0);
  static Request* post(Endpoint& endpoint, Bytes& buffer, std::uint64_t match_info,
                       std::uint64_t mask = ~std::uint64_t{0});
  // Sends the caller's memory, or if forgotten a copy that lives longer than the endpoints: a forgotten
  // message does not tell when it has left.
  Request* send(Endpoint& endpoint, const Address& to, const Bytes& data, std::uint64_t match_info,
                bool forgotten = false);

 private:
  const Bytes& keep(const Bytes& data);

  std::mutex kept_mutex_;
  std::deque<Bytes> kept_;

 protected:
  bool opens_ = true;  // whether SetUp opens a_ and b_
  std::unique_ptr<Process> process_;
  std::unique_ptr<Process> other_;  // of b_, after open_apart()
  Endpoint* a_ = nullptr;
  Endpoint* b_ = nullptr;
};

}  // namespace omx::runtime
