// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/cmd_top.h"

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <ctime>
#include <memory>
#include <optional>

#include "runtime/clock.h"
#include "tools/info/host_facts.h"
#include "tools/info/view_facts.h"
#include "tools/watch/top_table.h"

namespace omx::tools {

namespace {

struct TopOptions {
  long board = -1;
  double delay_s = 1;
  unsigned count = 0;
  unsigned peers = 20;
};

volatile sig_atomic_t g_ended = 0;

// Puts the terminal in a mode in which keys arrive as they are pressed. Restores its former mode at the end,
// also after a signal.
class Screen {
 public:
  Screen() {
    struct sigaction action {};
    action.sa_handler = [](int) { g_ended = 1; };
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  ~Screen() {
    if (keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void show(const std::string& text) const {
    // Moves to the top left, clears each line to its end, then clears the rest of the screen.
    std::string screen = "\033[H";
    for (const char c : text) {
      if (c == '\n') screen += "\033[K";
      screen += c;
    }
    fmt::print("{}\033[J", screen);
    std::fflush(stdout);
  }

  // Waits until this time. Returns false if the user ends the program first.
  bool wait(protocol::TimeNs until) const {
    for (;;) {
      const protocol::TimeNs now = runtime::clock_now();
      if (g_ended) return false;
      if (now >= until) return true;
      pollfd keys{keys_ ? STDIN_FILENO : -1, POLLIN, 0};
      const timespec limit{static_cast<time_t>((until - now) / 1'000'000'000),
                           static_cast<long>((until - now) % 1'000'000'000)};
      if (::ppoll(&keys, 1, &limit, nullptr) <= 0) continue;
      char key = 0;
      if (::read(STDIN_FILENO, &key, 1) <= 0 || key == 'q') return false;
    }
  }

 private:
  termios before_{};
  bool keys_ = false;
};

void pause_until(protocol::TimeNs until) {
  const timespec when{static_cast<time_t>(until / 1'000'000'000), static_cast<long>(until % 1'000'000'000)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

int top_run(const TopOptions& options) {
  auto process = runtime::Process::create();
  if (!process) return failed("top", "{}", process.error().message);
  const auto boards = boards_select((*process)->boards(), options.board);
  if (!boards) return failed("top", "{}", boards.error().message);
  const auto take = [&] { return views_take(*boards, (*process)->settings(), {}); };

  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  std::optional<Screen> screen;
  if (terminal) screen.emplace();
  const auto period = static_cast<protocol::TimeNs>(options.delay_s * 1e9);
  Views before = take();
  protocol::TimeNs next = runtime::clock_now();
  for (unsigned shown = 0; options.count == 0 || shown < options.count; shown++) {
    next += period;
    if (screen && !screen->wait(next)) return kOk;
    if (!screen) pause_until(next);
    Views now = take();
    std::string text = top_text(now.read, before.read, (*process)->peers(), options.peers);
    if (now.read.empty() && now.unread.empty()) text += "no endpoint is open on this host\n";
    for (const std::string& why : now.unread) text += fmt::format("not shown: {}\n", why);
    if (screen) {
      screen->show(text + "q ends\n");
    } else {
      fmt::print("{}\n", text);
      if (std::fflush(stdout) != 0) return kFailed;
    }
    before = std::move(now);
  }
  return kOk;
}

}  // namespace

Command top_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("top", "what the endpoints of this host and their peers do, refreshed");
  auto options = std::make_shared<TopOptions>();
  app->add_option("-b,--board", options->board, "only this board")->check(CLI::Range(0, kBoardMost));
  app->add_option("-d,--delay", options->delay_s, "seconds between readings (default 1)")
      ->check(CLI::Range(0.1, 3600.0));
  app->add_option("-n,--count", options->count, "end after this many readings (default: continue)")
      ->check(CLI::Range(1U, 1'000'000'000U));
  app->add_option("--peers", options->peers, "show at most this many peers (default 20)")
      ->check(CLI::Range(0, 100000));
  app->footer(
      "Per second: > sent, < received. AGAIN: sent or asked for again. MARKS: frames that a queue marked, "
      "and news of such; off: ECN is off, omx dump says why. POSTED: receives that wait for a "
      "message. "
      "UNEXP: messages that wait for a receive. UNEXP B: bytes of memory that those of a peer take, with a "
      "record "
      "for each, also where its data are still with the sender. PENDING: sends and large messages "
      "in progress. RTT us: round trip. WINDOW: bytes of short and medium messages that may be on their way, "
      "if the path loses some. Values of peers are up to a second old.");
  return {app, [options] { return top_run(*options); }};
}

}  // namespace omx::tools
