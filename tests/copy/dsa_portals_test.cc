// SPDX-License-Identifier: BSD-3-Clause
// Tests 5 and 9 of docs/spec/copy-offload.md 11: write() on a descriptor with a device behind it, and fork().
#include "copy/dsa_portals.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/support/dsa_rig.h"
#include "tests/support/emulated_file.h"

namespace omx::copy {
namespace {

// Stands between portal and file. Decides how much is written and which calls are refused.
struct Shim {
  std::vector<std::size_t> most;   // descriptors taken in the next calls; after these, all
  int refuse = 0;                  // errno of every call
  std::vector<std::size_t> calls;  // bytes offered

  WriteFdPortal::Write write() {
    return [this](int fd, const void* data, std::size_t bytes) -> ssize_t {
      calls.push_back(bytes);
      if (refuse) {
        errno = refuse;
        return -1;
      }
      if (!most.empty()) {
        bytes = std::min(bytes, most.front() * 64);
        most.erase(most.begin());
        if (bytes == 0) {
          errno = EAGAIN;
          return -1;
        }
      }
      return ::write(fd, data, bytes);
    };
  }
};

struct FileRig {
  explicit FileRig(const EmulatedScript& script, DsaOptions options = {}) : file(script), surroundings(file) {
    options.lost_ns = 60'000'000'000;  // the machine may stop the device's thread
    engine = std::move(*DsaEngine::create(std::make_unique<WriteFdPortal>(file.take_near(), shim.write()),
                                          options, surroundings));
  }
  ~FileRig() { engine.reset(); }

  Shim shim;
  EmulatedFile file;
  FileSurroundings surroundings;
  std::unique_ptr<DsaEngine> engine;
};

TEST(write_portal, sends_many_descriptors_with_one_call) {
  FileRig rig({});
  const Pages source(4, 1), destination(4);
  for (std::size_t i = 0; i < 10; i++)
    rig.engine->submit({source.data() + i * 1400, destination.data() + i * 1400, 1400});
  EXPECT_TRUE(rig.shim.calls.empty());
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_EQ(rig.shim.calls, std::vector<std::size_t>{640});
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 14000));
}

TEST(write_portal, that_takes_a_part_gets_the_rest_once) {
  FileRig rig({}, {.full_ns = 60'000'000'000});
  rig.shim.most = {3, 0, 1, 2};
  const Pages source(4, 1), destination(4);
  for (std::size_t i = 0; i < 10; i++)
    rig.engine->submit({source.data() + i * 1400, destination.data() + i * 1400, 1400});
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 14000));
  EXPECT_EQ(rig.shim.calls, (std::vector<std::size_t>{640, 448, 448, 384, 256}));
  rig.file.with_device([&](const EmulatedDevice& device) {
    ASSERT_EQ(device.accepted(), 10U) << "nothing twice";
    for (std::size_t i = 0; i < 10; i++)
      EXPECT_EQ(device.seen()[i].source, reinterpret_cast<std::uintptr_t>(source.data() + i * 1400));
    EXPECT_EQ(device.violations(), 0U);
  });
}

TEST(write_portal, says_what_the_system_call_said) {
  Shim shim;
  WriteFdPortal portal(OwnFd{}, shim.write());
  const DsaDescriptor two[2] = {};
  for (const int full : {EAGAIN, EINTR, EBUSY}) {
    shim.refuse = full;
    EXPECT_EQ(portal.submit(two).error, 0);
    EXPECT_EQ(portal.submit(two).accepted, 0U);
  }
  for (const int error : {EPERM, EINVAL, ENODEV, EIO}) {
    shim.refuse = error;
    EXPECT_EQ(portal.submit(two).error, error);
  }
  shim.calls.clear();
  EXPECT_EQ(portal.submit({}).accepted, 0U);
  EXPECT_TRUE(shim.calls.empty()) << "never a length of zero";
}

TEST(write_portal, without_permission_leaves_it_to_the_cpu) {
  FileRig rig({});
  rig.shim.refuse = EPERM;
  const Pages source(1, 1), destination(1);
  rig.engine->submit({source.data(), destination.data(), 100});
  EXPECT_EQ(rig.engine->poll(1), 1U);
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 100));
  EXPECT_STRNE(rig.engine->disabled_reason(), "");
}

