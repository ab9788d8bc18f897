#include "kernels/attention/packed.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "kernels/attention/choice.hpp"
#include "kernels/attention/launch.hpp"
#include "kernels/attention/workspace.hpp"
#include "scheduler/sequences.hpp"

namespace sawtooth::kernels {
namespace {

constexpr std::size_t table_alignment = 128;  // tensor maps ask for 64
constexpr int maps_a_sequence = 3;            // of Q, K and V

SequenceLengths lengths_of(const AttentionForward& call, int64_t b) {
  const PackedRows& rows = call.packed;
  return {rows.q[b + 1] - rows.q[b], rows.kv[b + 1] - rows.kv[b]};
}

Outcome check_rows(const char* name, const int32_t* first_rows, int64_t batch) {
  if (first_rows == nullptr)
    return refuse(Status::null_pointer, std::string(name) + " is a null pointer");
  if (first_rows[0] != 0)
    return refuse(Status::bad_size, std::string(name) + " begins with " +
                                        std::to_string(first_rows[0]) + "; allowed: 0");
  for (int64_t b = 0; b < batch; ++b)
    if (first_rows[b + 1] < first_rows[b])
      return refuse(Status::bad_size, std::string(name) + " falls from " +
                                          std::to_string(first_rows[b]) + " to " +
                                          std::to_string(first_rows[b + 1]) + " at sequence " +
                                          std::to_string(b) + "; allowed: the same or more");
  return {};
}

/// Items of the sequences, none of them void.
int64_t count_items(const AttentionForward& call, const Tiling& tiling) {
  int64_t items = 0;
  for (int64_t b = 0; b < call.problem.batch; ++b)
    items += ceil_div(lengths_of(call, b).seq_q, tiling.q_rows);
  return items * call.problem.heads;
}

/// Maps and rows, one of them void.
std::size_t table_sequences(const AttentionForward& call) {
  return std::size_t(call.problem.batch) + 1;
}

struct BlockLayout {
  std::size_t sequences, items, bytes;
};
BlockLayout layout_of(const AttentionForward& call, int64_t items) {
  const std::size_t sequences = table_sequences(call);
  BlockLayout layout{};
  layout.sequences = sequences * maps_a_sequence * sizeof(CUtensorMap);
  layout.items = layout.sequences + sequences * sizeof(PackedSequence);
  layout.bytes = layout.items + std::size_t(items) * sizeof(WorkCoordinates);
  return layout;
}

/// The items in the order of the schedule over the grid of the longest sequences, whose void ones
/// are left out (scheduler/sequences.hpp); then those of the void sequence.
void list_items(const AttentionForward& call, const Tiling& tiling, const Schedule& schedule,
                std::span<WorkCoordinates> list) {
  const Problem& problem = call.problem;
  std::vector<SequenceLengths> lengths;
  for (int64_t b = 0; b < problem.batch; ++b) lengths.push_back(lengths_of(call, b));
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  SequenceOrders::dispatch(call.packed.order.index, [&](auto policy) {
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
      return policy.before(lengths[std::size_t(a)], lengths[std::size_t(b)]);
    });
    return 0;
  });
  const int64_t ranks = q_tiles(problem, tiling);
  auto next = list.begin();
  for (int64_t i = 0; i < problem.batch * problem.heads * ranks; ++i) {
    WorkCoordinates work = work_at(problem, schedule.order, ranks, 1, i, Pass::forward);
    work.batch = order[std::size_t(work.batch)];
    if (work.own_tile < ceil_div(lengths[std::size_t(work.batch)].seq_q, tiling.q_rows))
      *next++ = work;
  }
  std::fill(next, list.end(), WorkCoordinates{problem.batch, 0, 0, 0});
}

Outcome make_sequence_maps(const AttentionForward& call, const KernelVariant& variant,
                           const PackedSequence& sequence, CUtensorMap* maps) {
  Problem problem = call.problem;
  problem.batch = 1;
  const auto from = [&](const void* tensor, const Strides& strides, int64_t row, int64_t rows) {
    // A sequence without rows has a map, too; no load uses it.
    return rows > 0 ? static_cast<const char*>(tensor) +
                          strides.offset(0, 0, row) * element_bytes(problem.dtype)
                    : static_cast<const char*>(call.q);
  };
  const MappedTensor tensors[maps_a_sequence] = {
      {from(call.q, call.q_strides, sequence.first_q, sequence.seq_q), problem.heads,
       max_of(1, sequence.seq_q), problem.head_dim, call.q_strides, variant.q_box},
      {from(call.k, call.k_strides, sequence.first_kv, sequence.seq_kv), problem.kv_heads,
       max_of(1, sequence.seq_kv), problem.head_dim, call.k_strides, variant.kv_box},
      {from(call.v, call.v_strides, sequence.first_kv, sequence.seq_kv), problem.kv_heads,
       max_of(1, sequence.seq_kv), problem.head_dim, call.v_strides, variant.kv_box}};
  for (int i = 0; i < maps_a_sequence; ++i)
    if (Outcome bad = make_map(variant, problem, tensors[i], maps[i]); !bad) return bad;
  return {};
}

}  // namespace

