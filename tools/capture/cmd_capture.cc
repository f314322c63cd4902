// SPDX-License-Identifier: BSD-3-Clause
#include "tools/capture/cmd_capture.h"

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "base/text.h"
#include "config/settings.h"
#include "config/settings_environment.h"
#include "link/packet/packet_socket.h"
#include "netdev/interfaces.h"
#include "netdev/interfaces_choose.h"
#include "tools/capture/capture_ring.h"
#include "tools/signals.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kSnapMost = 262144;  // a GSO batch of datagrams fits
constexpr std::size_t kGatherBytes = 1 << 20;

struct CaptureOptions {
  long board = -1;
  std::string interface;
  std::string file = "-";
  std::uint64_t count = 0;
  double seconds = 0;
  std::uint32_t snap_length = kSnapMost;
  bool no_udp = false;
};

Result<link::Interface> interface_find(const CaptureOptions& options, const runtime::Settings& settings) {
  const std::vector<link::Interface> all = link::interfaces_list();
  if (!options.interface.empty()) {
    for (const link::Interface& i : all)
      if (i.name == options.interface) return i;
    return fail(kFailed, fmt::format("there is no interface {}; there are: {}", shown(options.interface),
                                     link::interfaces_named(all)));
  }
  const auto choices = link::interfaces_choose(all, settings.interfaces);
  if (!choices) return tl::unexpected(choices.error());
  long number = std::max(options.board, 0L);
  for (const link::Choice& choice : *choices)
    if (choice.taken && number-- == 0) return choice.interface;
  return fail(kFailed,
              fmt::format("there is no board {}; omx info shows those there are, and --interface names "
                          "any interface",
                          std::max(options.board, 0L)));
}

// Opens the output, or says why it cannot be written.
Result<OwnFd> output_open(const std::string& file) {
  if (file == "-") {
    if (::isatty(STDOUT_FILENO)) {
      return fail(kUsage,
                  "a capture cannot be shown on a terminal: give -w FILE, or pipe it into a program (omx "
                  "capture | tshark -r -)");
    }
    return OwnFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  }
  // Only the owner may read the file, because it holds the messages of other users.
  OwnFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd.open()) return fd;
  return fail(kFailed, fmt::format("cannot write {}: {}; name another file, or - for the standard output",
                                   shown(file, kPathShown), std::strerror(errno)));
}

std::uint64_t time_now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

class Capture {
 public:
  Capture(const CaptureOptions& options, const link::Interface& interface)
      : options_(options), interface_(interface) {}

  int run(const runtime::Settings& settings);

 private:
  bool take(const CapturedFrame& frame);
  bool full() const { return options_.count > 0 && counts_.frames() >= options_.count; }
  void read();
  int wait(int signals);
  bool interface_is_there() const;

  const CaptureOptions& options_;
  const link::Interface& interface_;
  CaptureRing ring_;
  std::optional<PcapngWriter> writer_;
  CaptureCounts counts_;
  int write_error_ = 0;
  std::optional<Clock::time_point> end_;
};

bool Capture::take(const CapturedFrame& frame) {
  // Loopback shows each frame twice, once sent and once received. One of them is enough.
  if (interface_.loopback && frame.sent) return true;
  writer_->frame(frame);
  (frame.sent ? counts_.sent : counts_.received)++;
  if (writer_->gathered() >= kGatherBytes) write_error_ = writer_->flush();
  return !full() && !write_error_;
}

void Capture::read() {
  ring_.read([this](const CapturedFrame& frame) { return take(frame); });
  if (!write_error_) write_error_ = writer_->flush();
}

bool Capture::interface_is_there() const {
  char name[IF_NAMESIZE];
  return ::if_indextoname(interface_.index, name) != nullptr;
}

// Waits for a signal, the end of the time, the count, or an output that cannot be written. Returns 0, or an
// errno of the interface.
int Capture::wait(int signals) {
  while (!full() && !write_error_) {
    int timeout = -1;
    if (end_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now()).count();
      if (left <= 0) break;
      timeout = static_cast<int>(std::min<long long>(left, 3'600'000));
    }
    pollfd ready[2] = {{signals, POLLIN, 0}, {ring_.descriptor(), POLLIN, 0}};
    if (::poll(ready, 2, timeout) < 0 && errno != EINTR) return errno;
    read();
    if (ready[0].revents) break;
    if (ready[1].revents & POLLERR) {
      link::packet_socket_clear_error(ring_.descriptor());
      if (!interface_is_there()) return ENODEV;
    }
  }
  return 0;
}

