// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/hostname.h"

#include "base/text.h"
#include "tools/parity/parity.h"
#include "tools/parity/peers_file.h"

namespace omx::tools {

namespace {

constexpr const char* kName = "omx_hostname";

int usage() {
  fmt::print(
      stderr,
      "omx_hostname [options]\n -b <n>\tboard n (0)\n -n <name>\tchange its name, for programs that start "
      "from "
      "now on\n -c\tforget the names of remote peers: no effect, each program asks again\n -v\tverbose\n -h\t"
      "this text\n");
  return kParityFailed;
}

int rename(const runtime::Settings& settings, const runtime::Board& board, const std::string& name) {
  auto file = PeersFile::load(settings);
  if (!file) return parity_failed(kName, "{}", file.error().message);
  file->set(board.interface.nic, name);
  if (const auto saved = file->save(); !saved) return parity_failed(kName, "{}", saved.error().message);
  fmt::print("Board #{} ({} {}) hostname is {} now, in {}\n", board.number, board.interface.name,
             mac_format(board.interface.nic), name, file->path());
  return 0;
}

}  // namespace

int parity_hostname(int argc, char** argv) {
  long number = 0;
  std::string name;
  bool clear = false, verbose = false;
  for (int option; (option = parity_option(kName, argc, argv, "b:n:cvh")) != -1;) {
    if (option == 'b') {
      const auto given = parity_number(kName, 'b', optarg, 255);
      if (!given) return kParityFailed;
      number = *given;
    } else if (option == 'n') {
      name = optarg;
      if (name.empty()) return parity_failed(kName, "-n takes a name, such as node1:0");
    } else if (option == 'c') {
      clear = true;
    } else if (option == 'v') {
      verbose = true;
    } else {
      return usage();
    }
  }
  const ParityBoards found = parity_boards(kName, number);
  if (found.status) return found.status;
  if (clear && (verbose || name.empty()))
    fmt::print("No names of remote peers are kept: each program asks for them again\n");
  const runtime::Board& board = found.boards.front();
  if (!clear || verbose) {
    fmt::print("Board #{} ({} {}) hostname was {}\n", board.number, board.interface.name,
               mac_format(board.interface.nic), board.hostname);
  }
  return name.empty() ? 0 : rename(found.process->settings(), board, name);
}

}  // namespace omx::tools
