// How the program ends: exit codes, and mistakes of the user's, one line that says which key or
// file, what is wrong and what is allowed, which the program prints and exits with 2.
#pragma once

#include <stdexcept>
#include <string>

#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& what) : std::runtime_error(one_line(what)) {}
};

/// What no key or file forbids by itself, but a combination of them: of a sweep it is the status of
/// one point, and a mistake where all points have it.
class Refusal : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A mistake in a file, by its line (from 1 on).
[[noreturn]] inline void fail_at(const std::string& path, int line, const std::string& what) {
  throw UsageError(path + ":" + std::to_string(line) + ": " + what);
}

// What the program's exit status means, the same for every command.
inline constexpr int exit_fine = 0;
inline constexpr int exit_check_failed = 1;
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_no_device = 3;      // no GPU, or its counters cannot be read
inline constexpr int exit_interrupted = 130;  // 128 + SIGINT, as shells report it

}  // namespace sawtooth::experiments
