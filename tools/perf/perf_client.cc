// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_client.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tools/command.h"
#include "tools/perf/perf_exchange.h"
#include "tools/perf/perf_pace.h"
#include "tools/perf/perf_progress.h"
#include "tools/perf/perf_report.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRetryPause{100};
constexpr double kWarmUpShare = 0.25;  // of the time limit of a size

class Client {
 public:
  Client(MxPort& port, PerfExchange& exchange, const PerfOptions& options)
      : port_(port), exchange_(exchange), options_(options), timeout_ms_(options.timeout_s * 1000) {}

  Result<void> connect(std::uint64_t nic) {
    const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeout_ms_);
    auto met = meet(nic);
    // After a client has failed, the server closes its endpoint and opens it again. Until then connecting is
    // tried again.
    while (!met && met.error().mx_code != MX_TIMEOUT && server_seen_ && Clock::now() < deadline) {
      std::this_thread::sleep_for(kRetryPause);
      met = meet(nic);
    }
    return met;
  }

  // Measures one size: a warm-up, then steps until its messages and min_time are reached or max_time is over.
  Result<PerfRow> measure(std::uint64_t size) {
    PerfStep step;
    step.test = static_cast<std::uint64_t>(options_.test);
    step.size = size;
    step.window = options_.test == PerfTest::pingpong ? 1
                  : options_.window                   ? options_.window
                                                      : default_window(options_.test, size);
    step.verify = options_.verify;
    step.sync = options_.sync;
    step.blocking = options_.blocking;
    const std::uint64_t iterations =
        options_.iterations ? options_.iterations : default_iterations(options_.test, size);

    const double limit_s = perf_limit_s(options_);
    PerfPace pace(round_trip_s_);
    PerfProgress progress(size, iterations);
    if (auto r = warm_up(step, iterations, limit_s * kWarmUpShare, pace, progress); !r)
      return tl::unexpected(r.error());

    std::vector<double> samples;
    double seconds = 0;
    std::uint64_t messages = 0;
    while ((messages < iterations || seconds < options_.min_time_s) && seconds < limit_s) {
      const std::uint64_t missing = messages < iterations ? iterations - messages : iterations;
      step.count = pace.next(missing, limit_s - seconds);
      // The vector grows here, because it must not grow during a measurement.
      if (samples.capacity() < samples.size() + step.count)
        samples.reserve(std::max(2 * samples.capacity(), samples.size() + step.count));
      progress.show(messages);
      const auto took = run(step, &samples);
      if (!took) return tl::unexpected(took.error());
      pace.took(step.count, *took);
      seconds += *took;
      messages += step.count;
    }
    PerfRow row = options_.test == PerfTest::pingpong ? row_of_samples(size, samples)
                                                      : row_of_stream(options_.test, size, messages, seconds);
    row.wanted = std::max(iterations, messages);
    return row;
  }

  Result<void> leave() {
    port_.set_waiting(true, timeout_ms_);
    PerfStep bye;
    bye.bye = 1;
    return tell(PerfKind::control, bye);
  }

 private:
  Result<void> warm_up(PerfStep step, std::uint64_t iterations, double limit_s, PerfPace& pace,
                       PerfProgress& progress) {
    const std::uint64_t wanted = options_.warm_up_given ? options_.warm_up : default_warm_up(iterations);
    double seconds = 0;
    for (std::uint64_t done = 0; done < wanted && seconds < limit_s; done += step.count) {
      step.count = pace.next(wanted - done, limit_s - seconds);
      progress.show(0);
      const auto took = run(step, nullptr);
      if (!took) return tl::unexpected(took.error());
      pace.took(step.count, *took);
      seconds += *took;
    }
    return {};
  }

  Result<void> meet(std::uint64_t nic) {
    const auto server = port_.connect(nic, options_.peer_endpoint, timeout_ms_);
    if (!server) return tl::unexpected(server.error());
    server_seen_ = true;
    server_ = *server;
    if (::getrandom(&number_, sizeof number_, 0) != sizeof number_)
      return fail(MX_FAILURE, "the system gives no random number");
    exchange_.meet(port_, server_, number_);
    port_.set_waiting(true, timeout_ms_);
    PerfHello hello;
    hello.client = number_;
    // A synchronous hello fails if the server closes its endpoint before it has read the hello.
    const Clock::time_point asked = Clock::now();
    const auto answer = ask(PerfKind::hello, hello, true);
    round_trip_s_ = std::chrono::duration<double>(Clock::now() - asked).count();
    if (!answer && answer.error().mx_code == MX_TIMEOUT) {
      return fail(
          MX_TIMEOUT,
          fmt::format("the server on {} does not answer: it may be serving another client", options_.peer));
    }
    if (!answer) return tl::unexpected(answer.error());
    if (static_cast<PerfVerdict>(answer->verdict) != PerfVerdict::fine)
      return fail(MX_FAILURE, fmt::format("{} runs another version of omx perf", options_.peer));
    return {};
  }

  // Runs one step. Returns the seconds from the first message to the server's answer that all have arrived.
  Result<double> run(const PerfStep& step, std::vector<double>* samples) {
    port_.set_waiting(true, timeout_ms_);
    const auto possible = exchange_.prepare(step);
    if (!possible) return tl::unexpected(possible.error());
    const auto ready = *possible ? ask(PerfKind::control, step) : PerfAnswer{1};
    if (!ready) return tl::unexpected(ready.error());
    if (static_cast<PerfVerdict>(ready->verdict) != PerfVerdict::fine) {
      return fail(MX_FAILURE, fmt::format("{} has no memory for {} messages of {} bytes at a time",
                                          *possible ? options_.peer : "this host", step.window, step.size));
    }

    std::byte buffer[kDialogueBytes];
    const auto result = receive_answer(buffer);
    if (!result) return tl::unexpected(result.error());
    port_.set_waiting(step.blocking != 0, timeout_ms_);
    const Clock::time_point start = Clock::now();
    if (auto r = exchange_.run(samples); !r) return tl::unexpected(r.error());
    if (auto status = port_.complete(*result); !status) return tl::unexpected(status.error());
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();

    const auto answer = decode<PerfAnswer>(buffer);
    if (static_cast<PerfVerdict>(answer.verdict) == PerfVerdict::data_wrong)
      return mismatch_failure(step, {answer.message, answer.offset}, options_.peer);
    if (const auto& wrong = exchange_.mismatch()) return mismatch_failure(step, *wrong, "this host");
    return seconds;
  }

  static tl::unexpected<Failure> mismatch_failure(const PerfStep& step, const Mismatch& wrong,
                                                  const std::string& where) {
    const std::string what = wrong.offset < step.size
                                 ? fmt::format("byte {} is wrong", wrong.offset)
                                 : std::string("bytes behind its buffer were overwritten");
    return fail(MX_FAILURE, fmt::format("message {} of {} bytes arrived damaged at {}: {}", wrong.message,
                                        step.size, where, what));
  }

  Result<mx_request_t> receive_answer(std::byte* buffer) {
    return port_.receive(buffer, encoded_bytes<PerfAnswer>(), match_of(PerfKind::answer, number_));
  }

  template <class T>
  Result<void> tell(PerfKind kind, const T& what, bool sync = false) {
    std::byte buffer[kDialogueBytes];
    const std::size_t size = encode(what, buffer);
    const auto request = port_.send(server_, buffer, size, match_of(kind, number_), sync);
    if (!request) return tl::unexpected(request.error());
    if (auto status = port_.complete(*request); !status) return tl::unexpected(status.error());
    return {};
  }

  template <class T>
  Result<PerfAnswer> ask(PerfKind kind, const T& what, bool sync = false) {
    std::byte buffer[kDialogueBytes];
    const auto request = receive_answer(buffer);
    if (!request) return tl::unexpected(request.error());
    if (auto r = tell(kind, what, sync); !r) return tl::unexpected(r.error());
    if (auto status = port_.complete(*request); !status) return tl::unexpected(status.error());
    return decode<PerfAnswer>(buffer);
  }

  MxPort& port_;
  PerfExchange& exchange_;
  const PerfOptions& options_;
  const std::uint32_t timeout_ms_;
  mx_endpoint_addr_t server_{};
  bool server_seen_ = false;
  std::uint32_t number_ = 0;
  double round_trip_s_ = 0;  // of the hello
};

}  // namespace

