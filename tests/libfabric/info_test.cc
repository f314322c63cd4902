// SPDX-License-Identifier: BSD-3-Clause
// What is offered for which hints (docs/spec/libfabric.md 1.5, 2.2, 3.2).
#include <cstring>

#include "fabric_pair.h"
#include "libfabric/versions.h"

namespace omx::fabric::test {
namespace {

class Offers : public FabricTest {
 protected:
  static Info offer(const Info& wanted, std::uint32_t version = FI_VERSION(1, 17)) {
    return info_of("v0", wanted.get(), version);
  }
};

TEST_F(Offers, no_hints__all_that_there_is) {
  const Info all = info_of("v0", nullptr);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->ep_attr->type, FI_EP_RDM);
  EXPECT_EQ(all->mode, 0U);
  EXPECT_EQ(all->domain_attr->mr_mode, 0);
  EXPECT_EQ(all->domain_attr->max_ep_tx_ctx, 1U);
  EXPECT_EQ(all->ep_attr->mem_tag_format, 0xAAAAAAAAAAAAAAAAU);
  EXPECT_GE(all->ep_attr->max_msg_size, 0xFFFFFF00U);
  EXPECT_GE(all->domain_attr->cq_data_size, 8U);
  EXPECT_GE(all->tx_attr->inject_size, 64U);
  EXPECT_TRUE(all->caps & FI_DIRECTED_RECV);
  EXPECT_FALSE(all->caps & FI_SOURCE_ERR);
  EXPECT_STREQ(all->fabric_attr->name, "omx");
  EXPECT_EQ(all->src_addrlen, 32U);
  ASSERT_TRUE(all->nic);
  EXPECT_STREQ(all->nic->device_attr->name, "v0");
  EXPECT_EQ(all->nic->link_attr->mtu, 9000U);
  EXPECT_EQ(all->nic->link_attr->state, FI_LINK_UP);
  // The interface comes after all the rest, which is longer than one page of the text.
  const std::string text = fi_tostr(all.get(), FI_TYPE_INFO);
  EXPECT_THAT(text, testing::StartsWith("fi_info:"));
  EXPECT_THAT(text, testing::HasSubstr("fi_link_attr:"));
  EXPECT_THAT(text, testing::HasSubstr("v0"));
}

TEST_F(Offers, one_for_each_board_and_one_of_all) {
  const Info wanted = hints();
  fi_info* found = nullptr;
  ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, wanted.get(), &found), 0);
  const Info all(found);
  EXPECT_STREQ(found->domain_attr->name, "v0");
  ASSERT_TRUE(found->next);
  EXPECT_STREQ(found->next->domain_attr->name, "v1");
  ASSERT_TRUE(found->next->next);
  EXPECT_STREQ(found->next->next->domain_attr->name, "omx-all");
  EXPECT_FALSE(found->next->next->next);
}

// Debian's Open MPI asks in this way.
TEST_F(Offers, open_mpi) {
  const Info wanted = hints(FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV);
  wanted->mode = FI_CONTEXT | FI_CONTEXT2;
  wanted->tx_attr->msg_order = wanted->rx_attr->msg_order = FI_ORDER_SAS;
  wanted->tx_attr->op_flags = wanted->rx_attr->op_flags = FI_COMPLETION;
  wanted->domain_attr->threading = FI_THREAD_DOMAIN;
  wanted->domain_attr->av_type = FI_AV_MAP;
  wanted->domain_attr->resource_mgmt = FI_RM_ENABLED;
  wanted->domain_attr->cq_data_size = 4;
  const Info got = offer(wanted, FI_VERSION(1, 5));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->mode, 0U);
  EXPECT_EQ(got->domain_attr->threading, FI_THREAD_DOMAIN);
  EXPECT_EQ(got->domain_attr->av_type, FI_AV_MAP);
  EXPECT_EQ(got->tx_attr->op_flags, FI_COMPLETION);
  EXPECT_EQ(got->caps & (FI_MSG | FI_RMA | FI_ATOMIC | FI_SOURCE), 0U);  // not asked for
  EXPECT_TRUE(got->caps & FI_SEND);
  EXPECT_TRUE(got->caps & FI_RECV);
}

// MPICH asks for what it was offered without hints.
TEST_F(Offers, mpich) {
  const Info all = info_of("v0", nullptr);
  ASSERT_TRUE(all);
  const Info wanted = hints(all->caps | FI_DIRECTED_RECV);
  wanted->mode = FI_CONTEXT | FI_ASYNC_IOV | FI_RX_CQ_DATA | FI_CONTEXT2;
  wanted->domain_attr->threading = FI_THREAD_DOMAIN;
  wanted->domain_attr->control_progress = wanted->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  wanted->domain_attr->av_type = FI_AV_TABLE;
  wanted->domain_attr->mode = FI_RESTRICTED_COMP;
  wanted->tx_attr->op_flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
  wanted->tx_attr->msg_order = FI_ORDER_SAS;
  wanted->rx_attr->op_flags = FI_COMPLETION;
  wanted->ep_attr->mem_tag_format = (1ULL << 55) - 1;
  const Info got = offer(wanted);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->domain_attr->threading, FI_THREAD_DOMAIN);
  EXPECT_EQ(got->domain_attr->data_progress, FI_PROGRESS_MANUAL);
  EXPECT_EQ(got->caps & FI_SOURCE_ERR, 0U);
}

