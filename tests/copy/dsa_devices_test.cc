// SPDX-License-Identifier: BSD-3-Clause
#include "copy/dsa_devices.h"

#include <gmock/gmock.h>

#include "fake_sysfs.h"

namespace omx::copy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DsaFindings find(const std::string& name, int node = -1) {
  const FakeSysfs sysfs(name);
  return dsa_find(sysfs.system(), node);
}

TEST(dsa_devices, a_queue_with_all_it_says) {
  const FakeSysfs sysfs("shared");
  const DsaFindings findings = dsa_find(sysfs.system(), -1);
  EXPECT_THAT(findings.refusals, IsEmpty());
  ASSERT_EQ(findings.queues.size(), 1U);
  const DsaQueue& queue = findings.queues[0];
  EXPECT_EQ(queue.name, "wq0.0");
  EXPECT_EQ(queue.device, "dsa0");
  EXPECT_EQ(queue.path, sysfs.device("wq0.0"));
  EXPECT_EQ(queue.numa_node, 0);
  EXPECT_TRUE(queue.shared);
  EXPECT_EQ(queue.size, 16U);
  EXPECT_EQ(queue.threshold, 15U);
  EXPECT_EQ(queue.max_transfer, 2U << 20);
  EXPECT_TRUE(queue.cache_control);
}

TEST(dsa_devices, dedicated_queue_is_ours_to_its_size) {
  const DsaFindings findings = find("dedicated");
  ASSERT_EQ(findings.queues.size(), 1U);
  EXPECT_FALSE(findings.queues[0].shared);
  EXPECT_EQ(findings.queues[0].threshold, 8U);
  EXPECT_EQ(findings.queues[0].max_transfer, 65536U);
}

TEST(dsa_devices, best_is_near_then_shared) {
  const auto names = [](const DsaFindings& findings) {
    std::vector<std::string> list;
    for (const DsaQueue& queue : findings.queues) list.push_back(queue.name);
    return list;
  };
  EXPECT_THAT(names(find("two_nodes")), ElementsAre("wq0.1", "wq2.0", "wq0.0"));
  EXPECT_THAT(names(find("two_nodes", 0)), ElementsAre("wq0.1", "wq0.0", "wq2.0"));
  EXPECT_THAT(names(find("two_nodes", 1)), ElementsAre("wq2.0", "wq0.1", "wq0.0"));
  EXPECT_EQ(find("two_nodes", 1).queues[0].max_transfer, 2147483648U) << "what the device can do is less";
  EXPECT_THAT(find("two_nodes").refusals, IsEmpty()) << "another accelerator is none of our business";
}

TEST(dsa_devices, refusals_name_the_remedy) {
  struct Case {
    const char* name;
    const char* object;
    const char* remedy;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"", "/bus/dsa/devices is not there", "modprobe idxd"},
           {"no_device", "found no Data Streaming Accelerator", ""},
           {"disabled_device", "dsa0 is disabled", "accel-config enable-device dsa0"},
           {"disabled_queue", "wq0.0 is disabled", "accel-config enable-wq dsa0/wq0.0"},
           {"no_pasid", "dsa0 has no shared virtual memory", "intel_iommu=on,sm_on"},
           {"unreadable", "wq0.0/mode cannot be read", ""},
           {"no_queue", "no accelerator has a work queue", "accel-config config-wq"},
           {"odd_numbers", "wq0.0 does not show its size", ""}}) {
    SCOPED_TRACE(c.name);
    const DsaFindings findings = find(c.name);
    EXPECT_THAT(findings.queues, IsEmpty());
    EXPECT_THAT(findings.refusals, ElementsAre(AllOf(HasSubstr(c.object), HasSubstr(c.remedy))));
  }
  EXPECT_THAT(find("kernel_queue").refusals,
              ElementsAre(AllOf(HasSubstr("wq0.0 is for the kernel"), HasSubstr("dsa0/wq0.0 --type=user")),
                          HasSubstr("wq0.1 is not configured")));
}

}  // namespace
}  // namespace omx::copy
