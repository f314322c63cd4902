// SPDX-License-Identifier: BSD-3-Clause
// Opening and probing. The "device" is a named pipe with the software device behind it. Like today's work
// queues it refuses mmap and takes write().
#include "copy/dsa_open.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/random.h"
#include "copy/dsa_engine.h"
#include "copy/dsa_portals.h"
#include "copy/engines.h"
#include "fake_sysfs.h"
#include "tests/support/emulated_file.h"

namespace omx::copy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr TimeNs kSoon = 20'000'000;

OwnFd pipe_make(const std::filesystem::path& path) {
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  return OwnFd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
}

TEST(dsa_open, proves_a_queue_and_copies) {
  const FakeSysfs sysfs("shared");
  EmulatedFile file({}, pipe_make(sysfs.device("wq0.0")));
  DsaSystem system = sysfs.system();
  auto engine = engine_create(EngineKind::dsa, {.dsa = system});
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->capabilities().most_outstanding, 14U);
  std::vector<std::byte> source(5000), destination(5000);
  random_fill(source, 1);
  file.publish();
  EXPECT_EQ((*engine)->submit({source.data(), destination.data(), source.size()}).answer, Answer::accepted);
  EXPECT_TRUE((*engine)->drain(kNever));
  EXPECT_EQ(source, destination);
  EXPECT_STREQ((*engine)->capabilities().name, "dsa");
  file.with_device([](const EmulatedDevice& device) {
    ASSERT_EQ(device.accepted(), 2U);
    EXPECT_EQ(device.seen()[0].opcode, 0) << "the probe";
    EXPECT_EQ(device.seen()[1].flags, 0x010cU) << "with cache control, as gen_cap has it";
    EXPECT_EQ(device.violations(), 0U);
  });
  EXPECT_STREQ((*engine_create(EngineKind::automatic, {.dsa = system}))->capabilities().name, "dsa");
}

TEST(dsa_open, takes_the_next_queue_when_one_is_silent) {
  const FakeSysfs sysfs("two_nodes");
  const OwnFd silent = pipe_make(sysfs.device("wq0.1"));
  EmulatedFile file({}, pipe_make(sysfs.device("wq2.0")));
  const auto open = dsa_open_best(sysfs.system(), -1, 1);
  ASSERT_TRUE(open) << open.error().message;
  ASSERT_EQ(open->size(), 1U);
  EXPECT_EQ(open->front().queue.name, "wq2.0");
  EXPECT_STREQ(open->front().portal->name(), "write()");
}

std::vector<std::string> opened(const FakeSysfs& sysfs, std::size_t most) {
  std::vector<std::string> names;
  const auto open = dsa_open_best(sysfs.system(), -1, most);
  EXPECT_TRUE(open) << open.error().message;
  if (open)
    for (const OpenQueue& one : *open) names.push_back(one.queue.name);
  return names;
}

TEST(dsa_open, takes_several_queues__of_several_devices_first) {
  const FakeSysfs sysfs("four_queues");
  std::vector<std::unique_ptr<EmulatedFile>> files;
  for (const char* queue : {"wq0.0", "wq0.1", "wq2.0", "wq2.1"})
    files.push_back(std::make_unique<EmulatedFile>(EmulatedScript{}, pipe_make(sysfs.device(queue))));
  EXPECT_THAT(opened(sysfs, 1), ElementsAre("wq0.0"));
  EXPECT_THAT(opened(sysfs, 3), ElementsAre("wq0.0", "wq2.0", "wq0.1"));
  EXPECT_THAT(opened(sysfs, 9), ElementsAre("wq0.0", "wq2.0", "wq0.1", "wq2.1"));
  auto engine = engine_create(EngineKind::dsa, {.dsa = sysfs.system(), .channels = 0});
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->capabilities().most_outstanding, 4 * 14U);
  EXPECT_STREQ((*engine)->capabilities().name, "dsa");
}

// Queues of another node are further away than a second queue of the own one.
TEST(dsa_open, takes_several_queues__of_one_node) {
  const FakeSysfs sysfs("two_nodes");
  std::vector<std::unique_ptr<EmulatedFile>> files;
  for (const char* queue : {"wq0.0", "wq0.1", "wq2.0"})
    files.push_back(std::make_unique<EmulatedFile>(EmulatedScript{}, pipe_make(sysfs.device(queue))));
  EXPECT_THAT(opened(sysfs, 9), ElementsAre("wq0.1", "wq0.0"));
}

TEST(dsa_open, says_what_is_wrong) {
  const FakeSysfs sysfs("dedicated");
  DsaSystem system = sysfs.system();
  const DsaQueue queue = dsa_find(system, -1).queues.at(0);
  const auto message = [&] {
    const auto open = dsa_open(system, queue, kSoon, dsa_surroundings());
    return open ? "it works" : open.error().message;
  };
  EXPECT_THAT(message(), AllOf(HasSubstr("wq0.0 cannot be opened (No such file"), HasSubstr("container")));
  for (const auto& [error, text] :
       {std::pair{EACCES, "chmod"}, std::pair{EBUSY, "--mode=shared"}, std::pair{EIO, "Input"}}) {
    system.open = [number = error](const std::string&) {
      errno = number;
      return -1;
    };
    EXPECT_THAT(message(), HasSubstr(text));
  }
  system.open = {};
  const OwnFd silent = pipe_make(sysfs.device("wq0.0"));
  EXPECT_THAT(message(), HasSubstr("does not answer: a no-op by write() did not come back within 20 ms"));
  system.open = [](const std::string&) { return ::open("/dev/full", O_RDWR | O_CLOEXEC); };
  EXPECT_THAT(message(),
              AllOf(HasSubstr("accepts no work by"), HasSubstr("No space left"), HasSubstr("CAP_SYS_RAWIO")));
}

TEST(dsa_probe, has_an_answer_for_everything) {
  const auto probe = [](const EmulatedScript& script) {
    EmulatedDevice device(script);
    EmulatedSurroundings surroundings(device);
    EmulatedPortal portal(device);
    const int error = dsa_probe(portal, 1'000'000, surroundings);
    device.complete_late();  // its record is still there
    return error;
  };
  EXPECT_EQ(probe({}), 0);
  EmulatedScript script;
  script.busy_first = 10;
  EXPECT_EQ(probe(script), 0);
  script.busy_first = 1000;
  EXPECT_EQ(probe(script), EAGAIN);
  script = {};
  script.error_after = 0;
  EXPECT_EQ(probe(script), EPERM);
  script = {};
  script.completion = EmulatedScript::Completion::never;
  EXPECT_EQ(probe(script), ETIMEDOUT);
  script = {};
  script.inject[0] = 0x20;
  EXPECT_EQ(probe(script), EIO);
}

}  // namespace
}  // namespace omx::copy
