// The LRU stack as Mattson et al. drew it in 1970: a list of lines, most recent first. A distance
// is the line's position in the list. Linear search: for tests of small traces only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sawtooth::tests {

class MattsonStack {
 public:
  static constexpr int64_t cold = -1;

  /// Number of distinct other lines since the last access to `line`, or cold.
  int64_t access(int64_t line) {
    const auto found = std::find(stack_.begin(), stack_.end(), line);
    const int64_t distance = found == stack_.end() ? cold : found - stack_.begin();
    if (found != stack_.end()) stack_.erase(found);
    stack_.insert(stack_.begin(), line);
    return distance;
  }

 private:
  std::vector<int64_t> stack_;
};

}  // namespace sawtooth::tests
