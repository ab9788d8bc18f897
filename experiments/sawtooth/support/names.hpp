// Names that people type: found whatever their case, and the nearest one to a name that is none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sawtooth::experiments {

/// In lower case (ASCII).
std::string lowered(std::string_view text);

/// That of `names` which is `text` but for upper and lower case; empty: none.
std::string_view found_name(std::string_view text, std::span<const std::string_view> names);

/// Those of `names` that continue `text` after a dash: a100-sxm-40gb and a100-sxm-80gb of a100.
std::vector<std::string> family_named(std::string_view text,
                                      std::span<const std::string_view> names);

/// "; did you mean NAME?" for the name that takes the fewest letters to change (an exchange of
/// neighbours is one), where these are at most a third of it; else empty.
std::string did_you_mean(std::string_view text, std::span<const std::string_view> names);

/// Views of `names`.
std::vector<std::string_view> views_of(const std::vector<std::string>& names);

}  // namespace sawtooth::experiments
