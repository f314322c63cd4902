// SPDX-License-Identifier: BSD-3-Clause
#include "steering/binding_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <optional>

#include "base/cpu_list.h"
#include "base/number.h"
#include "base/text.h"
#include "base/text_file.h"
#include "steering/binding_setting.h"

namespace omx::steering {

namespace {

constexpr int kMxFailure = 2;
constexpr std::uint64_t kEndpointMost = 255;
constexpr const char* kComment =
    "# Which processors Open-MX moves a process to that opens an endpoint, with OMX_PROCESS_BINDING={}.\n"
    "# Written by omx prepare-binding from the interrupts and receive queues of this host as they were "
    "then;\n"
    "# to be written anew when they change. Of each line, board (MAC address), ep (endpoint number) and "
    "mask\n"
    "# (processors, hexadecimal) count; irq is the interrupt that brings the frames, \"-\" if it is none.\n";

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(kBlank, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

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

Result<std::vector<BindingLine>> binding_file_read(const std::string& path) {
  struct stat about;
  if (path == kBindingFile && ::lstat(path.c_str(), &about) == 0 &&
      (!S_ISREG(about.st_mode) || (about.st_uid != 0 && about.st_uid != ::geteuid()))) {
    return fail(kMxFailure, fmt::format("{0} is not a file of root or of this user; as root: rm {0} && omx "
                                        "prepare-binding",
                                        path));
  }
  const auto text = text_file_read(path);
  if (!text) {
    return fail(kMxFailure, fmt::format("cannot read {}: {}; omx prepare-binding FILE writes one, as root",
                                        shown(path, kPathShown), text_file_error(text.error())));
  }
  return binding_file_parse(*text, path);
}

std::string binding_file_text(const std::vector<BindingBoard>& boards, std::uint32_t endpoints) {
  std::string text = fmt::format(kComment, "file");
  const auto out = std::back_inserter(text);
  for (const BindingBoard& board : boards) {
    bool any = false;
    for (std::uint32_t e = 0; e < endpoints; e++) {
      const ReceiveQueue* queue = queue_find(board.queues, e);
      if (!queue || queue->processors.empty()) continue;
      if (!any) fmt::format_to(out, "# {}\n", board.interface);
      any = true;
      fmt::format_to(out, "board {} ep {} irq {} mask {}\n", mac_format(board.nic), e,
                     queue->interrupt.empty() ? "-" : queue->interrupt, cpu_mask_text(queue->processors));
    }
    if (!any) {
      fmt::format_to(out, "# {} ({}): which processors handle its frames is not known\n", board.interface,
                     mac_format(board.nic));
    }
  }
  return text;
}

}  // namespace omx::steering
