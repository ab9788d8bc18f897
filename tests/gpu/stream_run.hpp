// One stream on a buffer of its own, as a command line says it: MIB ld|tma|write
// same|shift|all|one linear|reversed|there-and-back. Two launches, or one that goes there and back.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/stream/stream.hpp"

namespace sawtooth::kernels {

inline constexpr char stream_run_usage[] =
    "MIB ld|tma|write same|shift|all|one linear|reversed|there-and-back";

struct StreamRun {
  int64_t bytes = 0;
  bool one_sm = false;
  std::vector<StreamPass> passes;  // a launch each
};

/// Throws std::invalid_argument for a word that is not one of the above.
inline StreamRun stream_run(const std::string& mib, const std::string& access,
                            const std::string& shape, const std::string& order) {
  const auto require = [](bool good, const std::string& word) {
    if (!good) throw std::invalid_argument("'" + word + "' is not one of: " + stream_run_usage);
  };
  const auto among = [](const std::string& word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  require(among(access, {"ld", "tma", "write"}), access);
  require(among(shape, {"same", "shift", "all", "one"}), shape);
  require(among(order, {"linear", "reversed", "there-and-back"}), order);
  require(std::atoll(mib.c_str()) > 0, mib);

  StreamPass first;
  if (access == "tma") first.access = StreamAccess::tma;
  if (access == "write") first.access = StreamAccess::write;
  if (shape == "all") first.map = StreamMap::all;
  if (shape == "one") first.map = StreamMap::one;
  StreamRun run{std::atoll(mib.c_str()) << 20, shape == "one", {}};
  if (order == "there-and-back") {
    first.repeats = 2;
    first.there_and_back = true;
    run.passes = {first};
    return run;
  }
  StreamPass second = first;
  second.shift = shape == "shift" ? 1 : 0;
  second.reversed = order == "reversed";
  run.passes = {first, second};
  return run;
}

}  // namespace sawtooth::kernels
