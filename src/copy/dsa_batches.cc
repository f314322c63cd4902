// SPDX-License-Identifier: BSD-3-Clause
#include "copy/dsa_batches.h"

#include <algorithm>
#include <utility>

namespace omx::copy {

DsaBatches::DsaBatches(std::size_t lists, std::uint32_t members)
    : members_(std::min(members, kMembersMost)),
      lists_(members_ < 2 ? 0 : lists),
      records_(lists_.size()),
      descriptors_(lists_.size() * kMembersMost) {}

std::optional<std::uint8_t> DsaBatches::free_list() const {
  for (std::size_t i = 0; i < lists_.size(); i++) {
    const auto list = static_cast<std::uint8_t>(i);
    if (!lists_[i].in_flight || (lists_[i].unread == 0 && status(list) != 0)) return list;
  }
  return std::nullopt;
}

DsaDescriptor DsaBatches::fill(std::uint8_t list, std::span<const DsaDescriptor> members) {
  DsaDescriptor* const at = descriptors_.at(list * kMembersMost);
  std::copy(members.begin(), members.end(), at);
  DsaRecord* const record = records_.at(list);
  dsa_record_clear(*record);
  lists_[list] = {};
  DsaDescriptor batch = dsa_describe(DsaOpcode::batch, kDsaCompletionValid | kDsaCompletionWanted, record);
  batch.source = reinterpret_cast<std::uintptr_t>(at);
  batch.bytes = static_cast<std::uint32_t>(members.size());
  return batch;
}

void DsaBatches::sent(std::uint8_t list, std::size_t members) {
  lists_[list] = {.in_flight = true, .unread = static_cast<std::uint32_t>(members)};
}

bool DsaBatches::judge(std::uint8_t list) {
  return !std::exchange(lists_[list].judged, true);
}

bool DsaBatches::outstanding() const {
  for (std::size_t i = 0; i < lists_.size(); i++)
    if (lists_[i].in_flight && status(static_cast<std::uint8_t>(i)) == 0) return true;
  return false;
}

void DsaBatches::keep_mapped() {
  records_.keep_mapped();
  descriptors_.keep_mapped();
}

}  // namespace omx::copy
