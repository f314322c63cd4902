// SPDX-License-Identifier: BSD-3-Clause
#include "steering/topology.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <sys/auxv.h>

#include <algorithm>
#include <tuple>

#include "base/affinity.h"

namespace omx::steering {

namespace {

static_assert(HWLOC_API_VERSION >> 16 == 2, "another libhwloc than the one that is loaded");
constexpr const char* kLibrary = "libhwloc.so.15";  // of hwloc 2

// The functions of libhwloc that we use.
struct Hwloc {
  decltype(&::hwloc_topology_init) init = nullptr;
  decltype(&::hwloc_topology_destroy) destroy = nullptr;
  decltype(&::hwloc_topology_load) load = nullptr;
  decltype(&::hwloc_topology_set_flags) set_flags = nullptr;
  decltype(&::hwloc_topology_set_synthetic) set_synthetic = nullptr;
  decltype(&::hwloc_topology_set_all_types_filter) set_all_types_filter = nullptr;
  decltype(&::hwloc_topology_set_cache_types_filter) set_cache_types_filter = nullptr;
  decltype(&::hwloc_topology_set_type_filter) set_type_filter = nullptr;
  decltype(&::hwloc_get_type_depth) type_depth = nullptr;
  decltype(&::hwloc_get_obj_by_depth) object = nullptr;
  decltype(&::hwloc_bitmap_isset) isset = nullptr;
  bool whole = false;

  Hwloc() {
    void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    const auto find = [library](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    whole = find("hwloc_topology_init", init) && find("hwloc_topology_destroy", destroy) &&
            find("hwloc_topology_load", load) && find("hwloc_topology_set_flags", set_flags) &&
            find("hwloc_topology_set_synthetic", set_synthetic) &&
            find("hwloc_topology_set_all_types_filter", set_all_types_filter) &&
            find("hwloc_topology_set_cache_types_filter", set_cache_types_filter) &&
            find("hwloc_topology_set_type_filter", set_type_filter) &&
            find("hwloc_get_type_depth", type_depth) && find("hwloc_get_obj_by_depth", object) &&
            find("hwloc_bitmap_isset", isset);
  }
};

#if HWLOC_API_VERSION >= 0x00020500
constexpr unsigned long kStays = HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#else
constexpr unsigned long kStays = 0;
#endif

// Loads the topology without moving the thread. hwloc may run on each processor in turn to query it, but the
// thread belongs to the application.
bool load_in_place(const Hwloc& hwloc, hwloc_topology_t topology) {
  // The processor that handles the frames may be one that this process may not use.
  constexpr unsigned long kAll = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
  // An old library refuses flags that it does not know.
  if (hwloc.set_flags(topology, kAll | kStays) != 0) hwloc.set_flags(topology, kAll);
  const std::vector<int> before = affinity_read();
  const bool loaded = hwloc.load(topology) == 0;
  if (!before.empty() && affinity_read() != before) affinity_set(before);
  return loaded;
}

bool is_cache(hwloc_obj_type_t type) {
  return type >= HWLOC_OBJ_L1CACHE && type <= HWLOC_OBJ_L5CACHE;
}

class HwlocTopology final : public Topology {
 public:
  HwlocTopology(const Hwloc& hwloc, hwloc_topology_t topology) : hwloc_(hwloc), topology_(topology) {}
  ~HwlocTopology() override { hwloc_.destroy(topology_); }

  std::vector<int> beside(int cpu) const override {
    const hwloc_obj_t self = find(cpu);
    if (!self) return {};
    std::vector<std::tuple<unsigned, unsigned, int>> found;
    visit([&](hwloc_obj_t other) {
      if (other == self) return;
      if (const unsigned distance = cache_between(self, other))
        found.emplace_back(rank_in_core(self, other), distance, static_cast<int>(other->os_index));
    });
    std::sort(found.begin(), found.end());
    std::vector<int> cpus;
    cpus.reserve(found.size());
    for (const auto& one : found) cpus.push_back(std::get<int>(one));
    return cpus;
  }

 private:
  template <class Visit>
  void visit(Visit visit) const {
    const int depth = hwloc_.type_depth(topology_, HWLOC_OBJ_PU);
    for (unsigned i = 0; const hwloc_obj_t pu = hwloc_.object(topology_, depth, i); i++) visit(pu);
  }
  hwloc_obj_t find(int cpu) const {
    hwloc_obj_t found = nullptr;
    visit([&](hwloc_obj_t pu) {
      if (static_cast<int>(pu->os_index) == cpu) found = pu;
    });
    return found;
  }
  // Returns the number of levels from `self` up to the first common cache, or 0.
  unsigned cache_between(hwloc_obj_t self, hwloc_obj_t other) const {
    unsigned levels = 1;
    for (hwloc_obj_t at = self->parent; at; at = at->parent, levels++)
      if (is_cache(at->type) && hwloc_.isset(at->cpuset, other->os_index)) return levels;
    return 0;
  }
  static hwloc_obj_t core_of(hwloc_obj_t pu) {
    hwloc_obj_t at = pu;
    while (at && at->type != HWLOC_OBJ_CORE) at = at->parent;
    return at;
  }
  // Returns the order within a core. Threads of a core share its units, so the first thread of each other
  // core comes first.
  static unsigned rank_in_core(hwloc_obj_t self, hwloc_obj_t pu) {
    const hwloc_obj_t core = core_of(pu);
    if (!core) return 0;
    return pu->sibling_rank + (core == core_of(self) ? 1 : 0);
  }

  const Hwloc& hwloc_;
  hwloc_topology_t topology_;
};

}  // namespace

Expected<std::unique_ptr<Topology>, std::string> topology_load(const std::string& synthetic) {
  // libhwloc loads plug-ins that the environment names, so privileged programs must not load it.
  if (::getauxval(AT_SECURE) != 0)
    return tl::unexpected<std::string>(
        "programs with privileges of their own (setuid, setcap) do not use hwloc");
  static const Hwloc hwloc;
  if (!hwloc.whole)
    return tl::unexpected<std::string>("there is no libhwloc.so.15 (apt-get install libhwloc15)");
  hwloc_topology_t topology = nullptr;
  if (hwloc.init(&topology) != 0) return tl::unexpected<std::string>("hwloc cannot be started");
  hwloc.set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc.set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc.set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  const bool known = synthetic.empty() || hwloc.set_synthetic(topology, synthetic.c_str()) == 0;
  if (!known || !load_in_place(hwloc, topology)) {
    hwloc.destroy(topology);
    return tl::unexpected<std::string>("hwloc does not find out which processors share caches here");
  }
  return std::make_unique<HwlocTopology>(hwloc, topology);
}

}  // namespace omx::steering
