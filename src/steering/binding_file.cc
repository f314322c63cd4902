// SPDX-License-Identifier: BSD-3-Clause
#include "steering/binding_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>

#include "base/cpu_list.h"
#include "base/number.h"
#include "base/own_fd.h"
#include "base/text.h"
#include "base/text_file.h"
#include "steering/binding_setting.h"

namespace omx::steering {

namespace {

constexpr int kMxFailure = 2;
constexpr std::uint64_t kEndpointMost = 255;
constexpr const char* kComment =
    "# Where Open-MX moves a thread that opens an endpoint, with OMX_PROCESS_BINDING=file. Written by omx\n"
    "# prepare-binding from the receive queues of this host as they were then; write it again when they "
    "change.\n"
    "# Of each line, board (MAC address), ep (endpoint number) and mask (processors, hexadecimal) count; irq "
    "is\n"
    "# the interrupt that brings the frames, \"-\" if it is none. The first endpoint of a processor that "
    "handles\n"
    "# frames is put there, further ones on processors that share a cache with it, each on its own while "
    "there is\n"
    "# one.\n";

std::optional<BindingLine> line_parse(const std::vector<std::string_view>& words) {
  constexpr std::array<std::string_view, 4> kKeys = {"board", "ep", "irq", "mask"};
  if (words.size() != 2 * kKeys.size()) return std::nullopt;
  for (std::size_t i = 0; i < kKeys.size(); i++)
    if (words[2 * i] != kKeys[i]) return std::nullopt;
  const auto board = mac_parse(words[1]);
  const auto endpoint = number_parse(words[3]);
  auto processors = cpu_mask_parse(words[7]);
  if (!board || !endpoint || *endpoint > kEndpointMost || processors.empty()) return std::nullopt;
  return BindingLine{*board, static_cast<std::uint32_t>(*endpoint), std::move(processors)};
}

bool only_ours(int fd) {
  struct stat about;
  return ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
         (about.st_uid == 0 || about.st_uid == ::geteuid()) && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Returns an unused processor: one of `near`, or else one that shares a cache with it. If all are used,
// returns all.
std::vector<int> next_free(const std::vector<int>& near, const std::function<std::vector<int>(int)>& beside,
                           std::set<int>& used) {
  std::vector<int> all = near;
  for (const int cpu : near)
    for (const int other : beside(cpu))
      if (std::find(all.begin(), all.end(), other) == all.end()) all.push_back(other);
  for (const int cpu : all)
    if (used.insert(cpu).second) return {cpu};
  return all;
}

}  // namespace

Result<std::vector<BindingLine>> binding_file_parse(std::string_view text, const std::string& path) {
  std::vector<BindingLine> lines;
  for (int number = 1; !text.empty(); number++) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, std::min(end, text.find('#'))));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    auto line = line_parse(words);
    if (!line) {
      return fail(kMxFailure,
                  fmt::format("{}:{} is not \"board MAC ep NUMBER irq NUMBER mask HEXADECIMAL\"; omx "
                              "prepare-binding writes such files",
                              shown(path, kPathShown), number));
    }
    lines.push_back(std::move(*line));
  }
  return lines;
}

Result<std::vector<BindingLine>> binding_file_read(const std::string& path, BindingTrust trust) {
  const std::string file = shown(path, kPathShown);
  const bool named = trust == BindingTrust::named;
  const OwnFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (named ? 0 : O_NOFOLLOW)));
  // O_NOFOLLOW reports a symbolic link as ELOOP.
  if (!named && (fd.open() ? !only_ours(fd.get()) : errno == ELOOP)) {
    return fail(kMxFailure,
                fmt::format("{0} is not a file that only root or this user may change; rm {0} (as "
                            "its owner, or root) && omx prepare-binding {0}",
                            file));
  }
  const auto text = text_file_read(fd);
  if (!text) {
    const bool none = text.error() == ENOENT;
    return fail(kMxFailure, fmt::format("cannot read {}: {}{}", file, text_file_error(text.error()),
                                        none ? "; omx prepare-binding " + file + " writes it" : ""));
  }
  return binding_file_parse(*text, path);
}

std::string binding_file_text(const std::vector<BindingBoard>& boards, std::uint32_t endpoints,
                              const std::function<std::vector<int>(int)>& beside) {
  std::vector<std::string> lines(boards.size());
  std::set<int> used;
  // The first endpoints of all boards come before further endpoints.
  for (std::uint32_t e = 0; e < endpoints; e++) {
    for (std::size_t i = 0; i < boards.size(); i++) {
      const auto queue = queue_find(boards[i].queues, e);
      if (!queue || queue->processors.empty()) continue;
      lines[i] += fmt::format("board {} ep {} irq {} mask {}\n", mac_format(boards[i].nic), e,
                              queue->interrupt.empty() ? "-" : queue->interrupt,
                              cpu_mask_text(next_free(queue->processors, beside, used)));
    }
  }
  std::string text = kComment;
  for (std::size_t i = 0; i < boards.size(); i++) {
    text += fmt::format("# {} ({}){}\n", boards[i].interface, mac_format(boards[i].nic),
                        lines[i].empty() ? ": which processors handle its frames is not known" : "");
    text += lines[i];
  }
  return text;
}

}  // namespace omx::steering
