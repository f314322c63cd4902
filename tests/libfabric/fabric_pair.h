// SPDX-License-Identifier: BSD-3-Clause
// Two endpoints of libfabric on the two ends of a virtual cable (domains v0 and v1), as an application opens
// them: through libfabric, which finds the provider by FI_PROVIDER_PATH.
#pragma once

#include <gmock/gmock.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/test_network.h"

namespace omx::fabric::test {

using Bytes = std::vector<std::byte>;
Bytes pattern(std::size_t size, unsigned seed);

struct InfoFree {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, InfoFree>;

// Returns hints for this provider with everything else left open.
Info hints(std::uint64_t caps = 0);
// Returns the answer for the board of that name. nullptr: there is none.
Info info_of(const std::string& board, const fi_info* hints, std::uint32_t version = FI_VERSION(1, 17));

// An open endpoint and all that belongs to it.
struct End {
  Info info;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* av = nullptr;
  fid_cq* cq = nullptr;
  fid_ep* ep = nullptr;

  struct Options {
    std::uint64_t caps = 0;
    fi_cq_format format = FI_CQ_FORMAT_TAGGED;
    fi_wait_obj wait = FI_WAIT_NONE;
    std::uint64_t bind = FI_TRANSMIT | FI_RECV;
    std::size_t tx_size = 0;
    std::uint64_t op_flags = 0;
    bool enable = true;
  };
  void open(const std::string& board) { open(board, Options{}); }
  void open(const std::string& board, const Options& options);
  // Opens an offer.
  void open(Info offered, const Options& options);
  void close();
  ~End() { close(); }

  Bytes name() const;
  // Inserts the address of the other end.
  fi_addr_t learn(const End& other) const;
  fi_addr_t learn(const Bytes& name) const;
};

// An entry or an error that was read from a queue.
struct Event {
  fi_cq_tagged_entry good{};
  fi_cq_err_entry error{};
  bool failed = false;
  fi_addr_t source = FI_ADDR_NOTAVAIL;
};

class FabricTest : public testing::Test {
 protected:
  // Makes a network namespace with the cable, once for the whole program, because boards are searched for
  // once.
  void SetUp() override;
  void TearDown() override;
  void open() { open(End::Options{}); }
  void open(const End::Options& options);

  // Drives both ends until the condition holds. Returns false after a minute.
  bool drive_until(const std::function<bool()>& condition);
  // Returns the next event of the end. The expectation fails if there is none.
  Event next(End& end);
  // Returns the event of the context, whatever comes before it.
  Event ended(End& end, void* context);
  bool quiet(End& end);  // returns whether nothing comes for a while

  // Sends data, which live as long as the test.
  void send(End& from, fi_addr_t to, Bytes data, std::uint64_t tag, void* context = nullptr);
  void receive(End& at, Bytes& memory, std::uint64_t tag, std::uint64_t ignore = 0, void* context = nullptr,
               fi_addr_t from = FI_ADDR_UNSPEC);
  // Sends one message from a to b, after which the two are connected.
  void meet();

  End a, b;
  bool a_moves = true;  // false: another thread drives a
  fi_addr_t a_to_b = FI_ADDR_NOTAVAIL, b_to_a = FI_ADDR_NOTAVAIL;

 private:
  void move(End& end);
  std::vector<std::pair<End*, Event>> kept_;
  std::deque<Bytes> sent_;
};

}  // namespace omx::fabric::test
