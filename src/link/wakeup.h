// SPDX-License-Identifier: BSD-3-Clause
// The wake-up socket is a facet of a transport. It polls readable when a frame came with the solicited flag,
// which its sender set. During a stream of frames that no request waits for, a thread sleeps on it instead
// of the other descriptors.
#pragma once

namespace omx::link {

// The transport owns the socket. Only the thread that owns the transport may call it.
class Wakeup {
 public:
  virtual ~Wakeup() = default;
  // Opens the socket at the first call, because an open one costs every frame a little. Returns whether it
  // is open; false may be final, or mean that it is not ready yet.
  virtual bool open() = 0;
  // Returns the descriptor to sleep on, or -1 while the socket is not open.
  virtual int descriptor() const = 0;
  // Forgets the frames that woke the thread. To be called after the descriptor was readable.
  virtual void clear() = 0;
  // Returns whether the transport's own descriptors wake the thread as well. Then only the UDP bulk path is
  // left out of the sleep.
  virtual bool link_wakes() const { return false; }
};

// For a transport without such a socket, whose large messages go by the UDP bulk path. Where others listen
// for flagged frames, every frame of this transport wakes, flagged or not, and counts as flagged. The bulk
// path is left out, as one of those frames announces its data.
class LinkWakeup final : public Wakeup {
 public:
  bool open() override { return true; }
  int descriptor() const override { return -1; }
  void clear() override {}
  bool link_wakes() const override { return true; }
};

}  // namespace omx::link
