// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/poll_set.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "libfabric/completion_queue.h"
#include "libfabric/counter.h"
#include "libfabric/domain.h"
#include "libfabric/event_queue.h"
#include "libfabric/fence.h"
#include "libfabric/object_calls.h"
#include "libfabric/wait_objects.h"

namespace omx::fabric {

namespace {

struct Member {
  fid* object = nullptr;
  std::uint64_t seen = 0;  // of a counter
};

class PollSet : public fid_poll {
 public:
  explicit PollSet(Domain& owner) : fid_poll{}, domain(owner) { domain.references.add(); }
  ~PollSet() { domain.references.drop(); }
  Domain& domain;
  std::mutex mutex;
  std::vector<Member> members;
};

PollSet& set_of(fid_poll* set) {
  return static_cast<PollSet&>(*set);
}

References& references_of(fid* object) {
  switch (object->fclass) {
    case FI_CLASS_CQ:
      return static_cast<CompletionQueue*>(reinterpret_cast<fid_cq*>(object))->references;
    case FI_CLASS_EQ:
      return static_cast<EventQueue*>(reinterpret_cast<fid_eq*>(object))->references;
    default:
      return static_cast<Counter*>(reinterpret_cast<fid_cntr*>(object))->references;
  }
}

bool news(Member& member) {
  switch (member.object->fclass) {
    case FI_CLASS_CQ:
      return !static_cast<CompletionQueue*>(reinterpret_cast<fid_cq*>(member.object))->empty();
    case FI_CLASS_EQ:
      return !static_cast<EventQueue*>(reinterpret_cast<fid_eq*>(member.object))->empty();
    default: {
      auto* counter = static_cast<Counter*>(reinterpret_cast<fid_cntr*>(member.object));
      const std::uint64_t value = counter->value() + counter->errors();
      return std::exchange(member.seen, value) != value;
    }
  }
}

int poll(fid_poll* object, void** contexts, int count) {
  PollSet& set = set_of(object);
  set.domain.progress();
  const std::lock_guard guard(set.mutex);
  int found = 0;
  for (Member& member : set.members) {
    if (found == count) break;
    if (news(member)) contexts[found++] = member.object->context;
  }
  return found;
}

int add(fid_poll* object, fid* event, std::uint64_t flags) {
  return fenced([&] {
    if (flags) return -FI_EBADFLAGS;
    if (!waitable_of(event) && event->fclass != FI_CLASS_EQ) return -FI_EINVAL;
    PollSet& set = set_of(object);
    const std::lock_guard guard(set.mutex);
    set.members.push_back({event});
    references_of(event).add();
    return 0;
  });
}

int remove(fid_poll* object, fid* event, std::uint64_t flags) {
  if (flags) return -FI_EBADFLAGS;
  PollSet& set = set_of(object);
  const std::lock_guard guard(set.mutex);
  const auto removed = std::erase_if(set.members, [&](const Member& m) { return m.object == event; });
  for (std::size_t i = 0; i < removed; i++) references_of(event).drop();
  return removed ? 0 : -FI_EINVAL;
}

int close(fid* object) {
  PollSet* set = &set_of(reinterpret_cast<fid_poll*>(object));
  for (const Member& member : set->members) references_of(member.object).drop();
  delete set;
  return 0;
}

const fi_ops kOps = closing_ops(close);
const fi_ops_poll kPollOps = {sizeof(fi_ops_poll), poll, add, remove};

}  // namespace

int poll_set_open(fid_domain* object, fi_poll_attr* attr, fid_poll** opened) {
  return fenced([&] {
    if (attr && attr->flags) return -FI_EBADFLAGS;
    auto* set = new PollSet(domain_of(object));
    set->fid = {FI_CLASS_POLL, nullptr, table(kOps)};
    set->ops = table(kPollOps);
    *opened = set;
    return 0;
  });
}

}  // namespace omx::fabric