// The socket fills up as a queue does. No piece is lost or doubled, whichever pieces the CPU copied
// meanwhile.
TEST(write_portal, to_a_full_file_is_busy_and_goes_on_later) {
  FileRig rig({}, {.most_outstanding = 64, .full_ns = 60'000'000'000});
  rig.file.hold(true);
  const Pages source(1, 1);
  std::vector<std::unique_ptr<Pages>> destinations;
  bool full = false;
  for (int i = 0; i < 64; i++) {
    destinations.push_back(std::make_unique<Pages>(1));
    ASSERT_EQ(rig.engine->submit({source.data(), destinations.back()->data(), 4096}).answer,
              Answer::accepted);
    rig.engine->poll(0);  // one call each
    full |= rig.engine->counters().get(Counter::queue_full) > 0;
  }
  EXPECT_EQ(rig.engine->submit({source.data(), destinations[0]->data(), 1}).answer, Answer::busy);
  rig.file.hold(false);
  EXPECT_TRUE(rig.engine->drain(kNever));
  for (const auto& destination : destinations)
    EXPECT_TRUE(same_bytes(source.data(), destination->data(), 4096));
  rig.file.with_device([](const EmulatedDevice& device) { EXPECT_EQ(device.accepted(), 64U); });
  RecordProperty("file_was_full", full);
}

TEST(write_portal, device_page_faults_are_repaired_across_threads) {
  EmulatedScript script;
  script.completion = EmulatedScript::Completion::shuffled;
  script.fault_chance = 0.3;
  FileRig rig(script, {.full_ns = 60'000'000'000});
  const Pages source(16, 1), destination(16);
  for (std::size_t i = 0; i < 16; i++)
    rig.engine->submit({source.data() + i * 4096, destination.data() + i * 4096, 4096, true});
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), source.size()));
}

// Runs `check` in a forked process. Returns its result.
bool in_child(const std::function<bool()>& check) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(check() ? 0 : 1);
  int status = 0;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(dsa_fork, child_is_refused_and_the_parent_goes_on) {
  EmulatedScript script;
  script.completion = EmulatedScript::Completion::never;
  DsaRig rig(script, {}, 2);
  const Pages source(1, 1), destination(1);
  for (std::size_t i = 0; i < 3; i++)  // two in flight, one kept back
    rig.engine->submit({source.data() + i * 100, destination.data() + i * 100, 100});
  EXPECT_TRUE(in_child([&] {
    CopyEngine& engine = *rig.engine;
    bool right = engine.submit({source.data(), destination.data(), 100}).answer == Answer::unavailable;
    engine.poll(10);
    right &= engine.completed() == 3 && engine.drain(kNever) && rig.device.accepted() == 2;
    for (Ticket t = 1; t <= 3; t++) right &= engine.failed(t);
    right &= *engine.disabled_reason() != '\0';
    rig.engine.reset();  // must not disturb the parent
    return right;
  }));
  EXPECT_EQ(rig.engine->completed(), 0U);
  rig.device.script().completion = EmulatedScript::Completion::in_order;
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 300));
  EXPECT_FALSE(rig.engine->failed(1));
  // The child's own new engine works.
  EXPECT_TRUE(in_child([&] {
    DsaRig own({});
    const Pages here(1);
    own.engine->submit({source.data(), here.data(), 100});
    return own.engine->drain(kNever) && same_bytes(source.data(), here.data(), 100);
  }));
}

TEST(portal_page, is_one_page_of_the_device) {
  char name[] = "/tmp/omx_copy_XXXXXX";
  const OwnFd file(::mkstemp(name));
  ASSERT_TRUE(file.open());
  ::unlink(name);
  ASSERT_EQ(::ftruncate(file.get(), PortalPage::kBytes), 0);
  PortalPage page(file.get());
  ASSERT_TRUE(page.mapped());
  auto* const first = static_cast<std::byte*>(page.next());
  for (std::size_t i = 1; i < PortalPage::kBytes / 64; i++)
    EXPECT_EQ(static_cast<std::byte*>(page.next()), first + i * 64);
  EXPECT_EQ(page.next(), first);
  EXPECT_FALSE(PortalPage(-1).mapped());
}

}  // namespace
}  // namespace omx::copy