TEST_F(Offers, what_cannot_be_had_is_declined) {
  const std::vector<std::function<void(fi_info&)>> wishes = {
      [](fi_info& i) { i.caps = FI_MULTICAST; },
      [](fi_info& i) { i.caps = FI_TAGGED | FI_HMEM; },
      [](fi_info& i) { i.addr_format = FI_SOCKADDR_IN; },
      [](fi_info& i) { i.ep_attr->type = FI_EP_MSG; },
      [](fi_info& i) { i.ep_attr->type = FI_EP_DGRAM; },
      [](fi_info& i) { i.ep_attr->tx_ctx_cnt = 2; },
      [](fi_info& i) { i.ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT; },
      [](fi_info& i) { i.ep_attr->protocol = FI_PROTO_SOCK_TCP; },
      [](fi_info& i) { i.ep_attr->max_msg_size = std::size_t{1} << 33; },
      [](fi_info& i) { i.tx_attr->inject_size = 4097; },
      [](fi_info& i) { i.tx_attr->iov_limit = 9; },
      [](fi_info& i) { i.tx_attr->msg_order = FI_ORDER_SAW; },
      [](fi_info& i) { i.tx_attr->comp_order = 0x1FF; },  // FI_ORDER_STRICT, which libfabric 2 deprecates
      [](fi_info& i) { i.tx_attr->op_flags = FI_COMMIT_COMPLETE; },
      [](fi_info& i) { i.rx_attr->total_buffered_recv = 1; },
      [](fi_info& i) { i.domain_attr->cq_data_size = 9; },
      [](fi_info& i) { i.domain_attr->mr_key_size = 9; },
      [](fi_info& i) { i.domain_attr->max_ep_srx_ctx = 1; },
      [](fi_info& i) { i.domain_attr->name = ::strdup("eth7"); },
      [](fi_info& i) { i.fabric_attr->name = ::strdup("another"); },
  };
  for (std::size_t i = 0; i < wishes.size(); i++) {
    const Info wanted = hints();
    ASSERT_TRUE(offer(wanted));
    wishes[i](*wanted);
    EXPECT_FALSE(offer(wanted)) << "wish " << i;
  }
}

TEST_F(Offers, what_is_asked_for_is_echoed) {
  for (const fi_threading level :
       {FI_THREAD_SAFE, FI_THREAD_FID, FI_THREAD_DOMAIN, FI_THREAD_COMPLETION, FI_THREAD_ENDPOINT}) {
    const Info wanted = hints();
    wanted->domain_attr->threading = level;
    EXPECT_EQ(offer(wanted)->domain_attr->threading, level);
  }
  const Info wanted = hints(FI_RMA);
  wanted->tx_attr->size = 16;
  wanted->tx_attr->inject_size = 100;
  wanted->tx_attr->iov_limit = 2;
  const Info got = offer(wanted);
  EXPECT_EQ(got->tx_attr->size, 16U);
  EXPECT_EQ(got->tx_attr->inject_size, 100U);
  EXPECT_EQ(got->tx_attr->iov_limit, 2U);
  EXPECT_TRUE(got->caps & FI_REMOTE_READ);
  EXPECT_FALSE(got->caps & FI_TAGGED);
}

TEST_F(Offers, memory_modes_old_and_new) {
  const Info wanted = hints(FI_RMA);
  wanted->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_LOCAL;
  EXPECT_EQ(offer(wanted)->domain_attr->mr_mode, 0);  // we need none of these modes
  wanted->domain_attr->mr_mode = kMrBasic;
  EXPECT_EQ(offer(wanted, FI_VERSION(1, 4))->domain_attr->mr_mode, kMrBasic);
  wanted->domain_attr->mr_mode = kMrScalable;
  EXPECT_EQ(offer(wanted, FI_VERSION(1, 4))->domain_attr->mr_mode, kMrScalable);
  wanted->domain_attr->mr_mode = 0;  // FI_MR_UNSPEC
  EXPECT_EQ(offer(wanted, FI_VERSION(1, 4))->domain_attr->mr_mode, kMrScalable);
}

TEST_F(Offers, node_and_service) {
  const Info wanted = hints();
  fi_info* found = nullptr;
  ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), "v1", "7", FI_SOURCE, wanted.get(), &found), 0);
  EXPECT_STREQ(found->domain_attr->name, "v1");
  EXPECT_FALSE(found->next);
  EXPECT_EQ(static_cast<unsigned char*>(found->src_addr)[7], 7);
  fi_freeinfo(found);
  ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), "02:00:00:00:00:09", "3", 0, wanted.get(), &found), 0);
  EXPECT_EQ(found->dest_addrlen, 32U);
  EXPECT_EQ(static_cast<unsigned char*>(found->dest_addr)[13], 9);
  fi_freeinfo(found);
  EXPECT_EQ(fi_getinfo(FI_VERSION(1, 17), "v1", "65536", FI_SOURCE, wanted.get(), &found), -FI_ENODATA);
  EXPECT_EQ(fi_getinfo(FI_VERSION(1, 17), "v9", "1", FI_SOURCE, wanted.get(), &found), -FI_ENODATA);
}

TEST_F(Offers, addresses_as_text) {
  const Info wanted = hints();
  wanted->addr_format = FI_ADDR_STR;
  const Info got = offer(wanted);
  ASSERT_TRUE(got);
  EXPECT_THAT(static_cast<char*>(got->src_addr), testing::StartsWith("fi_omx://"));
}

}  // namespace
}  // namespace omx::fabric::test
