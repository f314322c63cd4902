// SPDX-License-Identifier: BSD-3-Clause
// fi_eq: events about objects. Of our own objects only address vectors report events. Thread-safe.
#pragma once

#include <rdma/fi_eq.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "libfabric/fabric.h"
#include "libfabric/wait_event.h"

namespace omx::fabric {

class EventQueue : public fid_eq {
 public:
  EventQueue(Fabric& fabric, WaitEvent event, bool has_descriptor);
  ~EventQueue();

  // Add an event or an error. May throw when there is no memory.
  void push(std::uint32_t event, const void* data, std::size_t length);
  void push_error(const fi_eq_err_entry& error);

  // Answer fi_eq_read, fi_eq_readerr and fi_eq_sread.
  ssize_t read(std::uint32_t* event, void* out, std::size_t length, std::uint64_t flags);
  ssize_t read_error(fi_eq_err_entry* out, std::uint64_t flags);
  ssize_t wait(std::uint32_t* event, void* out, std::size_t length, int timeout_ms, std::uint64_t flags);
  // Returns the descriptor for FI_GETWAIT. -1: the application did not ask for one.
  int descriptor() const { return has_descriptor_ ? event_.descriptor() : -1; }
  bool empty();

  References references;

 private:
  struct Event {
    std::uint32_t number = 0;
    bool error = false;
    fi_eq_err_entry fault{};
    std::vector<std::byte> data;
  };

  void added();
  void removed();
  ssize_t read_locked(std::uint32_t* event, void* out, std::size_t length, std::uint64_t flags);

  Fabric& fabric_;
  WaitEvent event_;  // readable while something is in the queue
  bool has_descriptor_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Event> events_;
};

// Opens an event queue. Returns 0, or a negative error code whose reason is logged. Thread-safe.
int event_queue_open(fid_fabric* fabric, fi_eq_attr* attr, fid_eq** queue, void* context);

}  // namespace omx::fabric
