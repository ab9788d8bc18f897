// The link from GPU to GPU, as messages of a size find it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sawtooth::sim {

/// Who copies between GPUs: SMs leave in L2 what they copy, a copy engine leaves nothing
/// (experiments/data/h200/ring/copied_lines.csv).
enum class Copier { copy_engine, sms };

/// Bandwidth of messages of `bytes`, in 10^9 bytes a second, each way while both are in use.
struct LinkRate {
  int64_t bytes = 0;
  double gb_per_s = 0;
};

/// Rates of rising sizes, at least one.
using LinkRates = std::vector<LinkRate>;

/// Between two known sizes linear in the logarithm of the size, beyond them as at the ends; in
/// bytes a nanosecond.
inline double link_bytes_a_ns(const LinkRates& rates, int64_t bytes) {
  const auto above = std::find_if(rates.begin(), rates.end(),
                                  [&](const LinkRate& rate) { return rate.bytes >= bytes; });
  if (above == rates.begin()) return above->gb_per_s;
  if (above == rates.end()) return rates.back().gb_per_s;
  const LinkRate& below = *(above - 1);
  const double place = std::log(double(bytes) / double(below.bytes)) /
                       std::log(double(above->bytes) / double(below.bytes));
  return below.gb_per_s + place * (above->gb_per_s - below.gb_per_s);
}

/// For K and V of a rank, a message of `bytes` each.
inline double transfer_ns(const LinkRates& rates, int64_t bytes) {
  return 2 * double(bytes) / link_bytes_a_ns(rates, bytes);
}

}  // namespace sawtooth::sim
