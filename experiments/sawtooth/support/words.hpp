// Texts that occur many times, each held once and named by a number.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sawtooth::experiments {

class Words {
 public:
  static constexpr uint32_t empty = 0;

  Words() { number(""); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  /// The same for the same text, as long as this lives; `empty` for "".
  uint32_t number(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
    return number;
  }
  const std::string& text(uint32_t number) const { return texts_[number]; }

 private:
  std::deque<std::string> texts_;  // which stay where they are
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

}  // namespace sawtooth::experiments