Outcome check_packed(const AttentionForward& call) {
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  const int64_t batch = call.problem.batch;
  if (batch < 0 || batch > largest)
    return refuse(Status::bad_size, "batch is " + std::to_string(batch) + "; allowed: 0 to " +
                                        std::to_string(largest));
  if (Outcome bad = check_rows("packed.q", call.packed.q, batch); !bad) return bad;
  if (Outcome bad = check_rows("packed.kv", call.packed.kv, batch); !bad) return bad;
  if (call.packed.order.index < 0 || call.packed.order.index >= SequenceOrders::size)
    return refuse(Status::bad_schedule, "packed.order is not on its list");
  for (const auto& [name, strides] : {std::pair{"q", call.q_strides},
                                      {"k", call.k_strides},
                                      {"v", call.v_strides},
                                      {"o", call.o_strides}})
    if (strides.batch != 0)
      return refuse(Status::misaligned, std::string(name) + " has a batch stride of " +
                                            std::to_string(strides.batch) +
                                            "; allowed with packed sequences: 0");
  const Schedule& schedule = call.schedule;
  const auto no = [](const std::string& what) {
    return refuse(Status::bad_schedule, what + "; allowed with packed sequences: none");
  };
  if (schedule.kv_split > 1) return no("kv_split is " + std::to_string(schedule.kv_split));
  if (schedule.prefetch > 0) return no("prefetch is " + std::to_string(schedule.prefetch));
  if (schedule.order.list != nullptr) return no("an explicit list of items is given");
  if (call.packed.may_change && schedule.scan == scan_id<AttachScan>)
    return refuse(Status::bad_schedule,
                  "scan is attach; allowed with packed sequences that may change: the others");
  if (call.running.o != nullptr) return no("running results are given");
  if (call.trace.items != nullptr || call.trace.steps != nullptr) return no("a trace is given");
  if (schedule.launch == launch_id<BalancedLaunch>)
    return refuse(Status::bad_schedule,
                  "launch is balanced; allowed with packed sequences: grid, static, dynamic");
  return {};
}

AttentionForward with_longest_lengths(const AttentionForward& call) {
  AttentionForward whole = call;
  Problem& problem = whole.problem;
  problem.seq_q = 0;
  problem.seq_kv = 1;
  for (int64_t b = 0; b < problem.batch; ++b) {
    const SequenceLengths lengths = lengths_of(call, b);
    problem.seq_q = max_of(problem.seq_q, lengths.seq_q);
    problem.seq_kv = max_of(problem.seq_kv, lengths.seq_kv);
  }
  const auto packed = [&](Strides& strides, int64_t heads) {
    if (strides == Strides{}) strides = {0, problem.head_dim, heads * problem.head_dim};
  };
  packed(whole.q_strides, problem.heads);
  packed(whole.k_strides, problem.kv_heads);
  packed(whole.v_strides, problem.kv_heads);
  packed(whole.o_strides, problem.heads);
  return whole;
}

int64_t items_of_launch(const AttentionForward& call, const Tiling& tiling) {
  if (!call.packed.may_change) return count_items(call, tiling);
  const int64_t batch = call.problem.batch;
  return (packed_rows(call.packed.q, batch) + batch * (tiling.q_rows - 1)) / tiling.q_rows *
         call.problem.heads;
}

std::size_t table_bytes(const AttentionForward& call, const Tiling& tiling) {
  return is_packed(call) ? layout_of(call, items_of_launch(call, tiling)).bytes + table_alignment
                         : 0;
}

Schedule packed_schedule(const AttentionForward& call) {
  Schedule schedule = call.schedule;
  if (schedule.launch.index == automatic_policy) schedule.launch = launch_id<DynamicLaunch>;
  if (schedule.scan.index == automatic_policy)
    schedule.scan =
        call.problem.mask.kind == MaskKind::none ? scan_id<LinearScan> : scan_id<ReverseScan>;
  schedule.kv_split = 1;
  return schedule;
}

Outcome make_packed_tables(const AttentionForward& call, const KernelVariant& variant,
                           const ForwardArguments& arguments, int64_t item_count, char* place,
                           PackedTables& tables) {
  const BlockLayout layout = layout_of(call, item_count);
  const auto address = reinterpret_cast<uintptr_t>(place);
  char* const on_device = place + (aligned(address, table_alignment) - address);
  tables.block.resize(layout.bytes);
  char* const block = tables.block.data();
  const int64_t batch = call.problem.batch;
  for (int64_t b = 0; b < int64_t(table_sequences(call)); ++b) {
    PackedSequence sequence;
    if (b < batch) {
      const SequenceLengths lengths = lengths_of(call, b);
      sequence = {call.packed.q[b], call.packed.kv[b], lengths.seq_q, lengths.seq_kv};
    }
    std::memcpy(block + layout.sequences + std::size_t(b) * sizeof sequence, &sequence,
                sizeof sequence);
    if (!variant.loads_by_copy_engine()) continue;
    CUtensorMap maps[maps_a_sequence];
    if (Outcome bad = make_sequence_maps(call, variant, sequence, maps); !bad) return bad;
    std::memcpy(block + std::size_t(b) * sizeof maps, maps, sizeof maps);
  }
  std::vector<WorkCoordinates> items(static_cast<std::size_t>(item_count));
  list_items(call, variant.tiling, arguments.schedule, items);
  std::memcpy(block + layout.items, items.data(), items.size() * sizeof(WorkCoordinates));

  static_cast<ForwardArguments&>(tables.arguments) = arguments;
  tables.arguments.schedule.order.list =
      reinterpret_cast<const WorkCoordinates*>(on_device + layout.items);
  tables.arguments.sequences =
      reinterpret_cast<const PackedSequence*>(on_device + layout.sequences);
  tables.arguments.items = int64_t(items.size());
  tables.arguments.q_rows = packed_rows(call.packed.q, batch);
  tables.arguments.maps = on_device;
  tables.on_device = on_device;
  return {};
}

}  // namespace sawtooth::kernels
