// A point that every kernel of the library could run at once, but for what a test changes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"

namespace sawtooth::test {

using Options = std::vector<std::pair<std::string, std::string>>;

/// `options` go before the usual ones. Throws what resolve() throws.
inline experiments::Point small_point(const Options& options) {
  experiments::Settings given;
  for (const auto& [key, value] : options) assign(given, key, value, {});
  for (const auto& [key, value] : Options{{"seq", "256"},
                                          {"head-dim", "64"},
                                          {"tile-q", "64"},
                                          {"tile-kv", "64"},
                                          {"workers", "3"},
                                          {"l2-bytes", "1 MiB"}})
    if (!given.contains(key)) assign(given, key, value, {});
  experiments::Catalog catalog;
  return resolve(given, catalog);
}

}  // namespace sawtooth::test
