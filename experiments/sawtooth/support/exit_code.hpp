// What the program's exit status means, the same for every command.
#pragma once

namespace sawtooth::experiments {

inline constexpr int exit_fine = 0;
inline constexpr int exit_check_failed = 1;
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_no_device = 3;      // no GPU, or its counters cannot be read
inline constexpr int exit_interrupted = 130;  // 128 + SIGINT, as shells report it

}  // namespace sawtooth::experiments
