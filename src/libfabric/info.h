// SPDX-License-Identifier: BSD-3-Clause
// What the provider offers (fi_getinfo): one fi_info per board, cut to what the caller's hints ask for
// (libfabric.md 1.5).
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

#include "libfabric/address.h"
#include "runtime/board/boards.h"
#include "runtime/process/process.h"

namespace omx::fabric {

inline constexpr std::uint64_t kDirections =
    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
// Given only when asked for.
inline constexpr std::uint64_t kPrimaryCaps =
    FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV | kDirections;
// Cost nothing: given always.
inline constexpr std::uint64_t kFreeCaps = FI_MULTI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_RMA_EVENT;
// Cost something with each message.
inline constexpr std::uint64_t kDearCaps = FI_SOURCE | FI_SOURCE_ERR;
inline constexpr std::uint64_t kCaps = kPrimaryCaps | kFreeCaps | kDearCaps;
// Who asked for nothing must not get errors for messages from peers that it will insert later.
inline constexpr std::uint64_t kCapsUnasked = kCaps & ~FI_SOURCE_ERR;

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
// Messages of one class keep their order; so does what short accesses do to memory.
inline constexpr std::uint64_t kOrder = FI_ORDER_SAS | FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR |
                                        FI_ORDER_WAW | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |
                                        FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR |
                                        FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;

inline constexpr std::size_t kInjectMost = 4096;
inline constexpr std::size_t kSegmentsMost = 8;
inline constexpr std::size_t kMessageMost = 0xFFFFFFFF - 64;  // an answer has a header, too
inline constexpr std::size_t kQueueSizeMost = 65536;
inline constexpr std::size_t kKeyBytes = 8;
inline constexpr std::uint32_t kProtocol = FI_PROV_SPECIFIC | 0x6F6D78;
inline constexpr std::uint64_t kTagFormat = 0xAAAAAAAAAAAAAAAA;  // all 64 bits
inline constexpr const char* kFabricName = "omx";
// libfabric's interface up to which we know what its structures mean.
inline constexpr std::uint32_t kInterface = FI_VERSION(1, 17);

int getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
            const fi_info* hints, fi_info** found);

// --- info_board.cc -----------------------------------------------------------------------------------------
// All that the board can do. nullptr: no memory.
fi_info* info_of_board(const runtime::Board& board);
// The domain of endpoints that use all boards together (docs/rails.md), known by the board that is returned.
// nullptr: there is none, as there is one board only, or they are reached by UDP.
inline constexpr const char* kAllBoards = "omx-all";
const runtime::Board* board_of_all(const runtime::Process& process);
// --- info_hints.cc -----------------------------------------------------------------------------------------
// Cuts `offer`, which has its format of addresses, to what is asked for; nullptr if it can be had, else the
// name of what cannot.
inline constexpr const char* kOtherDomain = "domain_attr->name (another interface)";
const char* info_cut(fi_info& offer, const fi_info& hints, std::uint32_t version);
// --- nic.cc ------------------------------------------------------------------------------------------------
// A description of the board's hardware, owned by the fi_info. nullptr: no memory.
fid_nic* nic_of_board(const runtime::Board& board);

}  // namespace omx::fabric
