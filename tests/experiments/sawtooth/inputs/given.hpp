// Points from a few keys, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::test {

using Options = std::vector<std::pair<std::string, std::string>>;

/// `options` over `usual`; a key of both is that of `options`, and usual lengths go where it has
/// any.
inline experiments::Settings given(const Options& options,
                                   const Options& usual = {{"gpu", "h200"}}) {
  experiments::Settings settings, own;
  for (const auto& [key, value] : options) assign(own, key, value, {});
  for (const auto& [key, value] : usual) assign(settings, key, value, {});
  const bool has_lengths = own.contains("seq-q") || own.contains("seq-kv") ||
                           own.contains("lengths") || own.contains("q-lengths");
  if (has_lengths) settings.erase("seq");
  for (const auto& [key, assignment] : own) settings[key] = assignment;
  return settings;
}

inline experiments::Point point_of(const Options& options,
                                   const Options& usual = {{"gpu", "h200"}, {"seq", "1K"}}) {
  experiments::Catalog catalog;
  return resolve(given(options, usual), catalog);
}

/// What is wrong with the point; empty where nothing is.
inline std::string refusal_of(const Options& options,
                              const Options& usual = {{"gpu", "h200"}, {"seq", "1K"}}) {
  try {
    point_of(options, usual);
  } catch (const experiments::UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace sawtooth::test
