// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "netdev/open_failure.h"

namespace omx::tuning {

namespace {

constexpr std::string_view kMagic = "open-mx tune 1 ";
constexpr std::size_t kFields = 6;
// Only this user may open the folder, so no other user can lock it. Others may pass through it to the
// broker's socket (tools/broker).
constexpr mode_t kFolderMode = 0711;

std::string line_of(const Saved& s) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", kind_name(s.setting.kind), s.setting.interface, s.index,
                     mac_format(s.nic), s.setting.name, s.former);
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (;;) {
    const std::size_t tab = line.find('\t');
    fields.emplace_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

std::optional<Saved> line_parse(std::string_view line) {
  const auto fields = fields_of(line);
  if (fields.size() != kFields) return std::nullopt;
  Saved s;
  const auto nic = mac_parse(fields[3]);
  const std::string& index = fields[2];
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), s.index);
  if (!kind_parse(fields[0], s.setting.kind) || !nic || error != std::errc() ||
      end != index.data() + index.size())
    return std::nullopt;
  s.nic = *nic;
  s.setting.interface = fields[1];
  s.setting.name = fields[4];
  s.former = fields[5];
  if (!setting_valid(s.setting)) return std::nullopt;
  return s;
}

bool same_setting(const Saved& a, const Saved& b) {
  return a.setting.kind == b.setting.kind && a.setting.name == b.setting.name && a.index == b.index &&
         (a.setting.interface == b.setting.interface || a.nic == b.nic);
}

}  // namespace

bool saved_of(const Saved& saved, const link::Interface& interface) {
  return saved.index == interface.index &&
         (saved.setting.interface == interface.name || saved.nic == interface.nic);
}

std::string ledger_name(std::string_view of) {
  // The cookie of a namespace is never given to another one, unlike the number of its file.
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  const OwnFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) == 0) {
    return fmt::format("{}-{}", of, cookie);
  }
  struct stat about {};
  ::stat("/proc/self/ns/net", &about);  // before Linux 5.14
  return fmt::format("{}-inode-{}", of, about.st_ino);
}

Failure Ledger::failure(const char* what, int error) const {
  const bool denied = error == EACCES || error == EPERM || error == EROFS;
  return {denied ? link::kNoPermission : link::kFailure,
          fmt::format("cannot {} {}, where former values are kept: {}{}", what, path_, std::strerror(error),
                      denied ? "; run as root" : "; --state-dir names another folder")};
}

Result<Ledger> Ledger::open(const std::string& folder, const std::string& name, const std::string& boot) {
  Ledger ledger;
  ledger.path_ = folder;
  ledger.header_ = fmt::format("{}{}\n", kMagic, boot);
  const bool made = ::mkdir(folder.c_str(), kFolderMode) == 0;
  if (!made && errno != EEXIST) return tl::unexpected(ledger.failure("make", errno));
  ledger.folder_ = OwnFd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!ledger.folder_.open()) return tl::unexpected(ledger.failure("open", errno));
  // The umask may have taken away the right to pass through the folder.
  if (made && ::fchmod(ledger.folder_.get(), kFolderMode) < 0)
    return tl::unexpected(ledger.failure("make", errno));
  if (::flock(ledger.folder_.get(), LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK) return tl::unexpected(ledger.failure("lock", errno));
    return fail(link::kBusy, "another omx tune or omx steer is at work; try again when it has finished");
  }
  ledger.path_ = folder + "/" + name;
  if (auto loaded = ledger.load(); !loaded) return tl::unexpected(loaded.error());
  return ledger;
}

Result<void> Ledger::load() {
  OwnFd file(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.open()) {
    if (errno == ENOENT) return {};
    return tl::unexpected(failure("open", errno));
  }
  struct stat about {};
  if (::fstat(file.get(), &about) < 0) return tl::unexpected(failure("read", errno));
  if (!S_ISREG(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & 022)) {
    return fail(
        link::kFailure,
        fmt::format(
            "{} may have been written by others, so its values are not used: look at it and remove it",
            path_));
  }
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  if (::pread(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return tl::unexpected(failure("read", errno));
  }
  // A line without an end was being written when its program was killed, so its change never began.
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  const bool ours = text.substr(0, kMagic.size()) == kMagic;
  if (!text.empty() && !ours) {
    return fail(link::kFailure, fmt::format("{} is not a file of omx tune: look at it and remove it", path_));
  }
  // Values from before a restart of the machine do not apply.
  const bool current = text.substr(0, header_.size()) == header_;
  if (!current) text.clear();
  if (::ftruncate(file.get(), static_cast<off_t>(text.size())) < 0)
    return tl::unexpected(failure("write", errno));
  file_ = std::move(file);
  if (!current) return {};
  std::string_view rest = std::string_view(text).substr(header_.size());
  for (unsigned line = 2; !rest.empty(); line++) {
    auto saved = line_parse(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(rest.find('\n') + 1);
    if (!saved) {
      return fail(link::kFailure,
                  fmt::format("line {} of {} is damaged: give back by hand what the file says, and remove it",
                              line, path_));
    }
    saved_.push_back(std::move(*saved));
  }
  return {};
}

Result<void> Ledger::append(const std::string& text) {
  const off_t end = ::lseek(file_.get(), 0, SEEK_END);
  const std::string all = end == 0 ? header_ + text : text;
  const ssize_t n = end < 0 ? -1 : ::write(file_.get(), all.data(), all.size());
  if (n == static_cast<ssize_t>(all.size()) && ::fsync(file_.get()) == 0) return {};
  const int error = n < 0 || n == static_cast<ssize_t>(all.size()) ? errno : ENOSPC;
  // Half a line must not become part of the next one.
  if (end >= 0 && ::ftruncate(file_.get(), end) < 0) file_.reset();
  return tl::unexpected(failure("write", error));
}

Result<void> Ledger::add(const Saved& saved) {
  if (std::any_of(saved_.begin(), saved_.end(), [&](const Saved& s) { return same_setting(s, saved); }))
    return {};
  if (saved.former.find_first_of("\t\n") != std::string::npos) {
    return fail(link::kFailure,
                fmt::format("{} has a value that cannot be kept in a line, so it stays as it is",
                            setting_text(saved.setting)));
  }
  if (!file_.open()) {
    file_ = OwnFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file_.open()) return tl::unexpected(failure("make", errno));
  }
  if (auto appended = append(line_of(saved)); !appended) return appended;
  saved_.push_back(saved);
  return {};
}

Result<void> Ledger::keep(const std::vector<Saved>& rest) {
  if (rest.empty()) {
    if (::unlink(path_.c_str()) < 0 && errno != ENOENT) return tl::unexpected(failure("remove", errno));
    file_.reset();
    saved_.clear();
    return {};
  }
  std::string text = header_;
  for (const Saved& s : rest) text += line_of(s);
  const std::string next = path_ + ".new";
  ::unlink(next.c_str());
  OwnFd file(::open(next.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.open() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(file.get()) < 0 || ::rename(next.c_str(), path_.c_str()) < 0) {
    return tl::unexpected(failure("write", errno));
  }
  file_ = std::move(file);
  saved_ = rest;
  return {};
}

}  // namespace omx::tuning
