// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/number.h"
#include "base/text_file.h"
#include "runtime/clock.h"

namespace omx::runtime {

namespace {

constexpr std::uint64_t kUnknownHost = 1ULL << 30;  // of memory, assumed if its size is unknown
constexpr std::uint64_t kBaseMost = 16U << 20;      // limit of endpoint_base()
constexpr std::uint64_t kBaseLeast = 1U << 20;
constexpr std::uint64_t kRetryAfterNs = 100'000'000;

std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto line = line_read(path);
  return line ? number_parse(*line) : std::nullopt;  // v2 says "max" where there is no limit
}

std::uint64_t host_total(const std::string& root) {
  const auto text = text_file_read(root + "/proc/meminfo");
  const std::size_t at = text ? text->find("MemTotal:") : std::string::npos;
  if (at == std::string::npos) return 0;
  const std::size_t from = text->find_first_of("0123456789", at);
  if (from == std::string::npos) return 0;
  const std::size_t end = text->find_first_not_of("0123456789", from);
  return number_parse(text->substr(from, end - from)).value_or(0) * 1024;
}

// Returns what is before the next separator, and takes it off with the separator.
std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view front = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return front;
}

// Returns the lowest limit of a control group and the groups around it.
std::uint64_t group_limit(const std::string& mount, std::string_view path, const char* file) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  // A group outside of what this process sees counts as the root.
  if (!path.starts_with('/') || path.find("..") != std::string_view::npos) path = {};
  if (path.ends_with('/')) path.remove_suffix(1);
  for (;;) {
    least = std::min(least, number_in(fmt::format("{}{}/{}", mount, path, file)).value_or(least));
    if (path.empty()) return least;
    path = path.substr(0, path.rfind('/'));
  }
}

bool lists(std::string_view controllers, std::string_view name) {
  while (!controllers.empty())
    if (cut(controllers, ',') == name) return true;
  return false;
}

}  // namespace

std::uint64_t memory_limit(const std::string& root) {
  const std::uint64_t total = host_total(root);
  std::uint64_t least = total > 0 ? total : std::numeric_limits<std::uint64_t>::max();
  const std::string text = text_file_read(root + "/proc/self/cgroup").value_or("");
  // Lines of "number:controllers:path"; version 2 names no controllers.
  for (std::string_view groups = text; !groups.empty();) {
    std::string_view path = cut(groups, '\n');
    cut(path, ':');
    const std::string_view controllers = cut(path, ':');
    if (controllers.empty())
      least = std::min(least, group_limit(root + "/sys/fs/cgroup", path, "memory.max"));
    else if (lists(controllers, "memory"))
      least = std::min(least, group_limit(root + "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
  }
  return least == std::numeric_limits<std::uint64_t>::max() ? 0 : least;
}

HostMemory::HostMemory(std::uint64_t quarter) : quarter_(quarter) {}

HostMemory& HostMemory::of_process() {
  // The object is never destroyed: endpoints may live until the process has ended. A forked child makes its
  // own one. It holds no part any more, and another thread of its parent may have held the mutex.
  static std::atomic<HostMemory*> memory{nullptr};
  HostMemory* present = memory.load(std::memory_order_acquire);
  while (!present || present->mark_.forked()) {
    const std::uint64_t limit = memory_limit();
    auto made = std::make_unique<HostMemory>((limit > 0 ? limit : kUnknownHost) / 4);
    if (memory.compare_exchange_strong(present, made.get(), std::memory_order_acq_rel))
      present = made.release();
  }
  return *present;
}

std::uint64_t HostMemory::endpoint_base() const {
  return std::clamp(quarter_ / 64, kBaseLeast, kBaseMost);
}

bool HostMemory::part_claim() {
  for (unsigned part = 0; part < kParts; part++) {
    if (parts_[part].held()) continue;
    auto claim = claim_memory(part);
    if (!claim || !claim->held()) continue;
    parts_[part] = std::move(*claim);
    held_ += part_bytes(part);
    return true;
  }
  return false;
}

bool HostMemory::take(std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  while (bytes > held_ - used_) {
    const std::uint64_t now = clock_now();
    if (now < refused_until_ && bytes >= refused_) return false;
    if (part_claim()) continue;
    refused_ = bytes;
    refused_until_ = now + kRetryAfterNs;
    parts_return();  // another process may need the parts that are not enough here
    return false;
  }
  used_ += bytes;
  return true;
}

void HostMemory::give(std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  used_ -= std::min<std::uint64_t>(bytes, used_);
  refused_until_ = 0;
  parts_return();
}

void HostMemory::parts_return() {
  for (unsigned part = kParts; part-- > 0;) {
    if (!parts_[part].held() || held_ - used_ < part_bytes(part)) continue;
    parts_[part] = Claim();
    held_ -= part_bytes(part);
  }
}

std::size_t HostMemory::available() const {
  const std::lock_guard guard(mutex_);
  const bool none = refused_until_ > 0 && clock_now() < refused_until_;
  return static_cast<std::size_t>((none ? held_ : quarter_) - used_);
}

}  // namespace omx::runtime
