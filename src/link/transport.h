// SPDX-License-Identifier: BSD-3-Clause
// A transport moves frames; it is bound when an endpoint opens. Frames go in and out in batches. What only
// some transports can do is in facets, each in a header of its own.
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

// The optional parts of a transport, which live as long as the transport. A null pointer means that the
// transport lacks that part.
struct Facets {
  BulkPath* bulk_path = nullptr;
  UdpBulkPath* udp_bulk_path = nullptr;
  Wakeup* wakeup = nullptr;
  Ring* ring = nullptr;
  Datagram* datagram = nullptr;
};

// Only one thread at a time may use a transport and its facets. A forked child must not touch them.
class Transport : public wire::FrameSink {
 public:
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Hands up to `budget` frames to the handler and returns how many. The handler must not call receive() or
  // refresh(). Never blocks.
  virtual std::size_t receive(FrameHandler& handler, std::size_t budget) = 0;
  // Returns whether receive() would find something. It is the cheapest possible poll, for loops.
  virtual bool pending() = 0;
  // Returns a descriptor that polls readable when frames wait. refresh() may change it where other endpoints
  // share our hook. POLLERR says that the interface went down or away: call refresh(), which also makes
  // poll() sleep again.
  virtual int descriptor() const = 0;
  virtual const LinkCounters& counters() const = 0;
  // Also receives, from now on, frames for endpoints that are neither ours nor in this list, because no
  // process has them open. A transport that cannot tell ignores the call.
  virtual void hear_closed(const std::vector<std::uint8_t>&) {}

  // Returns what carries the frames, for people to read.
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

  // Sets the facets. To be called before any caller has the transport.
  void facets_set(const Facets& facets) { facets_ = facets; }

 private:
  const char* name_;
  InterfaceWatch& interface_;
  Facets facets_;
};

// Returns the facet's descriptor to sleep on, or -1 when the transport lacks the facet.
template <class Facet>
int descriptor_of(const Facet* facet) {
  return facet ? facet->descriptor() : -1;
}

}  // namespace omx::link
