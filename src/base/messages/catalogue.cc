// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/catalogue.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/messages/sections.h"

namespace omx::messages {

namespace {

constexpr std::string_view kGap = "{}";

constexpr std::array<const Section*, 9> kSections{&kSectionStart,     &kSectionEndpoints, &kSectionConnect,
                                                  &kSectionPeers,     &kSectionCalls,     &kSectionMemory,
                                                  &kSectionLibfabric, &kSectionBroker,    &kSectionCommands};

// Cuts the part before `mark` off `rest`, and returns it.
std::string_view part_cut(std::string_view& rest, std::string_view mark) {
  const std::size_t at = rest.find(mark);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + mark.size());
  return part;
}

// Returns the number of characters of `text` outside its gaps.
std::size_t fixed_size(std::string_view text) {
  std::size_t size = 0;
  while (!text.empty()) size += part_cut(text, kGap).size();
  return size;
}

// Returns whether the parts of `text` are in `line`, one behind the other.
bool text_in(std::string_view text, std::string_view line) {
  std::size_t from = 0;
  while (!text.empty()) {
    const std::string_view part = part_cut(text, kGap);
    const std::size_t at = line.find(part, from);
    if (at == std::string_view::npos) return false;
    from = at + part.size();
  }
  return true;
}

}  // namespace

std::span<const Section* const> sections() {
  return kSections;
}

const Entry* entry_find(int number) {
  for (const Section* section : kSections) {
    for (const Entry& entry : section->entries) {
      if (entry.number == number) return &entry;
    }
  }
  return nullptr;
}

const Entry* entry_recognise(std::string_view line) {
  const Entry* best = nullptr;
  std::pair<bool, std::size_t> most{false, 0};
  for (const Section* section : kSections) {
    for (const Entry& entry : section->entries) {
      for (std::string_view texts = entry.texts; !texts.empty();) {
        const std::string_view text = part_cut(texts, "\n");
        // A text that only goes on with a sentence says less than any sentence.
        const std::pair says{!text.starts_with("; "), fixed_size(text)};
        if (says <= most || !text_in(text, line)) continue;
        most = says;
        best = &entry;
      }
    }
  }
  return best;
}

std::string entry_id(const Entry& entry) {
  return fmt::format("E{}", entry.number);
}

std::string tag(std::string_view sentence) {
  const Entry* entry = entry_recognise(sentence);
  return entry ? fmt::format("E{}: ", entry->number) : std::string{};
}

}  // namespace omx::messages
