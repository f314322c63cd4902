// SPDX-License-Identifier: BSD-3-Clause
// The worked examples of docs/spec/wire.md 11, as bytes. Hosts: A = 00:60:dd:47:c4:75, endpoint 3, session
// 0x5a17c0de; B = 00:1b:21:aa:bb:cc, endpoint 0, session 0x0badcafe, key 0x12345678.
#pragma once

#include <cstddef>
#include <string_view>

#include "wire/packets.h"

namespace omx::wire::test {

struct Example {
  const char* name;
  Mode mode;
  std::size_t data_bytes;  // data bytes that follow the bytes shown; zeros in the tests
  std::string_view hex;
};

// Example 1.
inline constexpr Example kConnectRequest = {"ConnectRequest", Mode::mxoe, 0,
                                            "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df ff ff "
                                            "24 00 03 00 10 00 00 00 00 00 00 01 00 00 00 00 "
                                            "5a 17 c0 de 12 34 56 78 00 01 00 00 00 00 00 00 "
                                            "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 2.
inline constexpr Example kConnectReply = {"ConnectReply", Mode::mxoe, 0,
                                          "00 60 dd 47 c4 75 00 1b 21 aa bb cc 86 df 00 01 "
                                          "24 03 00 00 10 00 00 00 00 00 00 07 00 00 00 00 "
                                          "5a 17 c0 de 0b ad ca fe 00 01 01 00 00 00 00 00 "
                                          "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 3.
inline constexpr Example kTiny = {"Tiny", Mode::mxoe, 0,
                                  "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 07 "
                                  "25 00 03 00 00 05 00 00 00 01 00 01 12 34 56 78 "
                                  "87 65 43 21 0b ad ca fe 68 65 6c 6c 6f 00 00 00 "
                                  "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 4.
inline constexpr Example kSmall = {"Small", Mode::mxoe, 0,
                                   "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 07 "
                                   "26 00 03 00 00 28 00 00 00 02 00 01 12 34 56 78 "
                                   "87 65 43 21 0b ad ca fe 61 62 63 64 65 66 67 68 "
                                   "69 6a 6b 6c 6d 6e 6f 70 71 72 73 74 75 76 77 78 "
                                   "79 7a 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e"};

// Example 5.
inline constexpr Example kMediumMxoe = {"MediumMxoe", Mode::mxoe, 1808,
                                        "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 07 "
                                        "27 00 03 00 27 10 00 00 00 03 00 01 12 34 56 78 "
                                        "87 65 43 21 0b ad ca fe 07 10 02 0c 00 00 00 00"};

// Example 6.
inline constexpr Example kMediumOmx = {"MediumOmx", Mode::omx, 1808,
                                       "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 07 "
                                       "27 00 03 00 00 00 27 10 00 03 00 01 12 34 56 78 "
                                       "87 65 43 21 0b ad ca fe 07 10 01 00 00 00 00 00"};

// Example 7.
inline constexpr Example kRndv = {"Rndv", Mode::mxoe, 0,
                                  "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 07 "
                                  "28 00 03 00 00 08 00 00 00 04 00 01 12 34 56 78 "
                                  "87 65 43 21 0b ad ca fe 00 01 86 a0 00 17 00 00 "
                                  "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 8.
inline constexpr Example kPullMxoe = {"PullMxoe", Mode::mxoe, 0,
                                      "00 60 dd 47 c4 75 00 1b 21 aa bb cc 86 df 00 01 "
                                      "29 03 00 00 5a 17 c0 de 00 01 86 a0 00 17 00 00 "
                                      "00 00 00 23 21 07 19 80 00 00 80 00 00 00 00 08 "
                                      "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 9.
inline constexpr Example kPullOmx = {"PullOmx", Mode::omx, 0,
                                     "00 60 dd 47 c4 75 00 1b 21 aa bb cc 86 df 00 01 "
                                     "29 03 00 00 5a 17 c0 de 00 0f 42 40 00 00 00 00 "
                                     "17 00 00 00 00 00 00 00 00 00 00 23 21 07 19 80 "
                                     "00 00 00 00 00 04 61 00 00 00 00 20"};

// Example 10.
inline constexpr Example kPullReplyMxoe = {"PullReplyMxoe", Mode::mxoe, 4096,
                                           "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 07 "
                                           "2a 09 10 00 00 00 90 00 00 00 00 23 21 07 19 80"};

// Example 11.
inline constexpr Example kPullReplyOmx = {"PullReplyOmx", Mode::omx, 8968,
                                          "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 07 "
                                          "2a 21 23 08 00 04 84 08 00 00 00 23 21 07 19 80"};

// Example 12.
inline constexpr Example kNotify = {"Notify", Mode::mxoe, 0,
                                    "00 60 dd 47 c4 75 00 1b 21 aa bb cc 86 df 00 01 "
                                    "2b 03 00 00 5a 17 c0 de 00 01 86 a0 00 17 00 00 "
                                    "00 00 00 01 00 05 00 00 00 00 00 00 00 00 00 00 "
                                    "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 13.
inline constexpr Example kTruc = {"Truc", Mode::mxoe, 0,
                                  "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 07 "
                                  "23 00 03 00 10 00 00 00 0b ad ca fe 55 00 00 02 "
                                  "0b ad ca fe 00 00 00 01 00 02 00 00 00 00 00 00 "
                                  "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 14.
inline constexpr Example kNackLib = {"NackLib", Mode::mxoe, 0,
                                     "00 60 dd 47 c4 75 00 1b 21 aa bb cc 86 df 00 01 "
                                     "2c 00 00 03 00 00 00 00 00 03 00 01 00 01 00 00 "
                                     "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
                                     "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 15.
inline constexpr Example kNackMcp = {"NackMcp", Mode::mxoe, 0,
                                     "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 07 "
                                     "2d 00 00 04 00 00 00 00 00 00 00 23 21 07 19 80 "
                                     "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
                                     "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 16.
inline constexpr Example kHostQuery = {"HostQuery", Mode::mxoe, 0,
                                       "00 1b 21 aa bb cc 00 60 dd 47 c4 75 86 df 00 00 "
                                       "03 00 00 01 00 00 00 00 13 05 20 08 00 00 00 00 "
                                       "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
                                       "00 00 00 00 00 00 00 00 00 00 00 00"};

// Example 17.
inline constexpr Example kHostReply = {"HostReply", Mode::mxoe, 0,
                                       "00 60 dd 47 c4 75 00 1b 21 aa bb cc 86 df 00 00 "
                                       "04 08 00 07 00 00 00 00 13 05 20 08 00 00 00 00 "
                                       "6e 6f 64 65 32 3a 30 00 00 00 00 00 00 00 00 00 "
                                       "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
                                       "00 00 00 00"};

// Example 18.
inline constexpr Example kDiscovery = {"Discovery", Mode::mxoe, 0,
                                       "ff ff ff ff ff ff 00 60 dd 47 c4 75 86 df 00 00 "
                                       "01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
                                       "00 00 00 60 dd 47 c4 75 2b 9a 11 c3 00 00 00 00 "
                                       "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"};

inline constexpr const Example* kExamples[] = {
    &kConnectRequest, &kConnectReply, &kTiny,    &kSmall,         &kMediumMxoe,   &kMediumOmx,
    &kRndv,           &kPullMxoe,     &kPullOmx, &kPullReplyMxoe, &kPullReplyOmx, &kNotify,
    &kTruc,           &kNackLib,      &kNackMcp, &kHostQuery,     &kHostReply,    &kDiscovery};

}  // namespace omx::wire::test
