// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/info_board.h"

#include <cstring>

#include "libfabric/address.h"
#include "libfabric/capabilities.h"
#include "libfabric/memory_request.h"
#include "libfabric/nic.h"
#include "libfabric/parameters.h"
#include "libfabric/runtime_process.h"

namespace omx::fabric {

namespace {

void transmit_fill(fi_tx_attr& a) {
  a.caps = kTransmitCaps;
  a.op_flags = 0;
  a.msg_order = kOrder;
  a.inject_size = kInjectMost;
  a.size = parameters().tx_size;
  a.iov_limit = kSegmentsMost;
  a.rma_iov_limit = kPiecesMost;
}

void receive_fill(fi_rx_attr& a) {
  a.caps = kReceiveCaps;
  a.msg_order = kOrder;
  a.size = kQueueSizeMost;
  a.iov_limit = kSegmentsMost;
}

void endpoint_fill(fi_ep_attr& a) {
  a.type = FI_EP_RDM;
  a.protocol = kProtocol;
  a.protocol_version = 1;
  a.max_msg_size = kMessageMost;
  a.max_order_raw_size = kRmaInlineMost;
  a.max_order_war_size = kRmaInlineMost;
  a.max_order_waw_size = kRmaInlineMost;
  a.mem_tag_format = kTagFormat;
  a.tx_ctx_cnt = 1;
  a.rx_ctx_cnt = 1;
}

void domain_fill(fi_domain_attr& a, const runtime::Settings& settings) {
  a.threading = FI_THREAD_SAFE;
  a.control_progress = a.data_progress =
      settings.waiting.progress == runtime::ProgressMode::off ? FI_PROGRESS_MANUAL : FI_PROGRESS_AUTO;
  a.resource_mgmt = FI_RM_ENABLED;
  a.av_type = FI_AV_UNSPEC;
  a.mr_mode = 0;
  a.mr_key_size = kKeyBytes;
  a.cq_data_size = 8;
  a.cq_cnt = kQueueSizeMost;
  a.ep_cnt = settings.endpoints_max;
  a.tx_ctx_cnt = settings.endpoints_max;
  a.rx_ctx_cnt = settings.endpoints_max;
  a.max_ep_tx_ctx = 1;  // more would make MPICH use scalable endpoints
  a.max_ep_rx_ctx = 1;
  a.cntr_cnt = kQueueSizeMost;
  a.mr_iov_limit = kSegmentsMost;
  a.caps = kDomainCaps;
  a.max_err_data = 64;
  a.mr_cnt = kQueueSizeMost;
}

}  // namespace

fi_info* info_of_board(const runtime::Board& board) {
  const auto process = runtime_of_process();
  fi_info* offer = fi_allocinfo();
  if (!offer || !process) return offer;
  offer->caps = kCapsUnscheduled;
  offer->addr_format = kAddressFormat;
  transmit_fill(*offer->tx_attr);
  receive_fill(*offer->rx_attr);
  endpoint_fill(*offer->ep_attr);
  domain_fill(*offer->domain_attr, (*process)->settings());
  offer->domain_attr->name = ::strdup(board.interface.name.c_str());
  offer->fabric_attr->name = ::strdup(kFabricName);
  offer->nic = nic_of_board(board);
  if (offer->domain_attr->name && offer->fabric_attr->name) return offer;
  fi_freeinfo(offer);
  return nullptr;
}

const runtime::Board* board_of_all(const runtime::Process& process) {
  const runtime::Settings& settings = process.settings();
  if (runtime::boards_by_udp(process.boards()) || settings.protocol.mode != wire::Mode::omx ||
      !settings.protocol.extension)
    return nullptr;
  const runtime::Board* first = nullptr;
  std::size_t count = 0;
  for (const runtime::Board& board : process.boards()) {
    if (!board.interface.up || board.interface.loopback) continue;
    if (count++ == 0) first = &board;
  }
  return count > 1 ? first : nullptr;
}

}  // namespace omx::fabric
