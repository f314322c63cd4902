// SPDX-License-Identifier: BSD-3-Clause
// Test 1 of docs/spec/copy-offload.md 11: the layout, against the kernel's header if there is one, and as
// bytes.
#include "copy/dsa_descriptor.h"

#include <gtest/gtest.h>

#include "tests/support/dsa_rig.h"

#if __has_include(<linux/idxd.h>)
#include <linux/idxd.h>
#define OMX_HAS_IDXD 1
#endif

namespace omx::copy {
namespace {

TEST(dsa_descriptor, is_what_the_kernel_declares) {
#ifdef OMX_HAS_IDXD
  static_assert(sizeof(dsa_hw_desc) == sizeof(DsaDescriptor));
  static_assert(sizeof(dsa_completion_record) == sizeof(DsaRecord));
  EXPECT_EQ(offsetof(dsa_hw_desc, completion_addr), offsetof(DsaDescriptor, record));
  EXPECT_EQ(offsetof(dsa_hw_desc, src_addr), offsetof(DsaDescriptor, source));
  EXPECT_EQ(offsetof(dsa_hw_desc, dst_addr), offsetof(DsaDescriptor, destination));
  EXPECT_EQ(offsetof(dsa_hw_desc, xfer_size), offsetof(DsaDescriptor, bytes));
  EXPECT_EQ(offsetof(dsa_hw_desc, int_handle), offsetof(DsaDescriptor, interrupt_handle));
  EXPECT_EQ(offsetof(dsa_hw_desc, op_specific), offsetof(DsaDescriptor, specific));
  EXPECT_EQ(offsetof(dsa_completion_record, status), offsetof(DsaRecord, status));
  EXPECT_EQ(offsetof(dsa_completion_record, result), offsetof(DsaRecord, result));
  EXPECT_EQ(offsetof(dsa_completion_record, bytes_completed), offsetof(DsaRecord, bytes_completed));
  EXPECT_EQ(offsetof(dsa_completion_record, fault_addr), offsetof(DsaRecord, fault_address));

  EXPECT_EQ(DSA_OPCODE_NOOP, static_cast<int>(DsaOpcode::no_op));
  EXPECT_EQ(DSA_OPCODE_BATCH, static_cast<int>(DsaOpcode::batch));
  EXPECT_EQ(DSA_OPCODE_DRAIN, static_cast<int>(DsaOpcode::drain));
  EXPECT_EQ(DSA_OPCODE_MEMMOVE, static_cast<int>(DsaOpcode::move));
  EXPECT_EQ(IDXD_OP_FLAG_FENCE, kDsaFence);
  EXPECT_EQ(IDXD_OP_FLAG_BOF, kDsaBlockOnFault);
  EXPECT_EQ(IDXD_OP_FLAG_CRAV, kDsaCompletionValid);
  EXPECT_EQ(IDXD_OP_FLAG_RCR, kDsaCompletionWanted);
  EXPECT_EQ(IDXD_OP_FLAG_CC, kDsaCacheControl);
  EXPECT_EQ(DSA_COMP_STATUS_MASK, kDsaStatusMask);
  EXPECT_EQ(DSA_COMP_STATUS_WRITE, kDsaStatusWrite);
  EXPECT_EQ(DSA_COMP_SUCCESS, static_cast<int>(DsaStatus::success));
  EXPECT_EQ(DSA_COMP_PAGE_FAULT_NOBOF, static_cast<int>(DsaStatus::page_fault));
  EXPECT_EQ(DSA_COMP_PAGE_FAULT_IR, static_cast<int>(DsaStatus::page_fault_blocking));
  EXPECT_EQ(DSA_COMP_BATCH_PAGE_FAULT, static_cast<int>(DsaStatus::batch_fault));
  EXPECT_EQ(DSA_COMP_CRA_XLAT, static_cast<int>(DsaStatus::record_fault));
  EXPECT_EQ(DSA_COMP_PFAULT_RDBA, static_cast<int>(DsaStatus::read_back_fault));
  EXPECT_EQ(DSA_COMP_HW_ERR1, static_cast<int>(DsaStatus::hardware_first));
  EXPECT_EQ(DSA_COMP_TRANSLATION_FAIL, static_cast<int>(DsaStatus::hardware_last));
#else
  GTEST_SKIP() << "linux/idxd.h is not installed (linux-libc-dev)";
#endif
}

TEST(dsa_descriptor, is_these_bytes) {
  DsaDescriptor d =
      dsa_describe(DsaOpcode::move, kDsaCompletionValid | kDsaCompletionWanted | kDsaCacheControl, nullptr);
  d.record = 0x1122334455667780;
  d.source = 0x0102030405060708;
  d.destination = 0xa1a2a3a4a5a6a7a8;
  d.bytes = 0x00201000;
  const unsigned char expected[64] = {0,    0,    0,    0,    0x0c, 0x01, 0,    3,    0x80, 0x77, 0x66, 0x55,
                                      0x44, 0x33, 0x22, 0x11, 8,    7,    6,    5,    4,    3,    2,    1,
                                      0xa8, 0xa7, 0xa6, 0xa5, 0xa4, 0xa3, 0xa2, 0xa1, 0x00, 0x10, 0x20, 0x00};
  EXPECT_EQ(std::memcmp(&d, expected, sizeof expected), 0);
}

TEST(dsa_descriptor, as_the_device_reads_it) {
  for (const bool cache : {false, true}) {
    DsaRig rig({}, {.cache_control = cache});
    const Pages source(1, 1), destination(1);
    rig.engine->submit({source.data() + 3, destination.data() + 5, 77});
    ASSERT_EQ(rig.device.seen().size(), 1U);
    const EmulatedWork& work = rig.device.seen()[0];
    EXPECT_EQ(work.opcode, 3);
    EXPECT_EQ(work.flags, cache ? 0x010cU : 0x000cU);
    EXPECT_EQ(work.pasid, 0U);
    EXPECT_TRUE(work.reserved_zero);
    EXPECT_EQ(work.source, reinterpret_cast<std::uintptr_t>(source.data() + 3));
    EXPECT_EQ(work.destination, reinterpret_cast<std::uintptr_t>(destination.data() + 5));
    EXPECT_EQ(work.bytes, 77U);
    EXPECT_EQ(work.record % 32, 0U);
    EXPECT_EQ(rig.device.violations(), 0U);
  }
}

}  // namespace
}  // namespace omx::copy
