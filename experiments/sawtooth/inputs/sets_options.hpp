// The options of the L2 model `sets` (l2-ways, l2-line-bytes, l2-hash, l2-hash-matrix, l2-policy,
// l2-set-aside, and hints as priorities), from keys to sim::SetsParameters.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/keys.hpp"
#include "sim/gpu.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

/// Whether `key` is an option of `sets` alone.
bool is_sets_key(std::string_view key);

/// Ends with a message about a key.
using KeyFailure = std::function<void(const std::string& key, const std::string& what)>;

/// With l2 = sets, completes `keys` from the GPU's profile (16 ways and 128-byte lines where it
/// says nothing), fills request.sets and checks it against request.l2_bytes. With another model,
/// removes the keys of `sets`. Calls `fail` with key and what is allowed.
void resolve_sets(const KeyFailure& fail, const sim::Gpu& gpu, Keys& keys, sim::Request& request);

}  // namespace sawtooth::experiments
