// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/channel.h"

#include "base/text.h"

namespace omx::tools {

void LineBuffer::add(std::string_view bytes) {
  bytes_ += bytes;
  // An endless line is no record.
  if (bytes_.size() > kRecordMost && bytes_.find('\n') == std::string::npos) bytes_.clear();
}

std::optional<Record> LineBuffer::next() {
  for (;;) {
    const std::size_t end = bytes_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    const std::string line = bytes_.substr(0, end);
    bytes_.erase(0, end + 1);
    if (auto record = record_parse(line)) return record;
    std::string_view noise = line;
    if (noise.ends_with('\r')) noise.remove_suffix(1);
    if (!noise.empty()) noise_ = shown(noise, kPathShown);
  }
}

}  // namespace omx::tools
