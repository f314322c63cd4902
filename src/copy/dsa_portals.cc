// SPDX-License-Identifier: BSD-3-Clause
#include "copy/dsa_portals.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace omx::copy {

namespace {

#if defined(__x86_64__)

// Stores a descriptor, which returns no status. The fence comes first: the device must see the source and the
// zeroed record.
__attribute__((target("movdir64b"))) void store_direct(void* portal, const DsaDescriptor& descriptor) {
  _mm_sfence();
  _movdir64b(portal, &descriptor);
}

// Stores a descriptor. Returns whether the queue took it.
__attribute__((target("enqcmd"))) bool store_enqueue(void* portal, const DsaDescriptor& descriptor) {
  _mm_sfence();
  return _enqcmd(portal, &descriptor) == 0;
}

#else

void store_direct(void*, const DsaDescriptor&) {}
bool store_enqueue(void*, const DsaDescriptor&) {
  return false;
}

#endif

}  // namespace

CpuFeatures cpu_features() {
  CpuFeatures features;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return features;
  features.movdir64b = c >> 28 & 1;
  features.enqcmd = c >> 29 & 1;
  features.waitpkg = c >> 5 & 1;
#endif
  return features;
}

PortalPage::PortalPage(int fd) {
  void* at = ::mmap(nullptr, kBytes, PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (at != MAP_FAILED) page_ = static_cast<std::byte*>(at);
}

PortalPage::~PortalPage() {
  if (page_ && !mark_.forked()) ::munmap(page_, kBytes);
}

void* PortalPage::next() {
  void* const at = page_ + offset_;
  offset_ = (offset_ + sizeof(DsaDescriptor)) % kBytes;
  return at;
}

PortalAnswer MovdirPortal::submit(std::span<const DsaDescriptor> descriptors) {
  for (const DsaDescriptor& descriptor : descriptors) store_direct(page_.next(), descriptor);
  return {descriptors.size(), 0};
}

PortalAnswer EnqcmdPortal::submit(std::span<const DsaDescriptor> descriptors) {
  std::size_t accepted = 0;
  while (accepted < descriptors.size() && store_enqueue(page_.next(), descriptors[accepted])) accepted++;
  return {accepted, 0};
}

PortalAnswer WriteFdPortal::submit(std::span<const DsaDescriptor> descriptors) {
  if (descriptors.empty()) return {};
  const std::size_t bytes = descriptors.size_bytes();
  const ssize_t written =
      write_ ? write_(fd_.get(), descriptors.data(), bytes) : ::write(fd_.get(), descriptors.data(), bytes);
  if (written < 0) {
    // The driver retries some times before it returns EAGAIN.
    const bool full = errno == EAGAIN || errno == EINTR || errno == EBUSY;
    return {0, full ? 0 : errno};
  }
  // The driver takes whole descriptors. A part of one would mean that this is not such a device.
  const auto count = static_cast<std::size_t>(written);
  return {count / sizeof(DsaDescriptor), count % sizeof(DsaDescriptor) ? EPROTO : 0};
}

}  // namespace omx::copy
