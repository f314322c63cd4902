// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/router.h"

#include <array>

namespace omx::runtime {

namespace {
constexpr std::size_t kPieces = 512;  // the most that a link's frame has
}

void Router::stay() {
  std::array<iovec, kPieces + 1> pieces;
  pieces[0] = {frame_->header, frame_->header_length};
  for (std::uint32_t i = 0; i < frame_->segment_count; i++) pieces[i + 1] = frame_->segments[i];
  const wire::Frame header{frame_->header, frame_->header_length};
  wire::Rndv rndv;
  const std::byte* tail = nullptr;
  // Flags are zero towards legacy peers. Regions with other page sizes are pulled by frames.
  if (wire::decode_rndv(header, true, rndv, &tail) == wire::Drop::none && rndv.page == 0) {
    const protocol::RegionMemory region = engine_->region(rndv.rdma_id, rndv.rdma_seqnum);
    if (!region.pieces.empty()) {
      hub_->send_region({mac_load(frame_->header), rndv.dst_endpoint}, region.place, rndv.rdma_seqnum,
                        region.pieces);
    }
  }
  hub_->send({pieces.data(), frame_->segment_count + std::size_t{1}});
}

}  // namespace omx::runtime
