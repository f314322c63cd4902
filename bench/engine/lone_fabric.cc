// SPDX-License-Identifier: BSD-3-Clause
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <array>
#include <cstring>
#include <memory>

#include "bench/engine/lone_message.h"

namespace omx::bench {
namespace {

constexpr std::uint32_t kVersion = FI_VERSION(1, 11);
constexpr std::uint64_t kTag = 1;

void must(ssize_t code, const char* what) {
  if (code < 0) lone_failed(what, fi_strerror(static_cast<int>(-code)));
}

struct InfoFree {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, InfoFree>;

Info info_of(const std::string& interface) {
  const Info hints(fi_allocinfo());
  hints->caps = FI_TAGGED;
  hints->fabric_attr->prov_name = ::strdup("omx");
  hints->domain_attr->name = ::strdup(interface.c_str());
  hints->ep_attr->type = FI_EP_RDM;
  fi_info* found = nullptr;
  must(fi_getinfo(kVersion, nullptr, nullptr, 0, hints.get(), &found), "fi_getinfo");
  return Info(found);
}

class FabricSide {
 public:
  FabricSide(const LoneOptions& options, std::size_t which)
      : info_(info_of(options.interfaces[which])),
        inject_(options.api == "inject"),
        out_(options.bytes, 'o'),
        in_(options.bytes, 'i') {
    must(fi_fabric(info_->fabric_attr, &fabric_, nullptr), "fi_fabric");
    must(fi_domain(fabric_, info_.get(), &domain_, nullptr), "fi_domain");
    fi_av_attr av{};
    must(fi_av_open(domain_, &av, &av_, nullptr), "fi_av_open");
    fi_cq_attr cq{};
    cq.format = FI_CQ_FORMAT_TAGGED;
    must(fi_cq_open(domain_, &cq, &cq_, nullptr), "fi_cq_open");
    must(fi_endpoint(domain_, info_.get(), &ep_, nullptr), "fi_endpoint");
    must(fi_ep_bind(ep_, &av_->fid, 0), "fi_ep_bind");
    must(fi_ep_bind(ep_, &cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    must(fi_enable(ep_), "fi_enable");
  }
  FabricSide(const FabricSide&) = delete;
  FabricSide& operator=(const FabricSide&) = delete;
  ~FabricSide() {
    for (fid* object : {&ep_->fid, &cq_->fid, &av_->fid, &domain_->fid, &fabric_->fid}) fi_close(object);
  }

  void learn(FabricSide& other) {
    std::array<char, 64> name{};
    std::size_t length = name.size();
    must(fi_getname(&other.ep_->fid, name.data(), &length), "fi_getname");
    if (fi_av_insert(av_, name.data(), 1, &peer_, 0, nullptr) != 1)
      lone_failed("fi_av_insert", "the address was not taken");
  }

  // The first calls wait until the peers know each other.
  void post() {
    was_received_ = false;
    ssize_t code = 0;
    while ((code = fi_trecv(ep_, in_.data(), in_.size(), nullptr, FI_ADDR_UNSPEC, kTag, 0, &receive_)) ==
           -FI_EAGAIN)
      look();
    must(code, "fi_trecv");
  }
  void send() {
    was_sent_ = inject_;
    ssize_t code = 0;
    while ((code = put()) == -FI_EAGAIN) look();
    must(code, inject_ ? "fi_tinject" : "fi_tsend");
  }
  bool received() {
    if (!was_received_) look();
    return was_received_;
  }
  bool sent() {
    if (!was_sent_) look();
    return was_sent_;
  }
  void look() {
    fi_cq_tagged_entry entry;
    const ssize_t got = fi_cq_read(cq_, &entry, 1);
    if (got == -FI_EAGAIN) return;
    must(got, "fi_cq_read");
    (entry.op_context == &receive_ ? was_received_ : was_sent_) = true;
  }

 private:
  ssize_t put() {
    if (inject_) return fi_tinject(ep_, out_.data(), out_.size(), peer_, kTag);
    return fi_tsend(ep_, out_.data(), out_.size(), nullptr, peer_, kTag, &send_);
  }

  Info info_;
  bool inject_;
  std::vector<char> out_, in_;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* av_ = nullptr;
  fid_cq* cq_ = nullptr;
  fid_ep* ep_ = nullptr;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  fi_context2 receive_{}, send_{};
  bool was_received_ = false, was_sent_ = false;
};

}  // namespace

void lone_fabric(const LoneOptions& options) {
  FabricSide a(options, 0), b(options, 1);
  a.learn(b);
  b.learn(a);
  exchange(a, b, options.rounds);
}

}  // namespace omx::bench
