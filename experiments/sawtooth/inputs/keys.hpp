// What the keys of a point say, typed. The table of options (point_options.cpp) reads each from its
// text and prints it again; nothing else does either.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "scheduler/head_shards.hpp"
#include "scheduler/ring.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/sequences.hpp"
#include "scheduler/tiling.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

/// L2 eviction priorities of the tensors that kernels load.
struct Hints {
  sim::Priority q = sim::Priority::normal;
  sim::Priority k = sim::Priority::normal;
  sim::Priority v = sim::Priority::normal;
  friend bool operator==(const Hints&, const Hints&) = default;
};

/// Parts of the K/V range as items of their own, or equal shares of all of it (auto).
struct KvSplit {
  int64_t parts = 1;
  bool shares = false;
  friend bool operator==(const KvSplit&, const KvSplit&) = default;
};

/// What moves K and V from GPU to GPU.
enum class RingMover : uint8_t { copy, nccl };

enum class Tiles : uint8_t { of_64, of_the_kernel };
/// What L2 holds before a launch.
enum class L2Content : uint8_t { cold, warm, as_is };

/// The defaults of the keys stand in the table; an optional without a value is a key without one.
struct Keys {
  int64_t batch{}, heads{}, head_dim{};
  std::optional<int64_t> kv_heads, seq, seq_q, seq_kv;
  ElementType dtype{};
  Mask mask{};
  Pass pass{};
  std::optional<int64_t> ring;  // GPUs; the keys below are of a ring
  RingLayout ring_order{};
  RingMover ring_mover{};
  std::optional<int64_t> ring_rank, ring_step;  // empty: all of them
  std::optional<int64_t> head_shards;           // GPUs
  Exchange exchange{};
  std::string lengths, q_lengths;  // canonical (sequence_lengths.hpp); empty: of one length
  int64_t prefix{};                // keys that a group shares; 0: none
  std::optional<int64_t> prefix_group;
  int64_t page_rows{};     // 0: not paged
  std::string page_table;  // canonical (page_table.hpp)

  std::optional<int64_t> tile_q, tile_kv;
  std::optional<Tiles> tiles;
  std::optional<Section> section;
  QOrderId q_order{};
  std::optional<HeadOrder> head_order;
  SequenceOrderId sequence_order{};
  std::string order_file;
  LaunchId launch{};
  std::optional<int64_t> workers;
  int64_t ctas_per_sm{};
  ScanId scan{};
  Loop loop{};
  int64_t prefetch{};
  KvSplit kv_split{};
  bool lse{}, pack_gqa{}, cascade{};
  Dq dq{};
  bool small_kernels{};

  std::string gpu, system, kernel, kernel_costs;
  L2Content state{};
  std::optional<Hints> hints;

  std::optional<sim::Timing> timing;  // both of them are there once a point is resolved
  const L2Model* l2 = nullptr;
  sim::MechanismSet without{};
  std::optional<int64_t> step_ns, step_exposed_ns, stages, spill_bytes;
  std::optional<double> age_bias;
  std::optional<int64_t> l2_bytes;
  int64_t launches{};
  std::optional<int64_t> l2_ways, l2_line_bytes, l2_set_aside;
  std::optional<sim::HashKind> l2_hash;
  std::optional<sim::SetPolicy> l2_policy;
  std::string l2_hash_matrix;
  uint64_t seed{};

  bool has_lengths() const { return !lengths.empty() || !q_lengths.empty(); }
  /// What inference adds beside lengths and packing.
  bool is_served() const { return prefix > 0 || page_rows > 0 || kv_split.shares || cascade; }
};

}  // namespace sawtooth::experiments
