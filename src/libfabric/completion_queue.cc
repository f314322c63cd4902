// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/completion_queue.h"

#include <bit>
#include <cassert>
#include <climits>
#include <cstring>

#include "libfabric/domain.h"
#include "libfabric/fence.h"
#include "libfabric/object_calls.h"
#include "libfabric/provider.h"
#include "runtime/clock.h"

namespace omx::fabric {

namespace {

constexpr std::size_t kFirstSize = 128;
// While entries are waiting, one read in this many makes a turn of the domain.
constexpr unsigned kReadsPerTurn = 8;

std::size_t size_of(fi_cq_format format) {
  switch (format) {
    case FI_CQ_FORMAT_CONTEXT:
      return sizeof(fi_cq_entry);
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    default:
      return sizeof(fi_cq_tagged_entry);
  }
}

}  // namespace

CompletionQueue::CompletionQueue(Domain& domain, fi_cq_format format, std::size_t size)
    : fid_cq{}, Waitable(domain), entry_size_(size_of(format)) {
  const std::size_t entries = std::bit_ceil(std::clamp<std::size_t>(size, kFirstSize, 65536));
  ring_ = std::make_unique<Entry[]>(entries);
  mask_ = entries - 1;
}

void CompletionQueue::grow() {
  assert(count_.load(std::memory_order_relaxed) == mask_ + 1);
  const std::size_t entries = (mask_ + 1) * 2;
  auto ring = std::make_unique<Entry[]>(entries);
  for (std::size_t i = 0; i <= mask_; i++) ring[i] = ring_[(first_ + i) & mask_];
  ring_ = std::move(ring);
  mask_ = entries - 1;
  first_ = 0;
}

void CompletionQueue::push(const Entry& entry) {
  {
    const std::lock_guard guard(lock_);
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (count > mask_) grow();
    ring_[(first_ + count) & mask_] = entry;
    count_.store(count + 1, std::memory_order_release);
  }
  added_in_order();
}

ssize_t CompletionQueue::take(void* out, std::size_t count, fi_addr_t* sources) {
  if (empty()) return -FI_EAGAIN;
  const std::lock_guard guard(lock_);
  const std::size_t waiting = count_.load(std::memory_order_relaxed);
  if (waiting == 0) return -FI_EAGAIN;
  auto* to = static_cast<std::byte*>(out);
  std::size_t taken = 0;
  for (; taken < std::min(count, waiting); taken++) {
    const Entry& entry = ring_[first_];
    if (entry.error) break;
    std::memcpy(to, &entry.good, entry_size_);  // the shorter forms are beginnings of the longer ones
    to += entry_size_;
    if (sources) sources[taken] = entry.source;
    first_ = (first_ + 1) & mask_;
  }
  count_.store(waiting - taken, std::memory_order_release);
  emptied_.store(taken == waiting, std::memory_order_relaxed);
  if (taken == 0 && count > 0) return -FI_EAVAIL;
  return static_cast<ssize_t>(taken);
}

ssize_t CompletionQueue::read(void* out, std::size_t count, fi_addr_t* sources) {
  // A thread that drains the queue reads once more than it has entries, before it answers them. Such a read
  // does not poll links. A call without room for entries is there for progress alone.
  if (count > 0 && emptied_.load(std::memory_order_relaxed)) {
    emptied_.store(false, std::memory_order_relaxed);
    domain().progress(false);
  } else if (empty() || count == 0 || reads_.fetch_add(1, std::memory_order_relaxed) % kReadsPerTurn == 0)
    domain().progress();
  return take(out, count, sources);
}

std::optional<Entry> CompletionQueue::error_take() {
  const std::lock_guard guard(lock_);
  const std::size_t waiting = count_.load(std::memory_order_relaxed);
  if (waiting == 0 || !ring_[first_].error) return std::nullopt;
  const Entry entry = ring_[first_];
  first_ = (first_ + 1) & mask_;
  count_.store(waiting - 1, std::memory_order_release);
  return entry;
}

// Writes the sender's address. The kernel may have to be asked for an address of a socket. That takes longer
// than other threads may spin for the ring.
void CompletionQueue::error_data_give(const Address& unknown, fi_cq_err_entry& out) {
  std::array<std::byte, kAddressMost> written;
  std::size_t bytes = written.size();
  if (address_write(unknown, domain().address_format(), written.data(), &bytes) != 0) bytes = 0;
  if (out.err_data && out.err_data_size > 0) {
    out.err_data_size = std::min(out.err_data_size, bytes);
    std::memcpy(out.err_data, written.data(), out.err_data_size);
    return;
  }
  const std::lock_guard guard(lock_);
  error_data_ = written;
  out.err_data = error_data_.data();  // valid until the next read
  out.err_data_size = bytes;
}

ssize_t CompletionQueue::read_error(fi_cq_err_entry* out) {
  const auto entry = error_take();
  if (!entry) return -FI_EAGAIN;
  out->op_context = entry->good.op_context;
  out->flags = entry->good.flags;
  out->len = entry->good.len;
  out->buf = entry->good.buf;
  out->data = entry->good.data;
  out->tag = entry->good.tag;
  out->olen = entry->missing;
  out->err = entry->error;
  out->prov_errno = entry->provider_error;
  if (entry->error == FI_EADDRNOTAVAIL)
    error_data_give(entry->unknown, *out);
  else
    out->err_data_size = 0;
  return 1;
}

ssize_t CompletionQueue::wait_read(void* out, std::size_t count, fi_addr_t* sources, const void* condition,
                                   int timeout_ms) {
  const std::size_t least =
      has_threshold_ && condition ? std::max<std::size_t>(*static_cast<const std::size_t*>(condition), 1) : 1;
  ssize_t result = read(out, count, sources);
  if (result != -FI_EAGAIN) return result;
  const auto end = deadline_of(timeout_ms);
  bool signalled = false;
  while (result == -FI_EAGAIN && !signalled) {
    const auto now = runtime::clock_now();
    if (now >= end) break;
    wanted_.store(least, std::memory_order_relaxed);
    const auto left = (end - now) / protocol::kMillisecond + 1;
    signalled =
        wait(end == protocol::kNever ? -1 : static_cast<int>(std::min<protocol::TimeNs>(left, INT_MAX)));
    wanted_.store(1, std::memory_order_relaxed);
    result = take(out, count, sources);  // another thread may have been faster
  }
  return result;
}

namespace {

CompletionQueue& queue_of(fid_cq* queue) {
  return static_cast<CompletionQueue&>(*queue);
}

CompletionQueue& queue_of(fid* object) {
  return queue_of(reinterpret_cast<fid_cq*>(object));
}

ssize_t read(fid_cq* queue, void* out, std::size_t count) {
  return queue_of(queue).read(out, count, nullptr);
}

ssize_t read_from(fid_cq* queue, void* out, std::size_t count, fi_addr_t* sources) {
  return queue_of(queue).read(out, count, sources);
}

ssize_t read_error(fid_cq* queue, fi_cq_err_entry* out, std::uint64_t) {
  return queue_of(queue).read_error(out);
}

ssize_t wait_read(fid_cq* queue, void* out, std::size_t count, const void* condition, int timeout) {
  return fenced([&] { return queue_of(queue).wait_read(out, count, nullptr, condition, timeout); });
}

ssize_t wait_read_from(fid_cq* queue, void* out, std::size_t count, fi_addr_t* sources, const void* condition,
                       int timeout) {
  return fenced([&] { return queue_of(queue).wait_read(out, count, sources, condition, timeout); });
}

int signal(fid_cq* queue) {
  queue_of(queue).wake();
  return 0;
}

// Returns the text of a code of this provider. It is a protocol::Status, or the negative of what a peer
// answered to an access.
const char* error_text(fid_cq*, int code, const void*, char* out, std::size_t length) {
  if (code < 0) return text_give(fi_strerror(-code), out, length);  // what the peer answered
  const char* text = "unknown";
  switch (static_cast<protocol::Status>(code)) {
    case protocol::Status::success:
      text = "success";
      break;
    case protocol::Status::truncated:
      text = "the message was longer than the receive";
      break;
    case protocol::Status::cancelled:
      text = "cancelled";
      break;
    case protocol::Status::endpoint_unreachable:
      text = "the peer does not answer any more";
      break;
    case protocol::Status::timeout:
      text = "the peer never answered (is its host up, and on this Ethernet?)";
      break;
    case protocol::Status::bad_session:
      text = "the address belongs to a process that has ended";
      break;
    case protocol::Status::bad_endpoint:
    case protocol::Status::endpoint_closed:
      text = "the peer's endpoint is closed";
      break;
    case protocol::Status::bad_key:
      text = "the peer's endpoint belongs to another kind of program";
      break;
    case protocol::Status::rejected:
      text = "the peer cannot take such messages (it does not speak Open-MX's extensions)";
      break;
    case protocol::Status::bad_rdma_window:
      text = "no memory is registered there for that access";
      break;
    case protocol::Status::no_resources:
      text = "no memory";
      break;
    default:
      break;
  }
  return text_give(text, out, length);
}

int close(fid* object) {
  CompletionQueue& queue = queue_of(object);
  if (queue.references.any()) return -FI_EBUSY;
  delete &queue;
  return 0;
}

int control(fid* object, int command, void* argument) {
  return queue_of(object).control(command, argument);
}

const fi_ops kOps = closing_ops(close, no_bind, control);
const fi_ops_cq kQueueOps = {
    sizeof(fi_ops_cq), read, read_from, read_error, wait_read, wait_read_from, signal, error_text,
};

}  // namespace

int completion_queue_open(fid_domain* object, fi_cq_attr* attr, fid_cq** opened, void* context) {
  return fenced([&] {
    const fi_cq_attr none{};
    const fi_cq_attr& a = attr ? *attr : none;
    if (a.flags & ~std::uint64_t{FI_AFFINITY})
      return refuse(FI_LOG_CQ, FI_EBADFLAGS, "fi_cq_open: a flag is not known");
    if (a.format > FI_CQ_FORMAT_TAGGED || a.wait_cond > FI_CQ_COND_THRESHOLD)
      return refuse(FI_LOG_CQ, FI_ENOSYS, "fi_cq_open: the format or the wait condition is not known");
    const fi_cq_format format = a.format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : a.format;
    auto queue = std::make_unique<CompletionQueue>(domain_of(object), format, a.size);
    if (const int error = queue->wait_object_set(a.wait_obj)) return error;
    if (a.wait_cond == FI_CQ_COND_THRESHOLD) queue->threshold_used();
    queue->fid = {FI_CLASS_CQ, context, table(kOps)};
    queue->ops = table(kQueueOps);
    *opened = queue.release();
    return 0;
  });
}

}  // namespace omx::fabric
