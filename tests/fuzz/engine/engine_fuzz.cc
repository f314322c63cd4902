// SPDX-License-Identifier: BSD-3-Clause
// An endpoint, its program, an honest peer, and attackers that do what the input says (script.h). Whatever
// that is, memory is touched only where that is allowed. No peer completes requests of another, and bounds
// hold. When the attackers fall silent, everything ends and the honest peer is served as before.
#include "tests/fuzz/engine/attacker.h"
#include "tests/fuzz/engine/honest_program.h"
#include "tests/fuzz/engine/victim_program.h"

namespace omx::fuzz {
namespace {

constexpr int kStepsMax = 250;
constexpr std::uint32_t kHonestBytesMax = 256 << 10;
constexpr TimeNs kTimeMax = 120'000 * kMillisecond;

void time_passes(Scene& scene, Script& script) {
  constexpr TimeNs kSteps[] = {1'000,
                               20'000,
                               300'000,
                               kMillisecond,
                               3 * kMillisecond,
                               25 * kMillisecond,
                               120 * kMillisecond,
                               1100 * kMillisecond};
  const std::uint8_t how = script.u8();
  const TimeNs time = kSteps[how & 7] * ((how >> 3 & 3) + 1);
  if (scene.now + time < kTimeMax) scene.advance(time);
}

void mtu_changes(Scene& scene, Script& script) {
  constexpr std::uint32_t kMtus[] = {256, 1500, 4000, 9000};
  const std::uint32_t mtu = kMtus[script.u8() & 3];
  if (scene.setup.relaxed) scene.victim.endpoint.set_mtu(scene.now, mtu);
}

void play(std::span<const std::uint8_t> input) {
  Script script(input);
  const Setup setup(script);
  Scene scene(setup);
  scene.introduce();
  Book from_honest(1), to_honest(2);
  HonestProgram honest(scene, from_honest, to_honest);
  VictimProgram application(scene, from_honest, to_honest);
  Attacker attacker(scene);
  scene.players = {&application, &honest};
  if (setup.attacker_connected) {
    Script zeros({});
    attacker.play(Step::connect_request, zeros);
  }
  std::uint32_t losses_left = 3, honest_bytes = 0;
  for (int i = 0; i < kStepsMax && !script.empty(); i++) {
    const auto step = static_cast<Step>(script.u8() % static_cast<unsigned>(Step::count));
    switch (step) {
      case Step::receive:
        application.receive(script);
        break;
      case Step::send:
        application.send(script);
        break;
      case Step::connect:
        application.connect(script);
        break;
      case Step::cancel:
        application.cancel(script);
        break;
      case Step::probe:
        application.probe(script);
        break;
      case Step::disconnect:
        application.disconnect(script);
        break;
      case Step::handler:
        application.handler(script);
        break;
      case Step::timeout:
        application.timeout(script);
        break;
      case Step::collect:
        application.look();
        break;
      case Step::time:
        time_passes(scene, script);
        break;
      case Step::honest_send: {
        const std::uint8_t how = script.u8();
        if (honest_bytes + kLengths[how & 15] > kHonestBytesMax) break;
        honest_bytes += kLengths[how & 15];
        honest.send(kLengths[how & 15], how >> 4 & 3, how & 64, how & 128);
        break;
      }
      case Step::lose:
        if (losses_left > 0) {
          losses_left--;
          scene.losing++;
        }
        break;
      case Step::carrier: {
        const std::uint8_t how = script.u8();
        scene.victim.endpoint.rail_carrier(scene.now, (how & 3) % setup.boards, how & 4);
        break;
      }
      case Step::mtu:
        mtu_changes(scene, script);
        break;
      default:
        attacker.play(step, script);
    }
  }
  application.end_attackers();
  application.drain();
  application.exchange(honest);
  application.check_end();
}

}  // namespace
}  // namespace omx::fuzz

// Freed memory is kept only briefly. Otherwise a run spends its time in page faults.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=8:malloc_context_size=8";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  omx::fuzz::play({bytes, size});
  return 0;
}