int Capture::run(const runtime::Settings& settings) {
  const std::string& name = interface_.name;
  if (const int error = ring_.open()) {
    return failed("capture", "cannot listen to {}: {}{}", name, std::strerror(error),
                  error == EPERM || error == EACCES
                      ? "; it needs CAP_NET_RAW: run it as root, or setcap cap_net_raw+ep on the omx command"
                      : "");
  }
  // The file is opened after the socket, so that a capture without the right to listen does not empty it.
  auto output = output_open(options_.file);
  if (!output) {
    failed("capture", "{}", output.error().message);
    return output.error().mx_code;
  }
  const OwnFd signals = signals_take();
  writer_.emplace(output->get());
  writer_->begin(name, options_.snap_length, "omx capture (Open-MX " OMX_VERSION ")");
  write_error_ = writer_->flush();
  const CaptureRule rule{options_.snap_length, !options_.no_udp,
                         static_cast<std::uint16_t>(settings.udp_port)};
  if (const int error = ring_.start(interface_.index, rule))
    return failed("capture", "cannot listen to {}: {}", name, std::strerror(error));
  fmt::print(stderr, "capturing on {} ({}); Ctrl-C ends it\n", name, mac_format(interface_.nic));
  if (!interface_.up) warned("{0} is down: ip link set dev {0} up", name);
  if (options_.seconds > 0) {
    end_ = Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
  }
  const int error = wait(signals.get());
  if (!write_error_ && !full()) read();
  counts_.dropped += ring_.dropped();
  if (!write_error_) {
    writer_->end(time_now_ns(), counts_);
    write_error_ = writer_->flush();
  }
  fmt::print(stderr, "{} frames captured on {}: {} received, {} sent; {} dropped\n", counts_.frames(), name,
             counts_.received, counts_.sent, counts_.dropped);
  if (error) return failed("capture", "{} is gone: {}", name, std::strerror(error));
  if (write_error_ && write_error_ != EPIPE) {
    return failed("capture", "cannot write {}: {}; the part written so far can be read",
                  options_.file == "-" ? "the standard output" : shown(options_.file, kPathShown),
                  std::strerror(write_error_));
  }
  return kOk;
}

int capture_run(const CaptureOptions& options) {
  const auto settings = runtime::settings_load();
  if (!settings) return failed("capture", "{}", settings.error().message);
  const auto interface = interface_find(options, *settings);
  if (!interface) return failed("capture", "{}", interface.error().message);
  if (!interface->ethernet && !interface->loopback)
    return failed("capture", "{} is not an Ethernet interface", interface->name);
  return Capture(options, *interface).run(*settings);
}

std::string not_empty(const std::string& text) {
  return text.empty() ? "it must not be empty" : "";
}

}  // namespace

Command capture_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("capture", "record Open-MX traffic of an interface, for Wireshark");
  auto options = std::make_shared<CaptureOptions>();
  CLI::Option* board = app->add_option("-b,--board", options->board, "record on this board (default: 0)")
                           ->check(CLI::Range(0, kBoardMost));
  app->add_option("-i,--interface", options->interface, "record on this interface")
      ->excludes(board)
      ->check(not_empty);
  app->add_option("-w,--write", options->file, "the pcapng file; - is the standard output")
      ->capture_default_str()
      ->check(not_empty);
  app->add_option("-c,--count", options->count, "end after this number of frames")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000'000}));
  app->add_option("--seconds", options->seconds, "end after this time in seconds")
      ->check(CLI::Range(0.001, 1e8));
  app->add_option("-s,--snap-length", options->snap_length, "keep at most this many bytes of each frame")
      ->capture_default_str()
      ->check(CLI::Range(60U, kSnapMost));
  app->add_flag("--no-udp", options->no_udp, "only frames of type 0x86DF, no UDP datagrams");
  app->footer(
      "Messages inside this host do not pass by an interface. docs/how-to/capture.md: how to look at the "
      "file.");
  return {app, [options] { return capture_run(*options); }};
}

}  // namespace omx::tools
