// HLE's C++ library without Python: a turn is the legal moves, one of them at random, the cards that it lets HLE deal,
// and the canonical observation of the player to act.
//
// Built and run by `peers.py`. For each line of standard input, a number of seconds, it writes the steps per second that
// it made.
#include <chrono>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "hanabi_lib/canonical_encoders.h"
#include "hanabi_lib/hanabi_game.h"
#include "hanabi_lib/hanabi_observation.h"
#include "hanabi_lib/hanabi_state.h"

namespace hle = hanabi_learning_env;

namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Plays one game to its end and gives its turns. `seen` takes something of every observation.
long PlayGame(hle::HanabiGame& game, const hle::CanonicalObservationEncoder& encoder, std::mt19937& rng, long& seen) {
  hle::HanabiState state(&game);
  long turns = 0;
  while (!state.IsTerminal()) {
    if (state.CurPlayer() == hle::kChancePlayerId) {
      state.ApplyRandomChance();
      continue;
    }
    const hle::HanabiObservation observation(state, state.CurPlayer());
    seen += encoder.Encode(observation).front();
    const std::vector<hle::HanabiMove> moves = state.LegalMoves(state.CurPlayer());
    state.ApplyMove(moves[rng() % moves.size()]);
    ++turns;
  }
  return turns;
}

}  // namespace

int main(int argc, char** argv) {
  hle::HanabiGame game({{"players", argc > 1 ? argv[1] : "2"}, {"seed", "1"}});
  const hle::CanonicalObservationEncoder encoder(&game);
  std::mt19937 rng(1);
  long seen = 0;
  double seconds = 0;
  while (std::cin >> seconds) {
    long turns = 0;
    const double start = Now();
    while (Now() - start < seconds) turns += PlayGame(game, encoder, rng, seen);
    std::cout << turns / (Now() - start) << std::endl;
  }
  return seen < 0;
}
