// SPDX-License-Identifier: BSD-3-Clause
#include "mx/info_calls.h"

namespace omx::mx {

namespace {

int native_info(InfoQuery& query, omx_info_key_t key) {
  switch (key) {
    case OMX_INFO_BOARD_MAX:
      return query.number(0xffffffff);
    case OMX_INFO_ENDPOINT_MAX:
      return query.number(query.settings().endpoints_max);
    case OMX_INFO_BOARD_COUNT:
      return query.number(query.board_count());
    case OMX_INFO_BOARD_IDS:
      return query.nic_ids();
    case OMX_INFO_BOARD_HOSTNAME:
      return query.board_text(&runtime::Board::hostname);
    case OMX_INFO_BOARD_IFACENAME:
      return query.interface_name();
    case OMX_INFO_BOARD_NUMA_NODE:
      return query.numa_node();
    case OMX_INFO_COUNTER_MAX:
      return query.number(protocol::kCounterCount);
    case OMX_INFO_COUNTER_VALUES:
      return query.counter_values();
    case OMX_INFO_COUNTER_LABEL:
      return query.counter_label();
  }
  return query.bad_key(static_cast<int>(key));
}

}  // namespace

}  // namespace omx::mx

extern "C" omx_return_t omx_get_info(omx_endpoint_t ep, omx_info_key_t key, const void* in_val,
                                     uint32_t in_len, void* out_val, uint32_t out_len) {
  using omx::mx::InfoQuery;
  return omx::mx::info_call<omx_return_t>(
      __func__, ep, in_val, in_len, out_val, out_len,
      [key](InfoQuery& query) { return omx::mx::native_info(query, key); });
}
