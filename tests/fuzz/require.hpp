// A check of a fuzz target: it stays in optimised builds, and both libFuzzer and GoogleTest see it.
#pragma once

#include <stdexcept>
#include <string>

namespace sawtooth::fuzz {

inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("fuzz: does not hold: ") + what);
}

}  // namespace sawtooth::fuzz
