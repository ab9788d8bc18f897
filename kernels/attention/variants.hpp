// The table of attention kernels that this build contains: tile x head dim x type.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/attention/variant_list.hpp"
#include "kernels/common/strides.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels {

// How long a problem takes with a tile, so that the fastest of several can be chosen beforehand: an
// item costs something of its own and something for every key that its tiles visit, seen or not.

/// What one CTA takes for an item: its start and end, and a key for all of its query rows.
struct ItemCost {
  double item_us = 0;
  double key_ns = 0;
};

/// A tile costs more with a mask: masked steps and uneven warpgroups make items dearer.
struct TileCost {
  ItemCost without_mask;
  ItemCost with_mask;
  double alone = 1;  // of two CTAs of an SM whose times these are, what one without the other takes

  constexpr bool measured() const { return without_mask.key_ns > 0; }
};

/// What item number `item` takes under a mask, the longest first.
constexpr double masked_item_us(const Problem& problem, const Tiling& tiling, const ItemCost& cost,
                                int64_t item) {
  constexpr double us_per_ns = 1e-3;
  const int64_t ranks = q_tiles(problem, tiling);
  const int64_t rank = ranks - 1 - item / max_of(1, problem.batch * problem.heads);
  const int64_t tiles = visible_kv_tiles(problem, tiling, rank).size();
  return cost.item_us + double(tiles * tiling.kv_rows) * cost.key_ns * us_per_ns;
}

/// Whether items under a mask are so few and short that fixed shares end before tickets do, which
/// are drawn ahead and bind long items to CTAs that are busy: 3 to 20 % sooner up to four waves of
/// items of 17 us, later from 18 us on (run few_waves of experiments/data/h200/race/schedules.csv).
/// Lists of tiles have their longest item anywhere.
constexpr bool takes_fixed_shares(const Problem& problem, const Tiling& tiling,
                                  const TileCost& cost, int64_t workers) {
  constexpr int64_t few_waves = 4;
  constexpr double short_us = 17.5;
  const int64_t items = problem.batch * problem.heads * q_tiles(problem, tiling);
  const bool by_rank = problem.mask.kind != MaskKind::none && problem.mask.kind != MaskKind::listed;
  return by_rank && cost.with_mask.key_ns > 0 && cost.alone == 1 && items > 0 &&
         items <= few_waves * workers &&
         masked_item_us(problem, tiling, cost.with_mask, 0) <= short_us;
}

/// Time of `problem` in tiles of `tiling` on `workers` CTAs. Equal items come in whole waves, the
/// last of an odd number alone. Those under a mask differ: in fixed shares the first CTA has the
/// longest item of every wave; else they even out, but for the longest one.
constexpr double estimated_us(const Problem& problem, const Tiling& tiling, const TileCost& cost,
                              int64_t workers) {
  constexpr double us_per_ns = 1e-3;
  const int64_t heads = problem.batch * problem.heads;
  const int64_t items = heads * q_tiles(problem, tiling);
  if (problem.mask.kind == MaskKind::none) {
    const ItemCost& item = cost.without_mask;
    const int64_t keys = kv_tiles(problem, tiling) * tiling.kv_rows;
    const int64_t waves = ceil_div(items, workers);
    return (double(waves) + double(waves % 2) * (cost.alone - 1)) *
           (item.item_us + double(keys) * item.key_ns * us_per_ns);
  }
  const ItemCost& item = cost.with_mask;
  const auto item_us = [&](int64_t number) {
    return number < items ? masked_item_us(problem, tiling, item, number) : 0;
  };
  if (takes_fixed_shares(problem, tiling, cost, workers)) {
    double first_us = 0;
    for (int64_t number = 0; number < items; number += workers) first_us += item_us(number);
    return first_us;
  }
  // Where two CTAs share an SM, the one with the longer item ends alone.
  const double first_us = cost.alone * item_us(0) + (2 - cost.alone) * item_us(workers);
  const int64_t visited_keys = heads * visited_kv_tiles(problem, tiling) * tiling.kv_rows;
  const double all_us =
      double(items) * item.item_us + double(visited_keys) * item.key_ns * us_per_ns;
  return max_of(cost.alone == 1 ? item_us(0) : first_us, all_us / double(workers));
}

