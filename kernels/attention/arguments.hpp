// What a call hands to its kernel.
#pragma once

#include "kernels/attention/attention.hpp"
#include "kernels/mma/arguments.hpp"

namespace sawtooth::kernels {

/// Of a call that passes `check`, in tiles of `tiling` and under a schedule with nothing left
/// automatic, with a workspace of workspace_bytes(call).
ForwardArguments arguments_of(const AttentionForward& call, const Tiling& tiling,
                              const Schedule& schedule, char* workspace);

/// Of a call with running results.
RunningResults running_of(const AttentionForward& call);

}  // namespace sawtooth::kernels
