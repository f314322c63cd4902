// SPDX-License-Identifier: BSD-3-Clause
// Routes a frame of the engine to the link, or through shared memory if its destination is a NIC of this
// host. A frame to one's own MAC address would never come back from a cable.
#pragma once

#include <utility>
#include <vector>

#include "link/transport.h"
#include "local/hub.h"
#include "protocol/endpoint.h"
#include "wire/frame_io.h"

namespace omx::runtime {

class Router final : public wire::FrameSink {
 public:
  // `hub` may be nullptr; then everything goes to the link.
  Router(link::Transport& link, local::Hub* hub) : link_(link), hub_(hub) {}
  // Sets the engine, which knows the memory of large messages.
  void engine_is(const protocol::Endpoint* engine) { engine_ = engine; }

  wire::TxFrame& frame_begin(std::uint32_t max_segments) override {
    frame_ = &link_.frame_begin(max_segments);
    return *frame_;
  }
  // Called only for peers beyond the link (IntraNodePath).
  wire::TxFrame& bulk_begin(const wire::BulkAddress& to, std::uint32_t max_segments) override {
    frame_ = &link_.bulk_begin(to, max_segments);
    return *frame_;
  }
  // Begins a frame that leaves by another board of the endpoint. Called only for peers beyond the links.
  wire::TxFrame& rail_begin(unsigned rail, std::uint32_t max_segments) override {
    if (rail == 0 || rail > rails_.size()) return frame_begin(max_segments);
    rail_ = rails_[rail - 1];
    return rail_->frame_begin(max_segments);
  }
  void rail_add(link::Transport& link) { rails_.push_back(&link); }
  void frame_commit() override {
    committed_ = true;
    if (rail_) [[unlikely]]
      return std::exchange(rail_, nullptr)->frame_commit();
    if (hub_ && hub_->reaches(frame_->header)) return stay();
    link_.frame_commit();
  }
  void flush() override {
    if (committed_) links_flush();
    if (hub_) hub_->flush();
  }
  void marks_forgo() override {
    link_.marks_forgo();
    for (link::Transport* rail : rails_) rail->marks_forgo();
  }
  void send_now(const std::byte* bytes, std::size_t length) override {
    if (committed_) [[unlikely]]
      links_flush();
    if (hub_ && hub_->reaches(bytes)) return hub_->send_now({bytes, length});
    link_.send_now(bytes, length);
  }

 private:
  // Sends through shared memory. The link's frame is not committed, so the link forgets it.
  void stay();
  [[gnu::noinline]] void links_flush() {
    committed_ = false;
    link_.flush();
    for (link::Transport* rail : rails_) rail->flush();
  }

  link::Transport& link_;
  local::Hub* hub_;
  const protocol::Endpoint* engine_ = nullptr;
  wire::TxFrame* frame_ = nullptr;
  std::vector<link::Transport*> rails_;
  link::Transport* rail_ = nullptr;  // the link by which the current frame leaves, if not `link_`
  bool committed_ = false;           // a frame was, since the last flush
};

}  // namespace omx::runtime