/// The kernel that computes dQ alone, for dq = separate.
struct DqKernel {
  const void* function = nullptr;  // null: none
  int warps = 0;
  int shared_bytes = 0;
};

struct KernelVariant {
  const char* family = "";  // a name of kernels/attention/variant_list.hpp
  const char* name = "";    // type and name in variants.inc
  int head_dim = 0;
  int head_dim_v = 0;  // of V and O
  Tiling tiling;
  ElementType dtype = ElementType::bf16;
  int warps = 0;
  int stages = 0;       // K/V tiles in shared memory
  int ctas_per_sm = 0;  // that the registers were limited for
  int shared_bytes = 0;
  const void* function = nullptr;           // the kernel, for the CUDA runtime
  const void* running_function = nullptr;   // the same for running results; null: none
  const void* packed_function = nullptr;    // the same for packed sequences; null: none
  int packed_shared_bytes = 0;              // of a CTA of that
  const void* listed_function = nullptr;    // the same for masks that are lists; null: none
  int listed_shared_bytes = 0;              // of a CTA of that
  const void* ordered_function = nullptr;   // backward: for dq = ordered; null: the same
  const void* separate_function = nullptr;  // backward: for dq = separate; null: none
  DqKernel dq_kernel;                       // and what runs behind that, of the same tiles
  int compute_capability = 0;       // 10 x major + minor of the only devices it runs on; 0: any
  int from_compute_capability = 0;  // of the first devices it runs on
  BoxExtent q_box, kv_box;          // of the copy engine; no rows where it does not load
  BoxExtent o_box;                  // where it stores O too; then O has a tensor map
  int64_t most_keys = 0;       // of calls that name no family and get this kernel; 0: any number
  bool merges_pieces = false;  // of the last wave: runs the launch `balanced`
  bool fills_sm = false;       // one CTA takes all registers of an SM
  bool begins_early = false;   // under the end of the launch before
  bool study = false;          // run where its family is named, and not otherwise
  bool dq_in_parts = false;    // backward: how its sums of dQ lie in the workspace
  TileCost cost;               // of its tile, where measured

  /// Whether a call of this family (empty: any) may run it.
  constexpr bool serves(std::string_view wanted) const {
    return wanted.empty() ? !study : wanted == family;
  }
  constexpr const void* function_for(Dq dq) const {
    if (dq == Dq::separate) return separate_function;
    return dq == Dq::ordered && ordered_function != nullptr ? ordered_function : function;
  }
  constexpr HeadDims head_dims() const { return {head_dim, head_dim_v}; }
  constexpr int threads() const { return warps * 32; }
  /// `one` of its kernels has so many threads.
  constexpr int threads_of(const void* one) const {
    return one == dq_kernel.function ? dq_kernel.warps * 32 : threads();
  }
  /// Then the kernel takes tensor maps of Q, K and V, of the backward pass of dO too, before its
  /// arguments.
  constexpr bool loads_by_copy_engine() const { return q_box.rows > 0; }
  constexpr bool stores_by_copy_engine() const { return o_box.rows > 0; }
  constexpr bool needs_device() const {
    return compute_capability != 0 || from_compute_capability != 0;
  }
};

/// The variants that this build offers; of one family, head dim and type the preferred one first.
std::span<const KernelVariant> kernel_variants();

/// The variants of the backward pass.
std::span<const KernelVariant> backward_variants();

/// The variant of these head dims, type, tiling (zeros: the preferred one) and family (empty: the
/// first in the table that has it and is no study variant), or null.
const KernelVariant* find_variant(HeadDims head_dims, ElementType dtype, Tiling tiling,
                                  std::string_view family = {}, Pass pass = Pass::forward);

/// What a kernel asks of a device, read once a device and process.
struct DeviceLimits {
  int compute_capability = 0;  // 10 x major + minor; 0: no device
  int shared_bytes = 0;        // that one CTA can have
  int sms = 0;
  int shared_bytes_per_sm = 0;
  int reserved_shared_bytes = 0;  // of each CTA, beside its own
  int number = 0;                 // the CUDA runtime's
};

/// The device is the thread's current one; zeros and `error` (a cudaError_t) say that it has none.
DeviceLimits current_device(int* error = nullptr);

}  // namespace sawtooth::kernels