namespace {

struct Way {
  std::unique_ptr<MxPort> port;
  std::uint64_t nic = 0;  // the server's NIC
};

// Opens a port. After a client has failed, a server on this host gives up its endpoint for a moment. So "any
// endpoint" can open the very endpoint to which this client wants to talk. Then another is opened.
Result<Way> way_open(const PerfOptions& options) {
  const bool any = options.endpoint < 0;
  const std::uint32_t id = any ? MX_ANY_ENDPOINT : static_cast<std::uint32_t>(options.endpoint);
  auto port = MxPort::open(options.board, id);
  if (!port) return tl::unexpected(port.error());
  const auto nic = MxPort::find_nic(options.peer);
  if (!nic)
    return fail(nic.error().mx_code, fmt::format("{}; is \"omx perf\" running there?", nic.error().message));
  if ((*port)->nic() == *nic && (*port)->endpoint_id() == options.peer_endpoint) {
    if (!any) {
      return fail(MX_FAILURE,
                  fmt::format("endpoint {} is this command's own: give it another with --endpoint",
                              options.peer_endpoint));
    }
    auto other = MxPort::open(options.board, id);  // the first port is still held, so this one differs
    if (!other) return tl::unexpected(other.error());
    port = std::move(other);
  }
  (*port)->set_peer_name(options.peer);
  return Way{std::move(*port), *nic};
}

}  // namespace

int perf_measure(const PerfOptions& options) {
  const auto sizes = sizes_parse(options.sizes.empty() ? default_sizes(options.test) : options.sizes);
  // Declared before the port: the port must be closed first.
  PerfExchange exchange(true);
  const auto way = way_open(options);
  if (!way) return way.error().message.empty() ? kFailed : failed("perf", "{}", way.error().message);
  Client client(*way->port, exchange, options);
  if (auto r = client.connect(way->nic); !r) return failed("perf", "{}", r.error().message);
  PerfReport report(options, way->port->describe(), options.peer);
  for (const std::uint64_t size : *sizes) {
    const auto row = client.measure(size);
    if (!row) return failed("perf", "{}", row.error().message);
    report.add(*row);
  }
  report.finish();
  if (auto r = client.leave(); !r) return failed("perf", "{}", r.error().message);
  return kOk;
}

}  // namespace omx::tools
