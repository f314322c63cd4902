// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/endpoint_info.h"

#include "tools/parity/parity.h"

namespace omx::tools {

namespace {

constexpr const char* kName = "omx_endpoint_info";
constexpr std::uint32_t kRawClaim = 256;  // the id that src/mx/raw_endpoint.cc claims

int usage() {
  fmt::print(stderr,
             "omx_endpoint_info [options]\n -b <n>\tonly board n\n -a\tall boards (default)\n -v\tclosed "
             "endpoints, too\n -h\tthis text\n");
  return kParityFailed;
}

std::string open_text(const runtime::ClaimHolder& holder) {
  return fmt::format("open by {}", holder_text(holder));
}

void board_print(const runtime::Board& board, std::uint32_t most, bool closed) {
  fmt::print("{}\n{:=<46}\n", parity_title(board), "");
  unsigned open = 0;
  if (const auto raw = runtime::claim_holder(board.interface.index, kRawClaim)) {
    fmt::print("  raw\t{}\n", open_text(*raw));
  } else if (closed) {
    fmt::print("  raw\tnot open\n");
  }
  for (std::uint32_t id = 0; id < most; id++) {
    const auto holder = runtime::claim_holder(board.interface.index, id);
    if (holder) {
      open++;
      fmt::print("  {}\t{}\n", id, open_text(*holder));
    } else if (closed) {
      fmt::print("  {}\tnot open\n", id);
    }
  }
  fmt::print("{} regular endpoints open (out of {})\n\n", open, most);
}

}  // namespace

int parity_endpoint_info(int argc, char** argv) {
  long only = -1;
  bool closed = false;
  for (int option; (option = parity_option(kName, argc, argv, "b:avh")) != -1;) {
    if (option == 'b') {
      const auto number = parity_number(kName, 'b', optarg, 255);
      if (!number) return kParityFailed;
      only = *number;
    } else if (option == 'a') {
      only = -1;
    } else if (option == 'v') {
      closed = true;
    } else {
      return usage();
    }
  }
  const ParityBoards found = parity_boards(kName, only);
  if (found.status) return found.status;
  for (const runtime::Board& board : found.boards)
    board_print(board, found.process->settings().endpoints_max, closed);
  return 0;
}

}  // namespace omx::tools
