// A mistake of the user's: one line that says which key or file, what is wrong and what is allowed.
// The program prints it and exits with 2.
#pragma once

#include <stdexcept>
#include <string>

namespace sawtooth::experiments {

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
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

}  // namespace sawtooth::experiments
