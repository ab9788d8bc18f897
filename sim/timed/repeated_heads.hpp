// Some of many heads that are alike say what all do, as every further one adds what the one before
// did. What SMs read and write and compulsory reads come out exact, the rest within parts of a
// thousand (docs/models/timed.md).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// The first `replayed` heads stand for all, by what the second `step` of them adds.
struct RepeatedHeads {
  int64_t step = 0;
  int64_t replayed = 0;
};

/// Nothing where heads differ, where workers with shares of their own drift ever further apart, or
/// where the replay would cost over half of the whole.
std::optional<RepeatedHeads> repeated_heads(const Request& request);

/// The first `heads` heads of the launch, as one sequence's.
Request with_heads(Request request, int64_t heads);

/// Whether the step reads as much from DRAM as the one before; else workers still drift apart.
bool is_steady(const Prediction& before, const Prediction& after);

/// The whole launch from its first heads, and from what was counted `before` and `after` a step of
/// them: what SMs have received says how much of the work that was.
Prediction repeated(const Request& request, const RepeatedHeads& heads, const Prediction& before,
                    const Prediction& after, Prediction whole);

}  // namespace sawtooth::sim
