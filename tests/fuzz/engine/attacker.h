// SPDX-License-Identifier: BSD-3-Clause
// A hostile peer. It sends valid packets of every type, with all values in them that it could know or guess
// (session, handle, generation, next number ...). The script makes some of them wrong. The attacker sees into
// the victim, so that the fuzzer need not guess.
#pragma once

#include "tests/fuzz/engine/attacker_large.h"

namespace omx::fuzz {

class Attacker final : public LargeAttacker {
 public:
  using LargeAttacker::LargeAttacker;

  // Plays one step of the script: one frame or a few.
  void play(Step step, Script& script);

 private:
  void connect(const Sender& from, Script& script, bool reply);
  void eager(const Sender& from, Script& script);
  void pack(const Sender& from, Script& script);
  void medium(const Sender& from, Script& script);
  void truc(const Sender& from, Script& script);
  void nack_lib(const Sender& from, Script& script);
  void probe(const Sender& from, Script& script);
  void raw(const Sender& from, Script& script);
  void replay(const Sender& from, Script& script);
  void flood(Script& script);
};

}  // namespace omx::fuzz
