// The rows of the set-associative L2 in the benchmark program.
#pragma once

namespace sawtooth::tests {

/// Registers them; call before benchmark::Initialize.
void register_sets();

}  // namespace sawtooth::tests
