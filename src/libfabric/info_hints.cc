// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/info_hints.h"

#include <cstring>

#include "libfabric/capabilities.h"
#include "libfabric/versions.h"

namespace omx::fabric {

namespace {

constexpr int kLegacyMrModes = kMrBasic | kMrScalable;

bool named_otherwise(const char* wanted, const char* ours) {
  return wanted && std::strcmp(wanted, ours) != 0;
}

// Takes a limit that is asked for. A limit above ours is refused.
template <class T>
bool lower(T& ours, T wanted) {
  if (wanted > ours) return false;
  if (wanted) ours = wanted;
  return true;
}

template <class T>
void echo(T& ours, T wanted) {
  if (wanted) ours = wanted;
}

std::uint64_t caps_given(const fi_info& hints) {
  const std::uint64_t wanted = hints.caps;
  if (wanted == 0) return kCapsUnscheduled | (hints.rx_attr ? hints.rx_attr->caps & kDearCaps : 0);
  std::uint64_t caps = (wanted & (kPrimaryCaps | kDearCaps)) | kFreeCaps;
  if ((caps & (FI_MSG | FI_TAGGED)) && !(caps & (FI_SEND | FI_RECV))) caps |= FI_SEND | FI_RECV;
  constexpr std::uint64_t kAccess = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  if ((caps & (FI_RMA | FI_ATOMIC)) && !(caps & kAccess)) caps |= kAccess;
  return caps;
}

const char* transmit_cut(fi_tx_attr& ours, const fi_tx_attr& wanted, std::uint64_t caps) {
  if (wanted.caps & ~caps) return "tx_attr->caps";
  if (wanted.op_flags & ~kTransmitFlags) return "tx_attr->op_flags";
  if (wanted.msg_order & ~kOrder) return "tx_attr->msg_order";
  if (wanted.comp_order) return "tx_attr->comp_order (completions come in any order)";
  if (!lower(ours.inject_size, wanted.inject_size)) return "tx_attr->inject_size";
  if (!lower(ours.iov_limit, wanted.iov_limit)) return "tx_attr->iov_limit";
  if (!lower(ours.rma_iov_limit, wanted.rma_iov_limit)) return "tx_attr->rma_iov_limit";
  if (wanted.size > kQueueSizeMost) return "tx_attr->size";
  echo(ours.size, wanted.size);
  if (wanted.caps) ours.caps = wanted.caps & kTransmitCaps;
  ours.op_flags = wanted.op_flags;
  echo(ours.tclass, wanted.tclass);
  return nullptr;
}

const char* receive_cut(fi_rx_attr& ours, const fi_rx_attr& wanted, std::uint64_t caps) {
  if (wanted.caps & ~caps) return "rx_attr->caps";
  if (wanted.op_flags & ~kReceiveFlags) return "rx_attr->op_flags";
  if (wanted.msg_order & ~kOrder) return "rx_attr->msg_order";
  if (wanted.comp_order) return "rx_attr->comp_order (completions come in any order)";
  if (!lower(ours.iov_limit, wanted.iov_limit)) return "rx_attr->iov_limit";
  if (!lower(ours.size, wanted.size)) return "rx_attr->size";
  if (wanted.total_buffered_recv) return "rx_attr->total_buffered_recv";
  if (wanted.caps) ours.caps = wanted.caps & kReceiveCaps;
  ours.op_flags = wanted.op_flags;
  return nullptr;
}

const char* endpoint_cut(fi_ep_attr& ours, const fi_ep_attr& wanted) {
  if (wanted.type != FI_EP_UNSPEC && wanted.type != FI_EP_RDM) return "ep_attr->type (FI_EP_RDM is)";
  if (wanted.protocol && wanted.protocol != kProtocol) return "ep_attr->protocol";
  if (wanted.protocol_version > ours.protocol_version) return "ep_attr->protocol_version";
  if (wanted.max_msg_size > ours.max_msg_size) return "ep_attr->max_msg_size";
  if (wanted.msg_prefix_size) return "ep_attr->msg_prefix_size";
  if (wanted.max_order_raw_size > ours.max_order_raw_size) return "ep_attr->max_order_raw_size";
  if (wanted.max_order_war_size > ours.max_order_war_size) return "ep_attr->max_order_war_size";
  if (wanted.max_order_waw_size > ours.max_order_waw_size) return "ep_attr->max_order_waw_size";
  if (wanted.tx_ctx_cnt > 1) return "ep_attr->tx_ctx_cnt";
  if (wanted.rx_ctx_cnt > 1) return "ep_attr->rx_ctx_cnt";
  if (wanted.auth_key_size) return "ep_attr->auth_key";
  return nullptr;
}

const char* domain_cut(fi_domain_attr& ours, const fi_domain_attr& wanted) {
  if (named_otherwise(wanted.name, ours.name)) return kOtherDomain;
  if (wanted.control_progress == FI_PROGRESS_AUTO && ours.control_progress != FI_PROGRESS_AUTO)
    return "domain_attr->control_progress (OMX_PROGRESS=off)";
  if (wanted.data_progress == FI_PROGRESS_AUTO && ours.data_progress != FI_PROGRESS_AUTO)
    return "domain_attr->data_progress (OMX_PROGRESS=off)";
  const int legacy = wanted.mr_mode & kLegacyMrModes;
  if (legacy && wanted.mr_mode != kMrBasic && wanted.mr_mode != kMrScalable) return "domain_attr->mr_mode";
  if (wanted.threading > FI_THREAD_ENDPOINT) return "domain_attr->threading";
  if (wanted.av_type > FI_AV_TABLE) return "domain_attr->av_type";
  if (wanted.mr_key_size > ours.mr_key_size) return "domain_attr->mr_key_size";
  if (wanted.cq_data_size > ours.cq_data_size) return "domain_attr->cq_data_size";
  if (wanted.cq_cnt > ours.cq_cnt) return "domain_attr->cq_cnt";
  if (wanted.ep_cnt > ours.ep_cnt) return "domain_attr->ep_cnt";
  if (wanted.cntr_cnt > ours.cntr_cnt) return "domain_attr->cntr_cnt";
  if (wanted.mr_iov_limit > ours.mr_iov_limit) return "domain_attr->mr_iov_limit";
  if (wanted.mr_cnt > ours.mr_cnt) return "domain_attr->mr_cnt";
  if (wanted.max_ep_tx_ctx > 1 || wanted.max_ep_rx_ctx > 1) return "domain_attr->max_ep_*_ctx";
  if (wanted.max_ep_stx_ctx || wanted.max_ep_srx_ctx) return "domain_attr->max_ep_s*x_ctx";
  if (wanted.caps & ~kDomainCaps) return "domain_attr->caps";
  if (wanted.auth_key_size) return "domain_attr->auth_key";
  if (wanted.max_err_data > ours.max_err_data) return "domain_attr->max_err_data";
  echo(ours.threading, wanted.threading);
  echo(ours.control_progress, wanted.control_progress);
  echo(ours.data_progress, wanted.data_progress);
  echo(ours.resource_mgmt, wanted.resource_mgmt);
  echo(ours.av_type, wanted.av_type);
  echo(ours.tclass, wanted.tclass);
  return nullptr;
}

// Answers mr_mode. We need none of the bits, so any set of them fits. The two old modes are answered in kind.
void mr_mode_cut(int& ours, int wanted, std::uint32_t version) {
  ours = wanted & kLegacyMrModes;
  if (ours == 0 && FI_VERSION_LT(version, FI_VERSION(1, 5))) ours = kMrScalable;
}

// Takes what is not given out of the other attributes.
void caps_spread(fi_info& offer, std::uint64_t caps) {
  offer.caps = caps;
  offer.tx_attr->caps &= caps;
  offer.rx_attr->caps &= caps;
  if (!(caps & (FI_RMA | FI_ATOMIC))) offer.tx_attr->rma_iov_limit = 0;
}

}  // namespace

const char* info_cut(fi_info& offer, const fi_info& hints, std::uint32_t version) {
  if (const std::uint64_t beyond = hints.caps & ~kCaps) return beyond == FI_HMEM ? kAccelerators : "caps";
  if (hints.handle) return "handle";
  const std::uint64_t caps = caps_given(hints);
  caps_spread(offer, caps);
  if (hints.fabric_attr && named_otherwise(hints.fabric_attr->name, kFabricName)) return "fabric_attr->name";
  const char* refused = nullptr;
  if (hints.ep_attr) refused = endpoint_cut(*offer.ep_attr, *hints.ep_attr);
  if (!refused && hints.domain_attr) refused = domain_cut(*offer.domain_attr, *hints.domain_attr);
  if (!refused && hints.tx_attr) refused = transmit_cut(*offer.tx_attr, *hints.tx_attr, caps);
  if (!refused && hints.rx_attr) refused = receive_cut(*offer.rx_attr, *hints.rx_attr, caps);
  if (refused) return refused;
  mr_mode_cut(offer.domain_attr->mr_mode, hints.domain_attr ? hints.domain_attr->mr_mode : 0, version);
  return nullptr;
}

}  // namespace omx::fabric
