// SPDX-License-Identifier: BSD-3-Clause
#include "copy/dsa_open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>

#include "copy/dsa_engine.h"
#include "copy/dsa_portals.h"

namespace omx::copy {

namespace {

constexpr int kNoDevice = 5;               // MX_NO_DEV
constexpr int kNoPermission = 7;           // MX_NO_PERM
constexpr int kBusy = 20;                  // MX_BUSY
constexpr TimeNs kAnswerNs = 100'000'000;  // a no-op takes a microsecond or two

int open_queue(const DsaSystem& system, const std::string& path) {
  if (system.open) return system.open(path);
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

tl::unexpected<Failure> open_failure(const DsaQueue& queue, int error) {
  const std::string what = fmt::format("{} cannot be opened ({})", queue.path, std::strerror(error));
  switch (error) {
    case EACCES:
    case EPERM:
      return fail(kNoPermission,
                  fmt::format("{}: chmod or chgrp it, in containers also pass the device in", what));
    case EBUSY:
      return fail(kBusy,
                  fmt::format("{}: it is {}; accel-config config-wq {}/{} --mode=shared lets many use it",
                              what, queue.shared ? "busy" : "dedicated and another process has it",
                              queue.device, queue.name));
    case ENOENT:
      return fail(kNoDevice, fmt::format("{}: pass the device into this container, or see udev", what));
    default:
      return fail(kNoDevice, what);
  }
}

// Returns a mapped portal, or null where the kernel (without CAP_SYS_RAWIO) or the processor does not offer
// one.
std::unique_ptr<Portal> portal_mapped(OwnFd& fd, bool shared) {
  const CpuFeatures cpu = cpu_features();
  if (shared ? !cpu.enqcmd : !cpu.movdir64b) return nullptr;
  PortalPage page(fd.get());
  if (!page.mapped()) return nullptr;
  if (shared) return std::make_unique<EnqcmdPortal>(std::move(fd), std::move(page));
  return std::make_unique<MovdirPortal>(std::move(fd), std::move(page));
}

// Moves the first queue of each device before any second one.
void spread(std::vector<DsaQueue>& queues) {
  std::map<std::string, int> seen;
  std::map<std::string, int> turn;
  for (const DsaQueue& queue : queues) turn[queue.name] = seen[queue.device]++;
  std::stable_sort(queues.begin(), queues.end(),
                   [&](const DsaQueue& a, const DsaQueue& b) { return turn[a.name] < turn[b.name]; });
}

}  // namespace

int dsa_probe(Portal& portal, TimeNs answer_ns, DsaSurroundings& surroundings) {
  // The record has a page of its own, because the device may still write it after the time-out.
  void* at = ::mmap(nullptr, sizeof(DsaRecord), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) return ENOMEM;
  auto* const record = static_cast<DsaRecord*>(at);
  const DsaDescriptor d = dsa_describe(DsaOpcode::no_op, kDsaCompletionValid | kDsaCompletionWanted, record);
  const TimeNs until = surroundings.now() + answer_ns;
  bool sent = false;
  for (unsigned times = 0;; times++) {
    if (!sent) {
      const PortalAnswer answer = portal.submit(std::span(&d, 1));
      if (answer.error) {
        ::munmap(at, sizeof(DsaRecord));
        return answer.error;
      }
      sent = answer.accepted == 1;
    }
    const std::uint8_t status = sent ? dsa_status(*record) : 0;
    if (status) {
      ::munmap(at, sizeof(DsaRecord));
      return status == static_cast<std::uint8_t>(DsaStatus::success) ? 0 : EIO;
    }
    if (surroundings.now() >= until) break;
    surroundings.wait(sent ? &record->status : nullptr, times);
  }
  if (!sent) ::munmap(at, sizeof(DsaRecord));
  return sent ? ETIMEDOUT : EAGAIN;
}

Result<OpenQueue> dsa_open(const DsaSystem& system, const DsaQueue& queue, TimeNs answer_ns,
                           DsaSurroundings& surroundings) {
  OwnFd fd(open_queue(system, queue.path));
  if (!fd.open()) return open_failure(queue, errno);
  OpenQueue open{queue, portal_mapped(fd, queue.shared)};
  if (!open.portal) open.portal = std::make_unique<WriteFdPortal>(std::move(fd));
  const int error = dsa_probe(*open.portal, answer_ns, surroundings);
  if (error == 0) return open;
  if (error == ETIMEDOUT) {
    return fail(kNoDevice, fmt::format("{} does not answer: a no-op by {} did not come back within {} ms",
                                       queue.path, open.portal->name(), answer_ns / 1'000'000));
  }
  return fail(
      error == EPERM || error == EACCES ? kNoPermission : kNoDevice,
      fmt::format("{} accepts no work by {} ({}): give the program CAP_SYS_RAWIO, with which it can map the "
                  "portal, or boot a kernel whose idxd driver takes write()",
                  queue.path, open.portal->name(), std::strerror(error)));
}

Result<std::vector<OpenQueue>> dsa_open_best(const DsaSystem& system, int numa_node, std::size_t most,
                                             DsaSurroundings& surroundings) {
  DsaFindings findings = dsa_find(system, numa_node);
  int code = kNoDevice;
  std::vector<OpenQueue> all;
  const auto try_open = [&](const DsaQueue& queue) {
    auto open = dsa_open(system, queue, kAnswerNs, surroundings);
    if (open) return all.push_back(std::move(*open));
    code = open.error().mx_code;
    findings.refusals.push_back(std::move(open.error().message));
  };
  auto next = findings.queues.begin();
  for (; next != findings.queues.end() && all.empty(); ++next) try_open(*next);
  if (all.empty()) return fail(code, fmt::format("{}", fmt::join(findings.refusals, "; ")));
  std::vector<DsaQueue> others(next - 1, findings.queues.end());
  spread(others);
  for (std::size_t i = 1; i < others.size() && all.size() < most; i++)
    if (others[i].numa_node == others[0].numa_node) try_open(others[i]);
  return all;
}

}  // namespace omx::copy
