// What inference adds to a point beside lengths: shared prefixes, pages, cascades and equal shares.
#pragma once

#include "experiments/sawtooth/inputs/layers.hpp"
#include "experiments/sawtooth/inputs/point.hpp"

namespace sawtooth::experiments {

/// The prefix and the pages of the point's sequences, whose lengths and tiles are known.
void resolve_prefix_and_pages(const Layers& layers, Point& point);

/// The shares of kv-split = auto, whose order is known, and all that is refused of these keys.
void resolve_shares(const Layers& layers, Point& point);

}  // namespace sawtooth::experiments
