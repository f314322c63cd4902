// SPDX-License-Identifier: BSD-3-Clause
// The three ways to submit to a real queue: two instructions on a mapped portal, and write().
#pragma once

#include <sys/types.h>

#include <functional>
#include <utility>

#include "base/fork_guard.h"
#include "base/own_fd.h"
#include "copy/portal.h"

namespace omx::copy {

struct CpuFeatures {
  bool movdir64b = false;
  bool enqcmd = false;
  bool waitpkg = false;
};
// CPUID leaf 7.
CpuFeatures cpu_features();

// One page of a device, mapped for writing. Unmapped with its owner, but not in a forked child, which did not
// inherit it and may have something else in its place.
class PortalPage {
 public:
  static constexpr std::size_t kBytes = 4096;  // more is refused with EINVAL

  PortalPage() = default;
  // Nothing is mapped on failure, with errno as mmap left it.
  explicit PortalPage(int fd);
  PortalPage(PortalPage&& other) noexcept : page_(std::exchange(other.page_, nullptr)), mark_(other.mark_) {}
  PortalPage& operator=(PortalPage&& other) noexcept {
    std::swap(page_, other.page_);
    std::swap(mark_, other.mark_);
    return *this;
  }
  ~PortalPage();

  bool mapped() const { return page_ != nullptr; }
  // Any aligned offset reaches the queue; another one each time keeps stores from waiting for each other.
  void* next();

 private:
  std::byte* page_ = nullptr;
  std::size_t offset_ = 0;
  ForkMark mark_;
};

// Dedicated queues. There is no answer to the store: whoever uses this keeps no more outstanding than the
// queue has entries.
class MovdirPortal final : public Portal {
 public:
  MovdirPortal(OwnFd fd, PortalPage page) : fd_(std::move(fd)), page_(std::move(page)) {}
  PortalAnswer submit(std::span<const DsaDescriptor> descriptors) override;
  std::size_t batch() const override { return 1; }
  const char* name() const override { return "portal, MOVDIR64B"; }

 private:
  OwnFd fd_;
  PortalPage page_;
};

// Shared queues: the instruction says whether there was room.
class EnqcmdPortal final : public Portal {
 public:
  EnqcmdPortal(OwnFd fd, PortalPage page) : fd_(std::move(fd)), page_(std::move(page)) {}
  PortalAnswer submit(std::span<const DsaDescriptor> descriptors) override;
  std::size_t batch() const override { return 1; }
  const char* name() const override { return "portal, ENQCMD"; }

 private:
  OwnFd fd_;
  PortalPage page_;
};

// Both kinds of queues, with file permissions only. One system call takes many descriptors.
class WriteFdPortal final : public Portal {
 public:
  using Write = std::function<ssize_t(int, const void*, std::size_t)>;

  // The descriptor must not block. `write` stands in for the system call in tests.
  explicit WriteFdPortal(OwnFd fd, Write write = {}) : fd_(std::move(fd)), write_(std::move(write)) {}
  PortalAnswer submit(std::span<const DsaDescriptor> descriptors) override;
  std::size_t batch() const override { return 32; }
  const char* name() const override { return "write()"; }

 private:
  OwnFd fd_;
  Write write_;
};

}  // namespace omx::copy
