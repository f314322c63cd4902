// SPDX-License-Identifier: BSD-3-Clause
// The two ends that a call of fi_getinfo names, by node and service or by addresses in its hints. They are
// taken as libfabric's tcp provider takes them, and in the names of Open-MX as well.
#pragma once

#include <optional>
#include <string>

#include "libfabric/address.h"
#include "runtime/process/process.h"

namespace omx::fabric {

struct Ends {
  std::optional<Address> source, destination;
  // The board that reaches the destination, as far as the destination's name tells; otherwise nullptr.
  const runtime::Board* way = nullptr;
};

// Finds the ends. The error says what is wrong with them. The network may be asked, which takes up to some
// seconds.
Expected<Ends, std::string> ends_find(runtime::Process& process, const char* node, const char* service,
                                      std::uint64_t flags, const fi_info* hints);

// Returns why the board has nothing to offer to these ends. nullptr: it has something. `all` says that its
// endpoints use all boards.
const char* ends_refusal(const runtime::Board& board, bool all, const Ends& ends);
// Two of these reasons.
inline constexpr const char* kOtherSource = "src_addr (another interface)";
inline constexpr const char* kOtherWay = "dest_addr (it is reached by another interface)";

// Writes both addresses into the offer, in its format. Returns false if there is no memory, or no IP address
// for them.
bool ends_fill(fi_info& offer, const runtime::Board& board, const Ends& ends);

// Returns the format of addresses in which the board is offered if `wanted` is asked for. FI_SOCKADDR becomes
// the format of one family. 0: the board has no IP address of that kind.
std::uint32_t format_offered(const runtime::Board& board, std::uint32_t wanted);

}  // namespace omx::fabric
