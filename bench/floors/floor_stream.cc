// SPDX-License-Identifier: BSD-3-Clause
#include "bench/floors/floor_stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace omx::bench {

namespace {

constexpr double kStallSeconds = 0.02;
constexpr double kAnswerSeconds = 0.2;
constexpr int kPatience = 50;  // times kAnswerSeconds

// Frames for one sendmmsg or recvmmsg. Each has two pieces: header and payload.
class Batch {
 public:
  // With `message` 0 the stream consists of full frames without end.
  Batch(std::size_t frames, std::size_t payload, std::size_t message)
      : payload_(payload),
        message_(message ? message : payload),
        per_message_(static_cast<std::uint32_t>((message_ + payload - 1) / payload)),
        places_(kMessageBytes / message_),
        buffer_(kMessageBytes, std::byte{1}),
        headers_(frames),
        pieces_(2 * frames),
        messages_(frames) {
    for (std::size_t i = 0; i < frames; i++) {
      pieces_[2 * i] = {&headers_[i], sizeof(FrameHeader)};
      messages_[i].msg_hdr.msg_iov = &pieces_[2 * i];
      messages_[i].msg_hdr.msg_iovlen = 2;
    }
  }

  std::size_t frames() const { return headers_.size(); }
  FrameHeader& header(std::size_t i) { return headers_[i]; }
  mmsghdr* messages() { return messages_.data(); }
  std::byte* place(std::uint32_t sequence) {
    return buffer_.data() + sequence / per_message_ % places_ * message_ + sequence % per_message_ * payload_;
  }
  std::size_t length(std::uint32_t sequence) const {
    return std::min(payload_, message_ - sequence % per_message_ * payload_);
  }
  // Points the payloads at the places of frame `sequence` and its successors.
  void aim(std::uint32_t sequence) {
    for (std::size_t i = 0; i < frames(); i++) {
      const std::uint32_t frame = sequence + static_cast<std::uint32_t>(i);
      pieces_[2 * i + 1] = {place(frame), length(frame)};
    }
  }

 private:
  std::size_t payload_, message_;
  std::uint32_t per_message_;
  std::size_t places_;
  std::vector<std::byte> buffer_;
  std::vector<FrameHeader> headers_;
  std::vector<iovec> pieces_;
  std::vector<mmsghdr> messages_;
};

class Receiver {
 public:
  Receiver(RawSocket& socket, const FloorOptions& options) : socket_(socket), options_(options) {}

  // Serves one request. Returns false when the client is done.
  bool serve() {
    FrameHeader h{};
    if (::recv(socket_.fd(), &h, sizeof h, 0) < 0) return must_retry("recv");
    client_ = mac_load(h.src.data());
    switch (static_cast<Kind>(h.kind)) {
      case Kind::start:
        size_ = h.size;
        if (size_ == 0 || size_ > socket_.largest())
          die(1, "the client's frames of {} bytes do not fit", size_);
        message_ = h.value;
        if (message_ > kMessageBytes) die(1, "the client's messages of {} bytes are too long", message_);
        answer(Kind::start);
        run();
        break;
      case Kind::last:
        answer(Kind::result);
        break;  // our result was lost
      case Kind::end:
        return false;
      default:
        break;
    }
    return true;
  }

 private:
  void answer(Kind kind) {
    FrameHeader h = socket_.header(client_, kind);
    h.sequence = expected_;
    h.value = received_;
    socket_.send_control(h);
  }

  void run() {
    Batch batch(options_.batch, size_, message_);
    received_ = 0;
    expected_ = 0;
    std::uint64_t credited = 0;
    for (;;) {
      batch.aim(expected_);
      const int got = ::recvmmsg(socket_.fd(), batch.messages(), static_cast<unsigned>(batch.frames()),
                                 MSG_DONTWAIT, nullptr);
      if (got < 0 && must_retry("recvmmsg")) continue;
      const std::uint32_t aimed_at = expected_;
      for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(got); i++) {
        const FrameHeader& h = batch.header(i);
        const auto kind = static_cast<Kind>(h.kind);
        if (kind == Kind::last) return answer(Kind::result);
        if (kind == Kind::start) answer(Kind::start);
        if (kind != Kind::data) continue;
        // After a loss, the following frames of the batch are in the wrong place.
        if (h.sequence != aimed_at + i)
          std::memmove(batch.place(h.sequence), batch.place(aimed_at + i),
                       std::min(batch.length(h.sequence), batch.length(aimed_at + i)));
        expected_ = h.sequence + 1;
        received_++;
      }
      if (received_ - credited >= options_.window / 4) {
        credited = received_;
        answer(Kind::credit);
      }
    }
  }

