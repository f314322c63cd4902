// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/peers_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "base/text_file.h"
#include "runtime/board/peer_table.h"
#include "tools/host/file_replace.h"

namespace omx::tools {

namespace {

constexpr int kMxFailure = 2;

struct Line {
  NicId nic = 0;
  std::string name;
};

// Parses one line. Returns nullopt for a comment or an empty line.
std::optional<Line> peer_of_line(const std::string& text) {
  const auto peers = runtime::peers_parse(text, "");
  if (!peers || peers->empty()) return std::nullopt;
  return Line{peers->front().nic, peers->front().name};
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace

Result<PeersFile> PeersFile::load(const runtime::Settings& settings) {
  PeersFile file;
  file.path_ = settings.peers_file.empty() ? runtime::kDefaultPeersFile : settings.peers_file;
  const auto text = text_file_read(file.path_);
  if (!text && text.error() != ENOENT) {
    return fail(kMxFailure, fmt::format("cannot read {}: {}", shown(file.path_, kPathShown),
                                        text_file_error(text.error())));
  }
  std::string rest = text.value_or("");
  // A malformed line would stay in the file, so it is reported before anything changes.
  if (const auto peers = runtime::peers_parse(rest, file.path_); !peers) return tl::unexpected(peers.error());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    file.lines_.push_back(rest.substr(0, end));
    rest.erase(0, std::min(end + 1, rest.size()));
  }
  return file;
}

std::string PeersFile::name_of(NicId nic) const {
  for (const std::string& text : lines_)
    if (const auto line = peer_of_line(text); line && line->nic == nic) return line->name;
  return "";
}

void PeersFile::set(NicId nic, const std::string& name) {
  const std::string wanted = fmt::format("{} {}", mac_format(nic), name);
  for (std::string& text : lines_) {
    if (const auto line = peer_of_line(text); line && line->nic == nic) {
      text = wanted;
      return;
    }
  }
  lines_.push_back(wanted);
}

unsigned PeersFile::keep_only(const std::vector<NicId>& nics) {
  const auto gone = std::remove_if(lines_.begin(), lines_.end(), [&nics](const std::string& text) {
    const auto line = peer_of_line(text);
    return line && std::find(nics.begin(), nics.end(), line->nic) == nics.end();
  });
  const auto count = static_cast<unsigned>(lines_.end() - gone);
  lines_.erase(gone, lines_.end());
  return count;
}

Result<void> PeersFile::save() const {
  const std::string text = joined(lines_);
  if (const auto peers = runtime::peers_parse(text, path_ + " as it would be"); !peers)
    return tl::unexpected(peers.error());
  if (is_special(path_))
    return fail(kMxFailure, fmt::format("{} is not a regular file", shown(path_, kPathShown)));
  int error = file_replace(path_, text);
  if (error == ENOENT && ::mkdir(std::filesystem::path(path_).parent_path().c_str(), 0755) == 0)
    error = file_replace(path_, text);
  if (error) {
    return fail(kMxFailure, fmt::format("cannot write {}: {}; become root, or name another file in "
                                        "OMX_PEERS_FILE, which programs must find in their environment, too",
                                        shown(path_, kPathShown), std::strerror(error)));
  }
  return {};
}

}  // namespace omx::tools
