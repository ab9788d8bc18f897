#include "experiments/sawtooth/results/shard.hpp"

#include <charconv>
#include <stdexcept>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

bool Shard::has(std::string_view run_id) const {
  constexpr int hexadecimal = 16;
  uint64_t hash = 0;
  std::from_chars(run_id.data(), run_id.data() + run_id.size(), hash, hexadecimal);
  return hash % count == number - 1;
}

Shard shard_of(const Settings& outputs) {
  const std::string text = value_or(outputs, "shard", "1/1");
  const size_t slash = text.find('/');
  try {
    if (slash == std::string::npos) throw std::invalid_argument("no slash");
    const Shard shard{static_cast<uint64_t>(parse_count(text.substr(0, slash))),
                      static_cast<uint64_t>(parse_count(text.substr(slash + 1)))};
    if (shard.number < 1 || shard.number > shard.count) throw std::invalid_argument("no part");
    return shard;
  } catch (const std::invalid_argument&) {
    throw UsageError(place_of("shard", outputs.at("shard").origin) + ": '" + text +
                     "' is not allowed; allowed: I/N, whole numbers with 1 <= I <= N");
  }
}

}  // namespace sawtooth::experiments
