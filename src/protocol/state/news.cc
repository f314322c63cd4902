// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/news.h"

#include <algorithm>
#include <exception>

#include "protocol/state/pull.h"
#include "protocol/state/request.h"

namespace omx::protocol {

namespace {

// Bounds the memory of news that the owner never asks for.
constexpr std::size_t kNewsMost = 65536;

void news_add(State& s, const PeerNews& news) {
  if (s.closing || s.reports.news.size() >= kNewsMost) return;
  try {
    s.reports.news.push_back(news);
  } catch (const std::exception&) {  // no memory; the requests report their ends all the same
  }
}

// Returns since when the peer owes data of a large message; kNever: it owes none.
TimeNs pull_waits_since(State& s, const Peer& p) {
  if (!p.rx.pulls) return kNever;
  if (s.now < p.liveness.last_heard + kSilenceTold) return p.liveness.last_heard;  // not silent yet
  TimeNs since = kNever;
  for (Pull* pull = s.transfers.pull_list.front(); pull; pull = s.transfers.pull_list.next(*pull))
    if (pull->peer == &p) since = std::min(since, pull->last_reply);
  return since;
}

PeerNews about(const State& s, Peer& p, PeerNews::Kind kind) {
  PeerNews news;
  news.kind = kind;
  news.peer = &p;
  news.session = p.session.true_session;
  news.silence = s.now > p.liveness.last_heard ? s.now - p.liveness.last_heard : 0;
  return news;
}

}  // namespace

void news_back(State& s, Peer& p) {
  p.liveness.silence_told = false;
  news_add(s, about(s, p, PeerNews::Kind::back));
}

void news_silence_check(State& s, Peer& p, TimeNs& next) {
  if (!p.connected() || p.liveness.silence_told || p.self) return;
  TimeNs since = pull_waits_since(s, p);
  TimeNs patience = s.default_timeout;
  for (auto* list : {&p.tx.unacked, &p.tx.queued, &p.tx.await_notify, &p.rx.awaited}) {
    const Request* oldest = list->front();
    if (!oldest) continue;
    since = std::min(since, oldest->first_sent);
    patience = std::min(patience, oldest->timeout);
  }
  if (p.rx.partial) since = std::min(since, p.rx.partial->last);
  if (since == kNever) return;
  const TimeNs due = std::max(p.liveness.last_heard, since) + kSilenceTold;
  if (s.now < due) {
    next = std::min(next, due);
    return;
  }
  p.liveness.silence_told = true;
  PeerNews news = about(s, p, PeerNews::Kind::silent);
  news.patience = patience;
  news_add(s, news);
}

void news_ended(State& s, Peer& p, Cleanup why, Status status) {
  PeerNews news = about(s, p, PeerNews::Kind::ended);
  news.why = why;
  news.status = status;
  news.session = p.session.ended_session;
  news.patience = s.default_timeout;
  news.failed = s.reports.ending_failed;
  news.lost = s.reports.ending_lost;
  news_add(s, news);
}

void news_unreached(State& s, Peer& p, Status status) {
  PeerNews news = about(s, p, PeerNews::Kind::unreached);
  news.status = status;
  news_add(s, news);
}

void news_no_batches(State& s, Peer& p) {
  news_add(s, about(s, p, PeerNews::Kind::no_batches));
}

}  // namespace omx::protocol
