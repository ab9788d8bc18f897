// The texts of a point's keys in their layers: defaults, what its system says, what was given.
#pragma once

#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/settings.hpp"
#include "experiments/sawtooth/inputs/system_file.hpp"

namespace sawtooth::experiments {

class Catalog;
struct Keys;

/// And messages that name the place of a key.
class Layers {
 public:
  /// `given` must outlive this. Throws UsageError for keys that do not go together.
  Layers(const Settings& given, Catalog& catalog);

  bool has_system() const { return has_system_; }
  bool has(std::string_view key) const { return merged_.contains(key); }
  /// On the command line or in the configuration.
  bool is_given(std::string_view key) const { return given_.contains(key); }
  /// Whether the system says the same.
  bool is_of_system(std::string_view key) const {
    const auto usual = preset_.find(key);
    return usual != preset_.end() && usual->second.values == merged_.at(std::string(key)).values;
  }
  /// Throws a Refusal.
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;

  /// All keys with their defaults.
  Keys keys() const;

  // For features that complete texts: of a key that is there; a key that is not; a UsageError.
  const std::string& text(std::string_view key) const {
    return merged_.find(key)->second.values.front();
  }
  void set_if_missing(std::string_view key, std::string_view value) {
    merged_.try_emplace(std::string(key), Assignment{{std::string(value)}, {"default", 0}});
  }
  [[noreturn]] void refuse(std::string_view key, const std::string& what) const;

 private:
  // seq becomes seq-q and seq-kv, and every problem key that is left out its default.
  void complete_problem();

  const Settings& given_;
  Settings merged_;  // each key with one value
  Settings preset_;  // what the system gives for this problem
  bool has_system_ = false;
};

}  // namespace sawtooth::experiments
