// Independent parts of one prediction on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace sawtooth::sim {

/// Calls function(i) for every i < count on up to `threads` threads, the caller's among them, and
/// returns when all have ended. Throws what the lowest i has thrown.
template <class Function>
void on_threads(int64_t count, int64_t threads, Function function) {
  std::atomic<int64_t> next = 0;
  std::vector<std::exception_ptr> errors(static_cast<size_t>(count));
  const auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) {
      try {
        function(i);
      } catch (...) {
        errors[static_cast<size_t>(i)] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (int64_t i = 1; i < std::min(count, threads); ++i) others.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace sawtooth::sim
