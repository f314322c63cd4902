// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/counters.h"

#include <array>
#include <cstring>

#include "runtime/board/broker_boards.h"
#include "tools/parity/parity.h"
#include "tools/watch/counter_texts.h"

namespace omx::tools {

namespace {

constexpr const char* kName = "omx_counters";

struct Label {
  const char* label;  // as in Open-MX 1.x
  const char* ours =
      nullptr;  // our label for the same counter; nullptr: our label is the same, or we have no such counter
};

// The order is an interface (docs/spec/tools-and-tests.md 2): scripts know a counter by its place.
constexpr std::array<Label, 85> kLabels = {{
    {"Send Tiny"},
    {"Send Small"},
    {"Send MediumSQ Frag", "Send Medium Frag"},
    {"Send MediumVA Frag"},
    {"Send Rndv"},
    {"Send Notify"},
    {"Send Connect Request"},
    {"Send Connect Reply"},
    {"Send LibAck"},
    {"Send Nack Lib"},
    {"Send Nack MCP"},
    {"Send Pull Request"},
    {"Send Pull Reply"},
    {"Send Raw"},
    {"Send Host Query"},
    {"Send Host Reply"},
    {"Recv Tiny"},
    {"Recv Small"},
    {"Recv Medium Frag"},
    {"Recv Rndv"},
    {"Recv Notify"},
    {"Recv Connect Request"},
    {"Recv Connect Reply"},
    {"Recv LibAck"},
    {"Recv Nack Lib"},
    {"Recv Nack MCP"},
    {"Recv Pull Request"},
    {"Recv Pull Reply"},
    {"Recv Raw"},
    {"Recv Host Query"},
    {"Recv Host Reply"},
    {"DMA Recv Medium Frag", "Medium Fragment Copied by an Engine"},
    {"DMA Recv Medium Frag Only Partial"},
    {"DMA Recv Pull Reply", "Pull Reply Copied by an Engine"},
    {"DMA Recv Pull Reply Only Partial"},
    {"DMA Recv Pull Reply with Deferred Wait"},
    {"Recv Open-MX Header as Non-Linear"},
    {"Expected Event Queue Full"},
    {"Unexpected Event Queue Full", "Link Frames Dropped, Ring Full"},
    {"Send Skbuff Alloc Failed"},
    {"Send Medium Deferred Event Alloc Failed"},
    {"MediumSQ Frag Sent as Linear"},
    {"Pull Non-First Block Done before First One", "Pull Re-request after Gap"},
    {"Pull Request for Not Only the First Block at Once"},
    {"Pull Timeout Handler Requests First Block", "Pull Re-request after Silence"},
    {"Pull Timeout Handler Requests Non-First Block"},
    {"Pull Timeout Abort", "Pull Given Up"},
    {"Pull Reply Sent as Linear"},
    {"Pull Reply Recv Fill Pages Failed"},
    {"Drop Bad Data Length for Headers"},
    {"Drop Bad Data Length", "Drop Malformed Frame"},
    {"Drop Bad Skbuff Length"},
    {"Drop Bad Peer Addr"},
    {"Drop Bad Peer Index"},
    {"Drop Bad Endpoint"},
    {"Drop Bad Session"},
    {"Drop Pull Bad Number of Replies"},
    {"Drop Pull Bad Region"},
    {"Drop Pull Bad Offset or Length"},
    {"Drop Pull Reply Bad Endpoint in Magic"},
    {"Drop Pull Reply Bad Wire Handle"},
    {"Drop Pull Reply Bad Frame SeqNum WrapAround"},
    {"Drop Pull Reply Bad Frame SeqNum", "Drop Pull Reply Bad Frame"},
    {"Drop Pull Reply Duplicate"},
    {"Drop Nack MCP Bad Endpoint in Magic"},
    {"Drop Nack MCP Bad Wire Handle"},
    {"Drop Host Reply with Bad Magic"},
    {"Drop Raw Queue Full"},
    {"Drop Raw Packet Too Large"},
    {"Drop Not Implemented Packet Type"},
    {"Drop Invalid Packet Type"},
    {"Drop Unknown Packet Type"},
    {"Shared Tiny"},
    {"Shared Small"},
    {"Shared MediumSQ Frag"},
    {"Shared MediumVA"},
    {"Shared Rndv"},
    {"Shared Notify"},
    {"Shared Connect Request"},
    {"Shared Connect Reply"},
    {"Shared LibAck"},
    {"Shared Pull", "Local One-Copy Reads"},
    {"DMA Shared Medium Frag"},
    {"DMA Shared Large"},
    {"DMA Shared Large only Partial"},
}};
constexpr std::size_t kSharedFirst = 72;  // from here on: communication inside the host
constexpr const char* kOursShared = "Local ";

using Sums = std::vector<CounterValue>;

int usage() {
  fmt::print(
      stderr,
      "omx_counters [options]\n -b <n>\tonly board n\n -a\tall (default)\n -s\tonly communication inside the "
      "host\n -c\tclear: no effect, counters begin at zero when an endpoint opens\n -q\tonly those that are "
      "not zero (default)\n -v\tall of them\n -h\tthis text\n");
  return kParityFailed;
}

// Adds the counts of the board's open endpoints.
void board_add(const runtime::Board& board, const runtime::Settings& settings, Sums& sums) {
  for (const runtime::Board& watched : runtime::boards_watched({board}, settings)) {
    for (const OpenEndpoint& open : endpoints_open(watched, settings)) {
      const auto counters = runtime::counters_read(watched.interface.index, open.id);
      if (!counters) {
        message_print(kName, counters.error().message);
        continue;
      }
      const Sums values = counter_values(*counters);
      for (std::size_t i = 0; i < values.size(); i++) sums[i].second += values[i].second;
    }
  }
}

bool same(const char* a, const char* b) {
  return std::strcmp(a, b) == 0;
}

std::uint64_t value_of(const Label& label, const Sums& sums) {
  for (const auto& [ours, value] : sums)
    if (same(ours, label.ours ? label.ours : label.label)) return value;
  return 0;
}

bool has_number(const char* ours) {
  for (const Label& label : kLabels)
    if (same(ours, label.ours ? label.ours : label.label)) return true;
  return false;
}

void sums_print(const std::string& title, const Sums& sums, bool shared, bool all) {
  fmt::print("{}\n{:=<55}\n", title, "");
  const auto print = [all](std::size_t number, std::uint64_t value, const char* label) {
    if (all || value) fmt::print("{:03}: {:9} {}\n", number, value, label);
  };
  for (std::size_t i = shared ? kSharedFirst : 0; i < (shared ? kLabels.size() : kSharedFirst); i++)
    print(i, value_of(kLabels[i], sums), kLabels[i].label);
  std::size_t number = kLabels.size();
  for (const auto& [label, value] : sums) {
    if (has_number(label)) continue;
    if (std::string_view(label).starts_with(kOursShared) == shared) print(number, value, label);
    number++;
  }
  fmt::print("\n");
}

Sums zeros() {
  return counter_values({});
}

}  // namespace

int parity_counters(int argc, char** argv) {
  long only = -1;
  bool all = false, boards = true, shared = true, clear = false;
  for (int option; (option = parity_option(kName, argc, argv, "b:ascqvh")) != -1;) {
    switch (option) {
      case 'b': {
        const auto number = parity_number(kName, 'b', optarg, 255);
        if (!number) return kParityFailed;
        only = *number;
        shared = false;
        break;
      }
      case 'a':
        only = -1;
        boards = shared = true;
        break;
      case 's':
        boards = false;
        shared = true;
        break;
      case 'c':
        clear = true;
        break;
      case 'q':
      case 'v':
        all = option == 'v';
        break;
      default:
        return usage();
    }
  }
  const ParityBoards found = parity_boards(kName, only);
  if (found.status) return found.status;
  Sums inside = zeros();
  std::vector<Sums> of_boards;
  for (const runtime::Board& board : found.boards) {
    Sums sums = zeros();
    board_add(board, found.process->settings(), sums);
    for (std::size_t i = 0; i < sums.size(); i++) inside[i].second += sums[i].second;
    of_boards.push_back(std::move(sums));
  }
  if (shared) sums_print("Shared Communication (addr 00:00:00:00:00:00)", inside, true, all);
  for (std::size_t i = 0; boards && i < of_boards.size(); i++)
    sums_print(parity_title(found.boards[i]), of_boards[i], false, all);
  if (clear) {
    std::fflush(stdout);
    message_print(kName,
                  "counters are not cleared: they are an endpoint's own, and begin at zero when it opens");
  }
  return 0;
}

}  // namespace omx::tools
