// SPDX-License-Identifier: BSD-3-Clause
#include "subjects.h"

#include "copy/channels.h"
#include "copy/cpu_engine.h"
#include "copy/dsa_engine.h"
#include "copy/dsa_portals.h"
#include "copy/emulated_portal.h"
#include "copy/thread_engine.h"
#include "tests/support/emulated_file.h"

namespace omx::copy {

namespace {

class Plain final : public Subject {
 public:
  explicit Plain(std::unique_ptr<CopyEngine> engine) : engine_(std::move(engine)) {}
  CopyEngine& engine() override { return *engine_; }

 private:
  std::unique_ptr<CopyEngine> engine_;
};

// Hands all calls to an engine that a subject owns.
class Borrowed final : public CopyEngine {
 public:
  explicit Borrowed(CopyEngine& engine) : engine_(engine) {}
  Capabilities capabilities() const override { return engine_.capabilities(); }
  Submission submit(const Piece& piece) override { return follow(engine_.submit(piece)); }
  std::uint32_t poll(std::uint32_t budget) override { return follow(engine_.poll(budget)); }
  bool drain(TimeNs deadline) override { return follow(engine_.drain(deadline)); }
  bool failed(Ticket ticket) const override { return engine_.failed(ticket); }
  const char* disabled_reason() const override { return engine_.disabled_reason(); }
  const Counters& counters() const override { return engine_.counters(); }

 private:
  template <class Answer>
  Answer follow(Answer answer) {
    submitted_ = engine_.submitted();
    completed_ = engine_.completed();
    return answer;
  }

  CopyEngine& engine_;
};

class Emulated final : public Subject {
 public:
  Emulated(const EmulatedScript& script, const DsaOptions& options, std::size_t batch)
      : device_(script), surroundings_(device_, 200) {
    engine_ = std::move(
        *DsaEngine::create(std::make_unique<EmulatedPortal>(device_, batch), options, surroundings_));
  }
  ~Emulated() override { engine_.reset(); }
  CopyEngine& engine() override { return *engine_; }

 private:
  EmulatedDevice device_;
  EmulatedSurroundings surroundings_;
  std::unique_ptr<CopyEngine> engine_;
};

// Several subjects as the channels of one engine.
class Joined final : public Subject {
 public:
  explicit Joined(const std::vector<SubjectKind>& kinds) {
    std::vector<std::unique_ptr<CopyEngine>> engines;
    for (const SubjectKind& kind : kinds) {
      parts_.push_back(kind.make());
      engines.push_back(std::make_unique<Borrowed>(parts_.back()->engine()));
    }
    engine_ = Channels::join(std::move(engines));
  }
  ~Joined() override { engine_.reset(); }
  CopyEngine& engine() override { return *engine_; }

 private:
  std::vector<std::unique_ptr<Subject>> parts_;
  std::unique_ptr<CopyEngine> engine_;
};

class ByFile final : public Subject {
 public:
  ByFile(const EmulatedScript& script, const DsaOptions& options) : file_(script), surroundings_(file_) {
    engine_ = std::move(
        *DsaEngine::create(std::make_unique<WriteFdPortal>(file_.take_near()), options, surroundings_));
  }
  ~ByFile() override { engine_.reset(); }
  CopyEngine& engine() override { return *engine_; }

 private:
  EmulatedFile file_;
  FileSurroundings surroundings_;
  std::unique_ptr<CopyEngine> engine_;
};

SubjectKind thread_kind(std::string name, std::uint32_t most) {
  return {std::move(name), [most] {
            return std::make_unique<Plain>(std::move(*ThreadEngine::create({.most_outstanding = most})));
          }};
}

SubjectKind emulated_kind(std::string name, const EmulatedScript& script, const DsaOptions& options = {},
                          std::size_t batch = 1) {
  return {std::move(name), [=] { return std::make_unique<Emulated>(script, options, batch); }};
}

SubjectKind joined_kind(std::string name, const std::vector<SubjectKind>& kinds) {
  return {std::move(name), [=] { return std::make_unique<Joined>(kinds); }};
}

SubjectKind file_kind(std::string name, const EmulatedScript& script) {
  DsaOptions options;
  // A test machine may stop any thread for a long time.
  options.full_ns = options.lost_ns = 60'000'000'000;
  return {std::move(name), [=] { return std::make_unique<ByFile>(script, options); }};
}

}  // namespace

std::vector<SubjectKind> subject_kinds() {
  using Completion = EmulatedScript::Completion;
  EmulatedScript small;
  small.completion = Completion::shuffled;
  small.transfer_limit = 1000;
  small.queue_depth = 3;
  EmulatedScript faults;
  faults.completion = Completion::in_order;
  faults.fault_chance = 0.3;
  EmulatedScript backward = faults;
  backward.backward = true;
  backward.transfer_limit = 3000;
  EmulatedScript delayed;
  delayed.completion = Completion::after;
  delayed.delay_ns = 5000;
  const SubjectKind shuffled = emulated_kind("dsa_shuffled", {.completion = Completion::shuffled}, {}, 32);
  const SubjectKind dsa_small =
      emulated_kind("dsa_small", small, {.most_outstanding = 7, .max_transfer = 1000}, 4);
  const SubjectKind dsa_faults = emulated_kind("dsa_faults", faults);
  EmulatedScript lists{.completion = Completion::shuffled, .list_limit = 8};
  EmulatedScript lists_with_faults = faults;
  lists_with_faults.list_limit = 32;
  return {
      {"cpu", [] { return std::make_unique<Plain>(std::make_unique<CpuEngine>()); }},
      thread_kind("thread", 64),
      thread_kind("thread_of_one", 1),
      emulated_kind("dsa_at_once", {}),
      shuffled,
      emulated_kind("dsa_delayed", delayed, {.most_outstanding = 5}, 32),
      dsa_small,
      dsa_faults,
      emulated_kind("dsa_backward", backward, {.max_transfer = 3000}, 8),
      file_kind("dsa_by_file", {}),
      file_kind("dsa_by_file_faults", faults),
      emulated_kind("dsa_lists", lists, {.max_list = 8}),
      emulated_kind("dsa_lists_with_faults", lists_with_faults, {.max_list = 3}),
      joined_kind("threads_joined", {thread_kind("", 64), thread_kind("", 1), thread_kind("", 8)}),
      joined_kind("dsa_joined", {shuffled, dsa_small, dsa_faults, emulated_kind("", lists, {.max_list = 8})}),
  };
}

}  // namespace omx::copy
