// SPDX-License-Identifier: BSD-3-Clause
// What the provider can do, in libfabric's terms: capabilities, flags, orders and limits.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

#include "libfabric/versions.h"

namespace omx::fabric {

inline constexpr std::uint64_t kDirections =
    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
// Capabilities that are given only to callers that ask for them.
inline constexpr std::uint64_t kPrimaryCaps =
    FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV | kDirections;
// Capabilities that cost nothing. Every caller gets them.
inline constexpr std::uint64_t kFreeCaps = FI_MULTI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_RMA_EVENT;
// Capabilities that cost something with each message.
inline constexpr std::uint64_t kDearCaps = FI_SOURCE | FI_SOURCE_ERR;
inline constexpr std::uint64_t kCaps = kPrimaryCaps | kFreeCaps | kDearCaps;
// Capabilities of a caller that asks for none. It must not get errors for messages from peers that it will
// insert later.
inline constexpr std::uint64_t kCapsUnscheduled = kCaps & ~FI_SOURCE_ERR;

inline constexpr std::uint64_t kTransmitCaps =
    FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ | FI_WRITE;
inline constexpr std::uint64_t kReceiveCaps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV |
                                              FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RMA_EVENT |
                                              FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE | FI_SOURCE_ERR;
inline constexpr std::uint64_t kDomainCaps = FI_LOCAL_COMM | FI_REMOTE_COMM;

inline constexpr std::uint64_t kTransmitFlags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
                                                FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MORE |
                                                FI_REMOTE_CQ_DATA;
inline constexpr std::uint64_t kReceiveFlags = FI_COMPLETION | FI_MULTI_RECV | FI_MORE;
// Messages of one class keep their order. So does what short accesses do to memory.
inline constexpr std::uint64_t kOrder = FI_ORDER_SAS | FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR |
                                        FI_ORDER_WAW | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |
                                        FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR |
                                        FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;

inline constexpr std::size_t kInjectMost = 4096;
inline constexpr std::size_t kSegmentsMost = 8;
inline constexpr std::size_t kMessageMost = 0xFFFFFFFF - 64;  // an answer has a header, too
inline constexpr std::size_t kQueueSizeMost = 65536;
inline constexpr std::size_t kKeyBytes = 8;
inline constexpr std::uint32_t kProtocol = kOwnRange | 0x6F6D78;
inline constexpr std::uint64_t kTagFormat = 0xAAAAAAAAAAAAAAAA;  // all 64 bits
inline constexpr const char* kFabricName = "omx";

}  // namespace omx::fabric