  RawSocket& socket_;
  const FloorOptions& options_;
  NicId client_ = 0;
  std::size_t size_ = 0, message_ = 0;
  std::uint64_t received_ = 0;
  std::uint32_t expected_ = 0;
};

struct Outcome {
  double seconds = 0;
  std::uint64_t sent = 0, received = 0;
};

class Sender {
 public:
  Sender(RawSocket& socket, const FloorOptions& options, NicId peer)
      : socket_(socket), options_(options), peer_(peer) {}

  Outcome run(std::size_t size, std::size_t message, double seconds) {
    Batch batch(options_.batch, size, message);
    for (std::size_t i = 0; i < batch.frames(); i++) batch.header(i) = socket_.header(peer_, Kind::data);
    ask(Kind::start, size, message);
    sent_ = acknowledged_ = 0;
    const Clock::time_point start = Clock::now();
    Clock::time_point progress = start;
    for (;;) {
      const Clock::time_point now = Clock::now();
      if (seconds_between(start, now) >= seconds) break;
      if (take_credits()) progress = now;
      if (sent_ - acknowledged_ + batch.frames() > options_.window) {
        // Frames or credits were lost, so the sender starts again with a full window.
        if (seconds_between(progress, now) > kStallSeconds) acknowledged_ = sent_;
        continue;
      }
      send(batch);
      progress = now;
    }
    Outcome outcome;
    outcome.received = ask(Kind::last, size, message).value;
    outcome.seconds = seconds_between(start, Clock::now());
    outcome.sent = sent_;
    return outcome;
  }

 private:
  void send(Batch& batch) {
    batch.aim(sent_);
    for (std::uint32_t i = 0; i < batch.frames(); i++) batch.header(i).sequence = sent_ + i;
    const int count = ::sendmmsg(socket_.fd(), batch.messages(), static_cast<unsigned>(batch.frames()), 0);
    if (count > 0)
      sent_ += static_cast<std::uint32_t>(count);
    else
      must_retry("sendmmsg");
  }

  bool take_credits() {
    bool any = false;
    while (const std::byte* frame = socket_.front()) {
      FrameHeader h;
      std::memcpy(&h, frame, sizeof h);
      socket_.advance();
      if (static_cast<Kind>(h.kind) != Kind::credit) continue;
      // An old credit may arrive after the window was reset.
      if (static_cast<std::int32_t>(h.sequence - acknowledged_) > 0) acknowledged_ = h.sequence;
      any = true;
    }
    return any;
  }

  // Repeats a request until it is answered.
  FrameHeader ask(Kind kind, std::size_t size, std::size_t message) {
    FrameHeader request = socket_.header(peer_, kind);
    request.size = static_cast<std::uint32_t>(size);
    request.value = message;
    const Kind wanted = kind == Kind::last ? Kind::result : Kind::start;
    for (int i = 0; i < kPatience; i++) {
      socket_.send_control(request);
      const Clock::time_point start = Clock::now();
      while (seconds_between(start, Clock::now()) < kAnswerSeconds) {
        const std::byte* frame = socket_.front();
        if (!frame) continue;
        FrameHeader h;
        std::memcpy(&h, frame, sizeof h);
        socket_.advance();
        if (static_cast<Kind>(h.kind) == wanted) return h;
      }
    }
    die(1, "no answer from {} on {}: is the server running there?", options_.peer, options_.interface);
  }

  RawSocket& socket_;
  const FloorOptions& options_;
  NicId peer_;
  std::uint32_t sent_ = 0;
  std::uint32_t acknowledged_ = 0;
};

}  // namespace

void stream_server(const FloorOptions& options) {
  RawSocket socket(options, false);
  Receiver receiver(socket, options);
  while (receiver.serve() || options.forever) {
  }
}

void stream_client(const FloorOptions& options, NicId peer) {
  RawSocket socket(options, true);
  Sender sender(socket, options, peer);
  Report report("raw-stream", options);
  std::vector<std::size_t> sizes = options.sizes;
  if (sizes.empty()) sizes.push_back(socket.largest());
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (std::size_t size : sizes) {
      if (size == 0 || size > (options.messages ? kMessageBytes : socket.largest())) continue;
      const std::size_t message = options.messages ? size : 0;
      const std::size_t frame = std::min(size, socket.largest());
      sender.run(frame, message, options.warm_up_seconds);
      const Outcome outcome = sender.run(frame, message, options.seconds);
      const double units =
          static_cast<double>(outcome.received) / static_cast<double>((size + frame - 1) / frame);
      report.rate(size, units * static_cast<double>(size) * 8e-9 / outcome.seconds,
                  units * 1e-6 / outcome.seconds);
      report.lost(size, outcome.sent - outcome.received);
    }
  }
  socket.send_control(socket.header(peer, Kind::end));
  report.print_rate();
}

}  // namespace omx::bench
