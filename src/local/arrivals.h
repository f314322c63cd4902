// SPDX-License-Identifier: BSD-3-Clause
// Where a hub reports what comes.
#pragma once

#include "local/place.h"
#include "wire/codec.h"

namespace omx::local {

// Called inside Hub::receive() and Hub::tick(), with the endpoint's lock held.
class Arrivals {
 public:
  // Takes a frame. Its bytes are valid during the call.
  virtual void on_local_frame(wire::Frame frame) = 0;
  // Called when a peer is gone, and all that it sent has been handed over.
  virtual void on_local_gone(const Place& peer) = 0;
  // Takes back a frame whose destination endpoint does not exist.
  virtual void on_local_refused(wire::Frame frame) = 0;

 protected:
  ~Arrivals() = default;
};

}  // namespace omx::local
