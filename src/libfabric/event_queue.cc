// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/event_queue.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "libfabric/fence.h"
#include "libfabric/object_calls.h"
#include "libfabric/provider.h"

namespace omx::fabric {

EventQueue::EventQueue(Fabric& fabric, WaitEvent event, bool has_descriptor)
    : fid_eq{}, fabric_(fabric), event_(std::move(event)), has_descriptor_(has_descriptor) {
  fabric_.references.add();
}

EventQueue::~EventQueue() {
  fabric_.references.drop();
}

void EventQueue::added() {
  if (events_.size() == 1) event_.signal();
  arrived_.notify_one();
}

void EventQueue::removed() {
  if (events_.empty()) event_.clear();
}

void EventQueue::push(std::uint32_t event, const void* data, std::size_t length) {
  const auto* bytes = static_cast<const std::byte*>(data);
  const std::lock_guard guard(mutex_);
  events_.push_back({event, false, {}, {bytes, bytes + length}});
  added();
}

void EventQueue::push_error(const fi_eq_err_entry& error) {
  const std::lock_guard guard(mutex_);
  events_.push_back({0, true, error, {}});
  added();
}

ssize_t EventQueue::read_locked(std::uint32_t* event, void* out, std::size_t length, std::uint64_t flags) {
  if (events_.empty()) return -FI_EAGAIN;
  const Event& first = events_.front();
  if (first.error) return -FI_EAVAIL;
  if (length < first.data.size()) return -FI_ETOOSMALL;
  const std::size_t size = first.data.size();
  *event = first.number;
  if (size > 0) std::memcpy(out, first.data.data(), size);
  if (!(flags & FI_PEEK)) {
    events_.pop_front();
    removed();
  }
  return static_cast<ssize_t>(size);
}

ssize_t EventQueue::read(std::uint32_t* event, void* out, std::size_t length, std::uint64_t flags) {
  const std::lock_guard guard(mutex_);
  return read_locked(event, out, length, flags);
}

ssize_t EventQueue::read_error(fi_eq_err_entry* out, std::uint64_t) {
  const std::lock_guard guard(mutex_);
  if (events_.empty() || !events_.front().error) return -FI_EAGAIN;
  *out = events_.front().fault;
  events_.pop_front();
  removed();
  return sizeof *out;
}

ssize_t EventQueue::wait(std::uint32_t* event, void* out, std::size_t length, int timeout_ms,
                         std::uint64_t flags) {
  std::unique_lock guard(mutex_);
  const auto some = [this] { return !events_.empty(); };
  if (timeout_ms < 0)
    arrived_.wait(guard, some);
  else if (!arrived_.wait_for(guard, std::chrono::milliseconds(timeout_ms), some))
    return -FI_EAGAIN;
  return read_locked(event, out, length, flags);
}

bool EventQueue::empty() {
  const std::lock_guard guard(mutex_);
  return events_.empty();
}

namespace {

EventQueue& queue_of(fid_eq* queue) {
  return static_cast<EventQueue&>(*queue);
}

EventQueue& queue_of(fid* object) {
  return queue_of(reinterpret_cast<fid_eq*>(object));
}

ssize_t read(fid_eq* queue, std::uint32_t* event, void* out, std::size_t length, std::uint64_t flags) {
  return queue_of(queue).read(event, out, length, flags);
}

ssize_t read_error(fid_eq* queue, fi_eq_err_entry* out, std::uint64_t flags) {
  return queue_of(queue).read_error(out, flags);
}

ssize_t write(fid_eq* queue, std::uint32_t event, const void* data, std::size_t length, std::uint64_t) {
  return fenced([&]() -> ssize_t {
    queue_of(queue).push(event, data, length);
    return static_cast<ssize_t>(length);
  });
}

ssize_t wait(fid_eq* queue, std::uint32_t* event, void* out, std::size_t length, int timeout,
             std::uint64_t flags) {
  return queue_of(queue).wait(event, out, length, timeout, flags);
}

const char* error_text(fid_eq*, int code, const void*, char* out, std::size_t length) {
  const char* text = fi_strerror(code);
  return text_give(text, out, length);
}

int close(fid* object) {
  EventQueue& queue = queue_of(object);
  if (queue.references.any()) return -FI_EBUSY;
  delete &queue;
  return 0;
}

int control(fid* object, int command, void* argument) {
  EventQueue& queue = queue_of(object);
  if (command != FI_GETWAIT) return -FI_ENOSYS;
  if (queue.descriptor() < 0) return -FI_ENODATA;
  *static_cast<int*>(argument) = queue.descriptor();
  return 0;
}

const fi_ops kOps = closing_ops(close, no_bind, control);
const fi_ops_eq kQueueOps = {sizeof(fi_ops_eq), read, read_error, write, wait, error_text};

}  // namespace

int event_queue_open(fid_fabric* fabric, fi_eq_attr* attr, fid_eq** opened, void* context) {
  return fenced([&] {
    const fi_wait_obj wait_object = attr ? attr->wait_obj : FI_WAIT_NONE;
    if (wait_object != FI_WAIT_NONE && wait_object != FI_WAIT_UNSPEC && wait_object != FI_WAIT_FD &&
        wait_object != FI_WAIT_YIELD)
      return refuse(FI_LOG_EQ, FI_ENOSYS,
                    "fi_eq_open: wait objects are FI_WAIT_FD, _UNSPEC, _YIELD and _NONE");
    WaitEvent event;
    if (!event.open())
      return refuse(FI_LOG_EQ, FI_EMFILE,
                    "fi_eq_open: no file descriptor is left; raise the limit (ulimit -n)");
    auto* queue = new EventQueue(*static_cast<Fabric*>(fabric), std::move(event), wait_object == FI_WAIT_FD);
    queue->fid = {FI_CLASS_EQ, context, table(kOps)};
    queue->ops = table(kQueueOps);
    *opened = queue;
    return 0;
  });
}

}  // namespace omx::fabric
