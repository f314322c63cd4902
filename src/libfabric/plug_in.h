// SPDX-License-Identifier: BSD-3-Clause
// How libfabric and a provider know each other. Ubuntu 22.04 leaves the headers for providers out of its
// package. The library there is the same, so what they declare, which is part of libfabric's binary
// interface, stands here as well.
#pragma once

#include <rdma/fabric.h>

#if __has_include(<rdma/providers/fi_prov.h>)
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#else
extern "C" {

struct fi_provider {
  uint32_t version;
  uint32_t fi_version;
  fi_context context;  // libfabric's
  const char* name;
  int (*getinfo)(uint32_t version, const char* node, const char* service, uint64_t flags,
                 const fi_info* hints, fi_info** info);
  int (*fabric)(fi_fabric_attr* attr, fid_fabric** fabric, void* context);
  void (*cleanup)();
};

enum fi_log_level { FI_LOG_WARN, FI_LOG_TRACE, FI_LOG_INFO, FI_LOG_DEBUG };
enum fi_log_subsys {
  FI_LOG_CORE,
  FI_LOG_FABRIC,
  FI_LOG_DOMAIN,
  FI_LOG_EP_CTRL,
  FI_LOG_EP_DATA,
  FI_LOG_AV,
  FI_LOG_CQ,
  FI_LOG_EQ,
  FI_LOG_MR
};

int fi_log_enabled(const fi_provider* provider, fi_log_level level, fi_log_subsys subsystem);
void fi_log(const fi_provider* provider, fi_log_level level, fi_log_subsys subsystem, const char* function,
            int line, const char* format, ...) __attribute__((format(printf, 6, 7)));
int fi_param_define(const fi_provider* provider, const char* name, fi_param_type type, const char* help, ...)
    __attribute__((format(printf, 4, 5)));
int fi_param_get(fi_provider* provider, const char* name, void* value);

}  // extern "C"

#define OMX_FI_LOG(provider, level, subsystem, ...)                        \
  do {                                                                     \
    if (fi_log_enabled(provider, level, subsystem))                        \
      fi_log(provider, level, subsystem, __func__, __LINE__, __VA_ARGS__); \
  } while (0)
#define FI_WARN(provider, subsystem, ...) OMX_FI_LOG(provider, FI_LOG_WARN, subsystem, __VA_ARGS__)
#define FI_INFO(provider, subsystem, ...) OMX_FI_LOG(provider, FI_LOG_INFO, subsystem, __VA_ARGS__)

inline int fi_param_get_str(fi_provider* provider, const char* name, char** value) {
  return fi_param_get(provider, name, value);
}
#endif

namespace omx::fabric {

// The part of libfabric's log for counters. Old versions have none, and would read a name beyond their table.
#if FI_VERSION_GE(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), FI_VERSION(1, 17))
inline constexpr fi_log_subsys kLogCounters = FI_LOG_CNTR;
#else
inline constexpr fi_log_subsys kLogCounters = FI_LOG_EQ;
#endif

}  // namespace omx::fabric
