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
// Reads the features from CPUID leaf 7.
CpuFeatures cpu_features();

// One page of a device, mapped for writing. A forked child does not inherit the mapping and may have
// something else in its place, so the page is not unmapped there.
class PortalPage {
 public:
  static constexpr std::size_t kBytes = 4096;  // the kernel refuses more with EINVAL

  PortalPage() = default;
  // Maps the page. On failure nothing is mapped, and errno is as mmap left it.
  explicit PortalPage(int fd);
  PortalPage(PortalPage&& other) noexcept : page_(std::exchange(other.page_, nullptr)), mark_(other.mark_) {}
  PortalPage& operator=(PortalPage&& other) noexcept {
    std::swap(page_, other.page_);
    std::swap(mark_, other.mark_);
    return *this;
  }
  ~PortalPage();

  bool mapped() const { return page_ != nullptr; }
  // Returns an address in the page. Any aligned offset reaches the queue. A different one each time keeps
  // stores from waiting for each other.
  void* next();

 private:
  std::byte* page_ = nullptr;
  std::size_t offset_ = 0;
  ForkMark mark_;
};

// Submits to dedicated queues. The store returns no status, so its user keeps no more outstanding than the
// queue has entries.
class MovdirPortal final : public Portal {
 public:
  MovdirPortal(OwnFd fd, PortalPage page) : fd_(std::move(fd)), page_(std::move(page)) {}
  PortalAnswer submit(std::span<const DsaDescriptor> descriptors) override;
  std::size_t batch() const override { return 1; }
  bool takes_lists() const override { return true; }
  const char* name() const override { return "portal, MOVDIR64B"; }

 private:
  OwnFd fd_;
  PortalPage page_;
};

// Submits to shared queues. The instruction returns whether there was room.
class EnqcmdPortal final : public Portal {
 public:
  EnqcmdPortal(OwnFd fd, PortalPage page) : fd_(std::move(fd)), page_(std::move(page)) {}
  PortalAnswer submit(std::span<const DsaDescriptor> descriptors) override;
  std::size_t batch() const override { return 1; }
  bool takes_lists() const override { return true; }
  const char* name() const override { return "portal, ENQCMD"; }

 private:
  OwnFd fd_;
  PortalPage page_;
};

// Submits to both kinds of queues, with file permissions only. One system call takes many descriptors.
class WriteFdPortal final : public Portal {
 public:
  using Write = std::function<ssize_t(int, const void*, std::size_t)>;

  // The descriptor must be non-blocking. `write` replaces the system call in tests.
  explicit WriteFdPortal(OwnFd fd, Write write = {}) : fd_(std::move(fd)), write_(std::move(write)) {}
  PortalAnswer submit(std::span<const DsaDescriptor> descriptors) override;
  std::size_t batch() const override { return 32; }
  const char* name() const override { return "write()"; }

 private:
  OwnFd fd_;
  Write write_;
};

}  // namespace omx::copy
