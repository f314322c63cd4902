// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/message_sizes.h"

#include <algorithm>
#include <cmath>

namespace omx::simulation::fabric {

namespace {

constexpr double kPacket = 1460;  // of the figures that count packets

// W1: values of a pool of memcached at Facebook, ETC (Atikoglu and others, "Workload analysis of a
// large-scale key-value store", SIGMETRICS 2012, table 5): the small ones as counted, from 15 B on a
// generalised Pareto distribution. Homa's W1 (Montazeri and others, SIGCOMM 2018, figure 1) is the same.
constexpr SizePoint kW1[] = {{0, 0},           {1, 0.00583},      {2, 0.18403},
                             {3, 0.27642},     {5, 0.304},        {11, 0.41757},
                             {14, 0.44155},    {15, 0.47},        {32, 0.509861},
                             {64, 0.574593},   {128, 0.673267},   {256, 0.794683},
                             {384, 0.862342},  {512, 0.903078},   {768, 0.946517},
                             {1024, 0.96731},  {2048, 0.991966},  {4096, 0.998449},
                             {8192, 0.999744}, {16384, 0.999961}, {65536, 0.999999},
                             {100000, 1}};

// W2: RPCs of Google's search; W3: all RPCs of a data centre of Google; W4: Hadoop at Facebook (Roy and
// others, "Inside the social network's network", SIGCOMM 2015). The Homa paper published them (figure 1, and
// the files of its simulator, PlatformLab/HomaSimulation, sizeDistributions); here are some of the points.
// Homa sends the lengths of the points only. W4 has a mean of 194 kB then; of 135 kB here, with lengths
// between.
constexpr SizePoint kW2[] = {{1, 0},
                             {2, 0.0756},
                             {3, 0.1323},
                             {8, 0.1701},
                             {32, 0.1890},
                             {43, 0.2577},
                             {64, 0.3264},
                             {128, 0.3417},
                             {256, 0.4638},
                             {320, 0.6425},
                             {394, 0.7764},
                             {512, 0.9104},
                             {1024, 0.9581},
                             {2048, 0.98101},
                             {4096, 0.99532},
                             {8192, 0.99842},
                             {16384, 0.99890},
                             {32768, 0.99914},
                             {65536, 0.99935},
                             {131072, 0.99987},
                             {262144, 0.999975},
                             {524288, 0.9999827},
                             {1071908, 0.999993},
                             {3529904, 1}};
constexpr SizePoint kW3[] = {{1, 0},
                             {2, 0.2767},
                             {3, 0.4612},
                             {4, 0.5534},
                             {7, 0.6456},
                             {32, 0.7379},
                             {64, 0.7974},
                             {128, 0.8271},
                             {256, 0.8569},
                             {341, 0.8978},
                             {512, 0.9387},
                             {1024, 0.9610},
                             {2048, 0.9740},
                             {4096, 0.9814},
                             {8192, 0.98982},
                             {16384, 0.99563},
                             {32768, 0.99726},
                             {65536, 0.99807},
                             {131072, 0.99917},
                             {262144, 0.99955},
                             {524288, 0.99985},
                             {1005228, 0.999924},
                             {3221790, 0.999981},
                             {12158197, 1}};
constexpr SizePoint kW4[] = {{60, 0},           {92, 0.0074},     {217, 0.0149},    {271, 0.0409},
                             {300, 0.0520},     {326, 0.1375},    {376, 0.2026},    {480, 0.2639},
                             {600, 0.4591},     {737, 0.5520},    {1042, 0.6097},   {1664, 0.6673},
                             {3396, 0.6840},    {7830, 0.7082},   {31946, 0.7212},  {44260, 0.7584},
                             {51046, 0.8160},   {75180, 0.8420},  {81565, 0.8717},  {133013, 0.9070},
                             {212546, 0.9349},  {288520, 0.9535}, {470507, 0.9628}, {940700, 0.9721},
                             {2169118, 0.9870}, {10000000, 1}};

// W5 and web-search: flows of web search (Alizadeh and others, "Data center TCP", SIGCOMM 2010, figure 4), in
// packets. web-search has the points of the pFabric paper (SIGCOMM 2013); those of Homa's W5 differ in the
// largest tenth.
constexpr SizePoint kW5[] = {{0, 0},
                             {7 * kPacket, 0.15},
                             {14 * kPacket, 0.2},
                             {20 * kPacket, 0.3},
                             {34 * kPacket, 0.4},
                             {54 * kPacket, 0.53},
                             {134 * kPacket, 0.6},
                             {667 * kPacket, 0.7},
                             {1333 * kPacket, 0.8},
                             {3333 * kPacket, 0.9},
                             {7001 * kPacket, 0.9025},
                             {20000 * kPacket, 1}};
constexpr SizePoint kWebSearch[] = {{1, 0},
                                    {6 * kPacket, 0.15},
                                    {13 * kPacket, 0.2},
                                    {19 * kPacket, 0.3},
                                    {33 * kPacket, 0.4},
                                    {53 * kPacket, 0.53},
                                    {133 * kPacket, 0.6},
                                    {667 * kPacket, 0.7},
                                    {1333 * kPacket, 0.8},
                                    {3333 * kPacket, 0.9},
                                    {6667 * kPacket, 0.97},
                                    {20000 * kPacket, 1}};

// A mix of our own for MPI programs, because no single distribution was published: tiny collectives and flags
// (Vetter and Mueller, IPDPS 2002, and Kamil and others, SC 2005, find that nearly all collectives have small
// payloads), halos of 2 to 64 KiB, and few blocks of up to 4 MiB.
constexpr SizePoint kHpc[] = {{8, 0.2},      {64, 0.45},       {2048, 0.7}, {16384, 0.85},
                              {65536, 0.95}, {1048576, 0.985}, {4194304, 1}};

}  // namespace

std::uint32_t MessageSizes::draw(Random& random) const {
  const double part = static_cast<double>(random.next() >> 11) * 0x1.0p-53;
  const auto at = std::upper_bound(points_.begin(), points_.end(), part,
                                   [](double value, const SizePoint& point) { return value < point.part; });
  if (at == points_.begin()) return static_cast<std::uint32_t>(std::max(at->length, 1.0));
  if (at == points_.end()) return most();
  const SizePoint below = *(at - 1);
  const double inside = (part - below.part) / (at->part - below.part);
  return static_cast<std::uint32_t>(std::max(below.length + inside * (at->length - below.length), 1.0));
}

double MessageSizes::mean() const {
  double mean = points_[0].length * points_[0].part;
  for (std::size_t i = 1; i < points_.size(); i++)
    mean += (points_[i].length + points_[i - 1].length) / 2 * (points_[i].part - points_[i - 1].part);
  return mean;
}

std::optional<MessageSizes> message_sizes(std::string_view name) {
  if (name == "w1") return MessageSizes(kW1);
  if (name == "w2") return MessageSizes(kW2);
  if (name == "w3") return MessageSizes(kW3);
  if (name == "w4") return MessageSizes(kW4);
  if (name == "w5") return MessageSizes(kW5);
  if (name == "web-search") return MessageSizes(kWebSearch);
  if (name == "hpc") return MessageSizes(kHpc);
  return std::nullopt;
}

}  // namespace omx::simulation::fabric
