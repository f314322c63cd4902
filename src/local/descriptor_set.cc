// SPDX-License-Identifier: BSD-3-Clause
#include "local/descriptor_set.h"

namespace omx::local {

DescriptorSet::DescriptorSet() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

bool DescriptorSet::add(int fd) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void DescriptorSet::remove(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void DescriptorSet::mask(int fd, bool masked) {
  epoll_event event{};
  event.events = masked ? 0U : EPOLLIN;
  event.data.fd = fd;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

int DescriptorSet::ready(std::span<epoll_event> events) {
  return ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
}

}  // namespace omx::local
