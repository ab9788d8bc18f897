// Calls over packed sequences of different lengths: what the host works out of their rows before a
// launch, and the tables that it leaves in the workspace for the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/mma/arguments.hpp"

namespace sawtooth::kernels {

constexpr bool is_packed(const AttentionForward& call) {
  return call.packed.q != nullptr || call.packed.kv != nullptr;
}

/// All rows of Q, or of K and V: the last of the `batch` + 1 entries.
constexpr int64_t packed_rows(const int32_t* first_rows, int64_t batch) {
  return first_rows[batch];
}

/// What is wrong with the rows or with what the call asks for beside them.
Outcome check_packed(const AttentionForward& call);

/// The call with the lengths of its longest sequences, with keys of at least 1, and with strides
/// whose batch is 0. Of a call that passes check_packed.
AttentionForward with_longest_lengths(const AttentionForward& call);

/// What the kernel reads of the sequences, as one block that is copied to the device.
struct PackedTables {
  std::vector<char> block;
  char* on_device = nullptr;  // where it belongs
  PackedArguments arguments;  // with the addresses that it has there
};

/// Items that a launch has: those of its sequences, or with `may_change` as many as any lengths of
/// as many rows can have. The rest is void: of a sequence without rows, behind the others.
int64_t items_of_launch(const AttentionForward& call, const Tiling& tiling);

/// Bytes of that block, with what aligning it may take; 0 of a call that is not packed.
std::size_t table_bytes(const AttentionForward& call, const Tiling& tiling);

/// What packed sequences take where the call leaves it automatic: tickets, so that no worker waits
/// for those with long items, and a scan that they do not make depend on time.
Schedule packed_schedule(const AttentionForward& call);

/// The tables of a call that with_longest_lengths has made, for `variant` and a launch of
/// `item_count` items, no fewer than the sequences have, to be copied to device memory from `place`
/// on. `launch_failed` where the driver makes no tensor map.
Outcome make_packed_tables(const AttentionForward& call, const KernelVariant& variant,
                           const ForwardArguments& arguments, int64_t item_count, char* place,
                           PackedTables& tables);

}  // namespace sawtooth::kernels
