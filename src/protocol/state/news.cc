// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/news.h"

#include <algorithm>
#include <exception>

#include "protocol/state/pull.h"
#include "protocol/state/request.h"

namespace omx::protocol {

namespace {

// An owner that never asks does not make us grow without end.
constexpr std::size_t kNewsMost = 65536;

void news_add(State& s, const PeerNews& news) {
  if (s.closing || s.news.size() >= kNewsMost) return;
  try {
    s.news.push_back(news);
  } catch (const std::exception&) {  // no memory: the requests tell of their ends all the same
  }
}

// Since when the peer owes the data of a large message, or some of it; kNever: it does not.
TimeNs pull_waits_since(State& s, const Partner& p) {
  if (p.pulls == 0) return kNever;
  if (s.now < p.last_heard + kSilenceTold) return p.last_heard;  // it is not silent yet
  TimeNs since = kNever;
  for (Pull* pull = s.pull_list.front(); pull; pull = s.pull_list.next(*pull))
    if (pull->partner == &p) since = std::min(since, pull->last_reply);
  return since;
}

PeerNews about(const State& s, Partner& p, PeerNews::Kind kind) {
  PeerNews news;
  news.kind = kind;
  news.partner = &p;
  news.session = p.true_session;
  news.silence = s.now > p.last_heard ? s.now - p.last_heard : 0;
  return news;
}

}  // namespace

void news_back(State& s, Partner& p) {
  p.silence_told = false;
  news_add(s, about(s, p, PeerNews::Kind::back));
}

void news_silence_check(State& s, Partner& p, TimeNs& next) {
  if (!p.connected() || p.silence_told || p.self) return;
  TimeNs since = pull_waits_since(s, p);
  TimeNs patience = s.default_timeout;
  for (auto* list : {&p.unacked, &p.queued, &p.await_notify, &p.awaited}) {
    const Request* oldest = list->front();
    if (!oldest) continue;
    since = std::min(since, oldest->first_sent);
    patience = std::min(patience, oldest->timeout);
  }
  if (p.partial.active) since = std::min(since, p.partial.last);
  if (since == kNever) return;
  const TimeNs due = std::max(p.last_heard, since) + kSilenceTold;
  if (s.now < due) {
    next = std::min(next, due);
    return;
  }
  p.silence_told = true;
  PeerNews news = about(s, p, PeerNews::Kind::silent);
  news.patience = patience;
  news_add(s, news);
}

void news_ended(State& s, Partner& p, Cleanup why, Status status) {
  PeerNews news = about(s, p, PeerNews::Kind::ended);
  news.why = why;
  news.status = status;
  news.session = p.ended_session;
  news.patience = s.default_timeout;
  news.failed = s.ending_failed;
  news.lost = s.ending_lost;
  news_add(s, news);
}

void news_unreached(State& s, Partner& p, Status status) {
  PeerNews news = about(s, p, PeerNews::Kind::unreached);
  news.status = status;
  news_add(s, news);
}

void news_trains(State& s, Partner& p) {
  news_add(s, about(s, p, PeerNews::Kind::no_trains));
}

}  // namespace omx::protocol
