// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/claim_search.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace omx::runtime {

namespace {

// Returns the inode of the listening socket. Lines of /proc/net/unix hold address, count, protocol, flags,
// type, state, inode and path, where '@' stands for the NUL. Connections in the queue have the same path,
// but only the listener has the listening flag.
std::string inode_of(const std::string& abstract_name) {
  constexpr unsigned long kListening = 0x10000;  // __SO_ACCEPTCON
  std::ifstream table("/proc/net/unix");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string address, count, protocol, flags, type, state, inode, path;
    words >> address >> count >> protocol >> flags >> type >> state >> inode >> path;
    if (path != "@" + abstract_name) continue;
    if (std::strtoul(flags.c_str(), nullptr, 16) & kListening) return inode;
  }
  return {};
}

}  // namespace

int descriptors_visit(pid_t pid, const std::function<bool(const std::string&, const std::string&)>& visit) {
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  DIR* directory = ::opendir(folder.c_str());
  if (!directory) return errno;
  while (const dirent* entry = ::readdir(directory)) {
    char target[256];
    const ssize_t length = ::readlink((folder + "/" + entry->d_name).c_str(), target, sizeof target);
    if (length > 0 && visit(entry->d_name, std::string(target, static_cast<std::size_t>(length)))) break;
  }
  ::closedir(directory);
  return 0;
}

pid_t claim_search(const std::string& abstract_name) {
  const std::string inode = inode_of(abstract_name);
  DIR* proc = inode.empty() ? nullptr : ::opendir("/proc");
  if (!proc) return 0;
  const std::string wanted = "socket:[" + inode + "]";
  pid_t found = 0;
  while (const dirent* entry = found ? nullptr : ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    descriptors_visit(pid, [&](const std::string&, const std::string& target) {
      if (target == wanted) found = pid;
      return found != 0;
    });
  }
  ::closedir(proc);
  return found;
}

}  // namespace omx::runtime
