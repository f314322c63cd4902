// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/ethtool_kernel.h"

#include <linux/ethtool.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "steering/ethtool_call.h"
#include "steering/flow_kernel.h"

namespace omx::tuning {

namespace {

constexpr std::size_t kBlockBits = 32;

// Memory for the structures of ethtool that end in an array.
using Words = std::vector<std::uint64_t>;

class KernelEthtool final : public Ethtool {
 public:
  Expected<Coalescing, int> coalescing(const std::string& interface) override {
    ethtool_coalesce c{};
    c.cmd = ETHTOOL_GCOALESCE;
    if (const int error = call(interface, &c)) return tl::unexpected<int>(error);
    return Coalescing{c.use_adaptive_rx_coalesce != 0,
                      c.use_adaptive_tx_coalesce != 0,
                      c.rx_coalesce_usecs,
                      c.rx_max_coalesced_frames,
                      c.tx_coalesce_usecs,
                      c.tx_max_coalesced_frames};
  }

  int coalescing_set(const std::string& interface, const Coalescing& wanted) override {
    ethtool_coalesce c{};
    c.cmd = ETHTOOL_GCOALESCE;
    if (const int error = call(interface, &c)) return error;
    c.cmd = ETHTOOL_SCOALESCE;
    c.use_adaptive_rx_coalesce = wanted.adaptive_rx;
    c.use_adaptive_tx_coalesce = wanted.adaptive_tx;
    c.rx_coalesce_usecs = wanted.rx_usecs;
    c.rx_max_coalesced_frames = wanted.rx_frames;
    c.tx_coalesce_usecs = wanted.tx_usecs;
    c.tx_max_coalesced_frames = wanted.tx_frames;
    return call(interface, &c);
  }

  Expected<Channels, int> channels(const std::string& interface) override {
    ethtool_channels c{};
    c.cmd = ETHTOOL_GCHANNELS;
    if (const int error = call(interface, &c)) return tl::unexpected<int>(error);
    return Channels{c.rx_count, c.max_rx, c.tx_count, c.max_tx, c.combined_count, c.max_combined};
  }

  Expected<Rings, int> rings(const std::string& interface) override {
    ethtool_ringparam r{};
    r.cmd = ETHTOOL_GRINGPARAM;
    if (const int error = call(interface, &r)) return tl::unexpected<int>(error);
    return Rings{r.rx_pending, r.rx_max_pending, r.tx_pending, r.tx_max_pending};
  }

  int rings_set(const std::string& interface, const Rings& wanted) override {
    ethtool_ringparam r{};
    r.cmd = ETHTOOL_GRINGPARAM;
    if (const int error = call(interface, &r)) return error;
    r.cmd = ETHTOOL_SRINGPARAM;
    r.rx_pending = wanted.rx;
    r.tx_pending = wanted.tx;
    return call(interface, &r);
  }

  Expected<std::vector<Feature>, int> features(const std::string& interface) override {
    auto names = feature_names(interface);
    if (!names) return tl::unexpected<int>(names.error());
    const std::size_t blocks = blocks_of(names->size());
    Words words(1 + 2 * blocks);  // head: two 32-bit words, then four for each block
    auto* get = reinterpret_cast<ethtool_gfeatures*>(words.data());
    get->cmd = ETHTOOL_GFEATURES;
    get->size = static_cast<std::uint32_t>(blocks);
    if (const int error = call(interface, get)) return tl::unexpected<int>(error);
    std::vector<Feature> list;
    for (std::size_t i = 0; i < names->size(); i++) {
      if ((*names)[i].empty()) continue;
      const ethtool_get_features_block& block = get->features[i / kBlockBits];
      const std::uint32_t bit = 1U << (i % kBlockBits);
      list.push_back({(*names)[i], (block.available & bit) != 0, (block.requested & bit) != 0,
                      (block.active & bit) != 0});
    }
    return list;
  }

  int feature_set(const std::string& interface, const std::string& feature, bool on) override {
    const auto names = feature_names(interface);
    if (!names) return names.error();
    const auto at = std::find(names->begin(), names->end(), feature);
    if (at == names->end()) return EOPNOTSUPP;
    const auto i = static_cast<std::size_t>(at - names->begin());
    const std::size_t blocks = blocks_of(names->size());
    Words words(1 + blocks);  // head: two 32-bit words, then two for each block
    auto* set = reinterpret_cast<ethtool_sfeatures*>(words.data());
    set->cmd = ETHTOOL_SFEATURES;
    set->size = static_cast<std::uint32_t>(blocks);
    const std::uint32_t bit = 1U << (i % kBlockBits);
    set->features[i / kBlockBits].valid = bit;
    set->features[i / kBlockBits].requested = on ? bit : 0;
    return call(interface, set);
  }

  Expected<std::vector<Napi>, int> napis(const std::string& interface) override {
    const unsigned index = ::if_nametoindex(interface.c_str());
    if (index == 0) return tl::unexpected<int>(ENODEV);
    return napis_read(index);
  }
  int napi_set(const NapiField& which, std::uint64_t value) override { return napi_write(which, value); }

  Expected<FlowTable, int> flows(const std::string& interface) override {
    return steering::flow_table_read(call_of(interface));
  }
  Expected<FlowPlace, int> flow(const std::string& interface, std::uint32_t place) override {
    return steering::flow_place_read(call_of(interface), place);
  }
  int flow_add(const std::string& interface, const FlowRule& rule) override {
    return steering::flow_insert(call_of(interface), rule);
  }
  int flow_remove(const std::string& interface, std::uint32_t place) override {
    return steering::flow_delete(call_of(interface), place);
  }

 private:
  static steering::EthtoolCall call_of(const std::string& interface) {
    return [&interface](void* command) { return call(interface, command); };
  }
  static std::size_t blocks_of(std::size_t bits) { return (bits + kBlockBits - 1) / kBlockBits; }

  static int call(const std::string& interface, void* command) {
    return steering::ethtool_call(interface, command);
  }

  // Returns the names by bit number. A bit without a name has an empty one.
  static Expected<std::vector<std::string>, int> feature_names(const std::string& interface) {
    Words info_words(3);
    auto* info = reinterpret_cast<ethtool_sset_info*>(info_words.data());
    info->cmd = ETHTOOL_GSSET_INFO;
    info->sset_mask = 1ULL << ETH_SS_FEATURES;
    if (const int error = call(interface, info)) return tl::unexpected<int>(error);
    if (info->sset_mask == 0) return tl::unexpected<int>(EOPNOTSUPP);
    const std::uint32_t count = info->data[0];
    Words words(2 + count * ETH_GSTRING_LEN / sizeof(std::uint64_t));
    auto* strings = reinterpret_cast<ethtool_gstrings*>(words.data());
    strings->cmd = ETHTOOL_GSTRINGS;
    strings->string_set = ETH_SS_FEATURES;
    strings->len = count;
    if (const int error = call(interface, strings)) return tl::unexpected<int>(error);
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < std::min(count, strings->len); i++) {
      const auto* name = reinterpret_cast<const char*>(strings->data) + std::size_t{i} * ETH_GSTRING_LEN;
      names.emplace_back(name, ::strnlen(name, ETH_GSTRING_LEN));
    }
    return names;
  }
};

}  // namespace

std::unique_ptr<Ethtool> ethtool_of_kernel() {
  return std::make_unique<KernelEthtool>();
}

}  // namespace omx::tuning
