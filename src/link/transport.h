// SPDX-License-Identifier: BSD-3-Clause
// A way to move frames, bound when an endpoint opens. Batch in, batch out. What only some transports can do
// is in facets, each in a header of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "link/bulk_path.h"
#include "link/datagram.h"
#include "link/frame_handler.h"
#include "link/interface_watch.h"
#include "link/link_counters.h"
#include "link/ring.h"
#include "link/udp_bulk_path.h"
#include "link/wakeup.h"
#include "wire/frame_io.h"

namespace omx::link {

// The optional parts of a transport; nullptr: it has none. They live as long as the transport.
struct Facets {
  BulkPath* bulk_path = nullptr;
  UdpBulkPath* udp_bulk_path = nullptr;
  Wakeup* wakeup = nullptr;
  Ring* ring = nullptr;
  Datagram* datagram = nullptr;
};

// One thread at a time may use a transport and its facets. A forked child must not touch it.
class Transport : public wire::FrameSink {
 public:
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Hands up to `budget` frames to the handler, which must not call receive or refresh; returns how many.
  // Never blocks.
  virtual std::size_t receive(FrameHandler& handler, std::size_t budget) = 0;
  // Whether receive() would find something: the cheapest possible poll, for loops.
  virtual bool pending() = 0;
  // A descriptor that polls readable when frames wait; refresh() may change it where others share our hook.
  // POLLERR says that the interface went down or away: call refresh(), which also makes poll() sleep again.
  virtual int descriptor() const = 0;
  virtual const LinkCounters& counters() const = 0;
  // Frames for endpoints that are neither ours nor among these are received, too, from now on: nobody has
  // them open. A transport that cannot tell goes on as it is.
  virtual void hear_closed(const std::vector<std::uint8_t>&) {}

  // What carries the frames, for people.
  const char* name() const { return name_; }
  InterfaceWatch& interface() const { return interface_; }
  BulkPath* bulk_path() const { return facets_.bulk_path; }
  UdpBulkPath* udp_bulk_path() const { return facets_.udp_bulk_path; }
  Wakeup* wakeup() const { return facets_.wakeup; }
  Ring* ring() const { return facets_.ring; }
  Datagram* datagram() const { return facets_.datagram; }

 protected:
  Transport(const char* name, InterfaceWatch& interface, const Facets& facets)
      : name_(name), interface_(interface), facets_(facets) {}

  // Before anybody has the transport.
  void facets_set(const Facets& facets) { facets_ = facets; }

 private:
  const char* name_;
  InterfaceWatch& interface_;
  Facets facets_;
};

// To sleep on; -1 when the transport has no such facet.
template <class Facet>
int descriptor_of(const Facet* facet) {
  return facet ? facet->descriptor() : -1;
}

}  // namespace omx::link
