// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/connect_agree.h"

#include <algorithm>

#include "protocol/actions/connect_tx.h"
#include "protocol/actions/probe.h"
#include "protocol/actions/rails_tend.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/peer.h"
#include "protocol/state/rails.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

// A sender must not let queues mark its frames unless its receiver heeds the marks (RFC 3168, 6.1). All peers
// are sent to by one socket, so one peer decides for all.
void marks_agree(State& s, const Peer& p) {
  const bool heeds = p.agreed.features & wire::kFeatureMarks;
  if (heeds || p.self || p.inside_host() || s.marks_forgone) return;
  s.marks_forgone = true;
  s.marks_refuser = p.nic;
  s.marks_refuser_endpoint = p.endpoint;
  s.sink.marks_forgo();
}

}  // namespace

void connect_agree(State& s, Peer& p, const wire::ConnectExt& ext) {
  const bool was_extended = p.agreed.extended;
  const std::uint32_t was_agreed = p.agreed.frame_agreed;
  p.agreed.extended = ext.present && s.config.extension;
  if (!p.agreed.extended) {
    p.agreed.frame_agreed = p.agreed.frame_max = p.agreed.frame_in = p.liveness.probe_size = 0;
    p.agreed.probe_wanted = false;
    p.agreed.features = 0;
    p.agreed.checksum = false;
    p.agreed.mode = s.config.mode;
    bulk_forget(s, p);
    rails_forget(s, p);
    peer_update_sizes(s, p);
    return marks_agree(s, p);
  }
  p.agreed.features = ext.features;
  marks_agree(s, p);
  p.agreed.mode_told = ext.mode;
  p.agreed.checksum = s.config.checksum && (ext.features & wire::kFeatureChecksum);
  // MX sizes are used if either side insists on them.
  p.agreed.mode =
      s.config.mode == wire::Mode::mxoe || ext.mode == wire::Mode::mxoe ? wire::Mode::mxoe : wire::Mode::omx;
  p.agreed.eager_credit = std::max<std::uint16_t>(ext.eager_frames, 1);
  p.agreed.peer_pull_frames = std::clamp<std::uint8_t>(ext.pull_frames, 1, 32);
  // An endpoint that is gone loses its bulk path when it does not answer.
  if (Peer* const holder = bulk_agree(s, p, ext)) generations_doubt(s, *holder);
  rails_agree(s, p, ext);
  p.agreed.frame_agreed = std::max<std::uint32_t>(std::min(ext.max_frame, peer_frame(s, p)), 256);
  if (!was_extended || was_agreed != p.agreed.frame_agreed) {
    p.agreed.frame_max = p.agreed.intra_node_frame ? p.agreed.frame_agreed
                                                   : std::min(p.agreed.frame_agreed, s.config.base_frame);
    p.agreed.frame_in = p.liveness.probe_size = 0;
    p.agreed.probe_wanted = false;
    peer_update_sizes(s, p);
    if (p.agreed.frame_max < p.agreed.frame_agreed && p.agreed.mode == wire::Mode::omx &&
        (p.agreed.features & wire::kFeatureProbe))
      probe_at_connect(s, p);
  } else {
    peer_update_sizes(s, p);
  }
}

}  // namespace omx::protocol
