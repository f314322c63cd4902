// SPDX-License-Identifier: BSD-3-Clause
// Messages about peers that were not reached, with facts that are made up.
#include "runtime/board/unreached.h"

#include <gmock/gmock.h>

namespace omx::runtime {
namespace {

using link::UdpPort;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

UnreachedFacts here(std::optional<ClaimHolder> holder) {
  UnreachedFacts facts;
  facts.here = true;
  facts.user = 1000;
  facts.endpoint = 3;
  facts.holder = std::move(holder);
  // This must not count: there is no network between processes of one host.
  facts.udp = true;
  facts.advice = "firewalls";
  return facts;
}

TEST(unreached, this_host__nobody) {
  const Unreached found = unreached_judge(here(std::nullopt));
  EXPECT_EQ(found.reason,
            "no process of this host has endpoint 3 open; start the program, or give its endpoint");
  EXPECT_FALSE(found.runs);
}

TEST(unreached, this_host__another_container) {
  UnreachedFacts facts = here(std::nullopt);
  facts.granted = true;
  const Unreached found = unreached_judge(facts);
  EXPECT_EQ(
      found.reason,
      "no process of this network namespace has endpoint 3 open; start the program, or give its endpoint, or "
      "let the containers of this host share a network namespace");
  EXPECT_FALSE(found.runs);
}

TEST(unreached, this_host__another_user) {
  const Unreached found = unreached_judge(here(ClaimHolder{72, 0, "omx"}));
  EXPECT_EQ(found.reason,
            "endpoint 3 of this host belongs to process 72 (omx) of user 0, and this process to user 1000; "
            "run both "
            "as the same user, or both with OMX_LINK=udp OMX_LOCAL=0");
  EXPECT_TRUE(found.runs);
}

TEST(unreached, this_host__same_user_or_unseen) {
  const Unreached same = unreached_judge(here(ClaimHolder{72, 1000, "omx"}));
  EXPECT_THAT(same.reason,
              AllOf(HasSubstr("process 72 (omx), which does not answer"), HasSubstr("OMX_LINK")));
  EXPECT_TRUE(same.runs);
  const Unreached unseen = unreached_judge(here(ClaimHolder{0, static_cast<uid_t>(-1), ""}));
  EXPECT_THAT(unseen.reason,
              AllOf(HasSubstr("a process that is not visible from here"), Not(HasSubstr("user"))));
}

TEST(unreached, this_host__refused_and_opened_later) {
  UnreachedFacts facts = here(ClaimHolder{72, 1000, "omx"});
  facts.refused = true;
  const Unreached found = unreached_judge(facts);
  EXPECT_THAT(found.reason, AllOf(HasSubstr("process 72 (omx) now, but this process was refused"),
                                  HasSubstr("try again"), Not(HasSubstr("does not answer"))));
  EXPECT_TRUE(found.runs);
}

UnreachedFacts by_udp(bool refused) {
  UnreachedFacts facts;
  facts.udp = true;
  facts.link = "udp";
  facts.port = 27203;
  facts.endpoint = 3;
  facts.refused = refused;
  facts.advice = "let UDP pass";
  return facts;
}

UnreachedFacts by_frames() {
  UnreachedFacts facts;
  facts.link = "auto";
  facts.port = 27203;
  facts.endpoint = 3;
  facts.advice = "not for raw frames";
  return facts;
}

TEST(unreached, by_udp__refused) {
  const Unreached found = unreached_judge(by_udp(true));
  EXPECT_THAT(found.reason,
              AllOf(HasSubstr("UDP port 27203"), HasSubstr("does not run"), HasSubstr("OMX_LINK")));
  EXPECT_FALSE(found.runs);
}

TEST(unreached, by_udp__they_go_by_frames) {
  for (const bool refused : {false, true}) {
    UnreachedFacts facts = by_udp(refused);
    facts.board_answers = true;
    const Unreached found = unreached_judge(facts);
    EXPECT_EQ(found.reason,
              "programs there go by raw frames, and this process by UDP (OMX_LINK=udp); give both the same "
              "OMX_LINK");
    EXPECT_TRUE(found.runs);
  }
}

// OMX_LINK is the same already; only one of the programs may send raw frames.
TEST(unreached, link_auto__the_remedy_is_a_link_for_both_or_the_capability) {
  constexpr const char* kRemedy = "set OMX_LINK=udp on both, or give both CAP_NET_RAW or a broker (omx info)";
  UnreachedFacts udp = by_udp(false);
  udp.link = "auto";
  udp.board_answers = true;
  EXPECT_THAT(unreached_judge(udp).reason, AllOf(HasSubstr(kRemedy), Not(HasSubstr("same OMX_LINK"))));
  udp.board_answers = false;
  udp.refused = true;
  EXPECT_THAT(unreached_judge(udp).reason, AllOf(HasSubstr(kRemedy), Not(HasSubstr("same OMX_LINK"))));
  UnreachedFacts frames = by_frames();
  EXPECT_THAT(unreached_judge(frames).reason, AllOf(HasSubstr(kRemedy), Not(HasSubstr("same OMX_LINK"))));
  frames.there = UdpPort::silent;
  EXPECT_THAT(unreached_judge(frames).reason, AllOf(HasSubstr(kRemedy), Not(HasSubstr("same OMX_LINK"))));
  frames.link = "ethernet";
  EXPECT_THAT(unreached_judge(frames).reason, AllOf(HasSubstr("same OMX_LINK"), Not(HasSubstr(kRemedy))));
}

TEST(unreached, by_udp__silent) {
  EXPECT_EQ(unreached_judge(by_udp(false)).reason, "let UDP pass");
}

TEST(unreached, by_frames__refused__all_is_said) {
  UnreachedFacts facts = by_frames();
  facts.refused = true;
  EXPECT_EQ(unreached_judge(facts).reason, "");
}

TEST(unreached, by_frames__board_answers) {
  UnreachedFacts facts = by_frames();
  facts.board_answers = true;
  const Unreached found = unreached_judge(facts);
  EXPECT_THAT(found.reason, HasSubstr("endpoint 3 does not; its process may be stopped"));
  EXPECT_TRUE(found.runs);
}

TEST(unreached, by_frames__host_without_a_program) {
  UnreachedFacts facts = by_frames();
  facts.address = "10.77.0.2";
  facts.there = UdpPort::closed;
  EXPECT_EQ(
      unreached_judge(facts).reason,
      "10.77.0.2 is up, but no program with Open-MX answers there, by raw frames or by UDP; start it there");
}

TEST(unreached, by_frames__perhaps_by_udp) {
  UnreachedFacts facts = by_frames();
  facts.address = "10.77.0.2";
  facts.there = UdpPort::silent;
  facts.reachable = true;
  const Unreached up = unreached_judge(facts);
  EXPECT_THAT(up.reason,
              AllOf(HasSubstr("10.77.0.2 is up, but no program there answers by raw frames"),
                    HasSubstr("UDP port 27203 there is not closed"), HasSubstr("OMX_LINK=udp on both")));
  facts.reachable = false;
  EXPECT_THAT(unreached_judge(facts).reason, HasSubstr("10.77.0.2 may be down"));
}

TEST(unreached, by_frames__nothing_known) {
  EXPECT_THAT(unreached_judge(by_frames()).reason, AllOf(HasSubstr("no program there answers by raw frames"),
                                                         HasSubstr("see whether that host is up")));
}

}  // namespace
}  // namespace omx::runtime
