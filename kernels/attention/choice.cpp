#include "kernels/attention/choice.hpp"

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/attention/packed.hpp"
#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/workspace.hpp"

namespace sawtooth::kernels {
namespace {

Outcome check_tensor_maps(const AttentionForward& call, const KernelVariant& variant) {
  const Problem& problem = call.problem;
  const int64_t maps_batch = is_packed(call) ? 1 : problem.batch;  // there of one sequence each
  const int64_t q_sizes[] = {maps_batch, problem.heads, problem.seq_q};
  const int64_t kv_sizes[] = {maps_batch, problem.kv_heads, problem.seq_kv};
  if (Outcome bad = check_tensor_map("q", call.q_strides, q_sizes); !bad) return bad;
  if (Outcome bad = check_tensor_map("k", call.k_strides, kv_sizes); !bad) return bad;
  if (Outcome bad = check_tensor_map("v", call.v_strides, kv_sizes); !bad) return bad;
  return variant.stores_by_copy_engine() ? check_tensor_map("o", call.o_strides, q_sizes)
                                         : Outcome{};
}

Outcome check_pieces(const Schedule& schedule, const KernelVariant& variant) {
  if (!cuts_last_wave(schedule)) return {};
  if (!variant.merges_pieces)
    return {Status::bad_schedule, std::string("launch is balanced, and the ") + variant.family +
                                      " kernels merge no pieces; allowed: grid, static, dynamic, "
                                      "or the hopper kernels"};
  if (schedule.workers > most_balanced_workers)
    return {Status::bad_schedule, "workers is " + std::to_string(schedule.workers) +
                                      "; allowed with launch = balanced: 1 to " +
                                      std::to_string(most_balanced_workers)};
  return {};
}

/// The kernels that take lists of tiles, of this build.
std::string with_lists() {
  std::vector<std::string> kernels;
  for (const KernelVariant& variant : kernel_variants())
    if (variant.listed_function != nullptr && variant.dtype == ElementType::bf16)
      kernels.push_back(std::string(variant.family) + " " + std::to_string(variant.tiling.q_rows) +
                        "x" + std::to_string(variant.tiling.kv_rows) + " at head_dim " +
                        variant.head_dims().text());
  return listed(kernels, std::identity());
}

bool has_name(const AttentionForward& call, const KernelVariant& variant) {
  const bool any_tiling = call.tiling.q_rows == 0 && call.tiling.kv_rows == 0;
  return variant.head_dims() == HeadDims(call.problem) && variant.dtype == call.problem.dtype &&
         variant.serves(call.family) &&
         (!call.family.empty() || takes_keys(variant.most_keys, call.problem.seq_kv,
                                             call.problem.mask.kind == MaskKind::listed)) &&
         (any_tiling || (variant.tiling.q_rows == call.tiling.q_rows &&
                         variant.tiling.kv_rows == call.tiling.kv_rows));
}

/// Less is faster; equal ones stand in the order of the table.
std::pair<int, double> slowness(const AttentionForward& call, const KernelVariant& variant,
                                const DeviceLimits& device) {
  constexpr int hopper = 90;
  if (variant.compute_capability != 0) {
    if (call.problem.mask.kind == MaskKind::listed)
      return {0, double(place_for_lists(variant.family))};
    // Without a known cost: the only tile of a head dim.
    const double us = variant.cost.measured() ? estimated_us(call.problem, variant.tiling,
                                                             variant.cost, max_of(1, device.sms))
                                              : std::numeric_limits<double>::infinity();
    return {0, us};
  }
  // 1 to 13 % faster than mma with the same tile at two and three CTAs an SM, on one H200
  // (experiments/data/h200/orders/mma_tma.csv).
  const bool tiling_named = call.tiling.q_rows != 0;
  const bool faster_copies = tiling_named && device.compute_capability == hopper &&
                             variant.family == std::string_view(families::mma_tma);
  return {faster_copies ? 1 : 2, 0};
}

}  // namespace

Outcome check_tensor_map(const char* name, const Strides& strides, const int64_t (&sizes)[3]) {
  constexpr int64_t element_bytes = 2;
  constexpr int64_t stride_limit = (int64_t{1} << 40) / element_bytes;  // exclusive
  if (strides == Strides{}) return {};
  const int64_t steps[] = {strides.batch, strides.head, strides.row};
  for (int i = 0; i < 3; ++i)
    if (sizes[i] > 1 && (steps[i] == 0 || steps[i] >= stride_limit))
      return {Status::misaligned,
              std::string(name) + " has a stride of " + std::to_string(steps[i]) +
                  " elements, which the copy engine cannot step over; allowed: multiples of 8 "
                  "from 8, below 2^39, or the kernel family mma"};
  return {};
}

Outcome check_device(const KernelVariant& variant, const DeviceLimits& device) {
  const int here = device.compute_capability;
  const bool exact = variant.compute_capability != 0;
  const int needed = exact ? variant.compute_capability : variant.from_compute_capability;
  if (exact ? here != needed : here < needed)
    return {Status::no_device, std::string("the ") + variant.family +
                                   " kernels need a device of compute capability " +
                                   std::to_string(needed / 10) + "." + std::to_string(needed % 10) +
                                   (exact ? "" : " or later")};
  if (variant.shared_bytes > device.shared_bytes)
    return {Status::launch_failed,
            "tile " + std::to_string(variant.tiling.q_rows) + "x" +
                std::to_string(variant.tiling.kv_rows) + " needs " +
                std::to_string(variant.shared_bytes) + " bytes of shared memory, the device has " +
                std::to_string(device.shared_bytes) + "; choose a smaller tile"};
  return {};
}

Outcome suits(const AttentionForward& call, const KernelVariant& variant) {
  const Problem& problem = call.problem;
  Schedule schedule = call.schedule;
  schedule.kv_split = max_of(1, schedule.kv_split);
  schedule.workers = max_of(1, schedule.workers);
  if (call.running.o != nullptr && variant.running_function == nullptr)
    return {Status::unsupported_tiling,
            std::string("the ") + variant.family +
                " kernels add to no running results; allowed: mma, hopper, and dtype bf16, fp16"};
  if (is_packed(call) && variant.packed_function == nullptr)
    return {Status::unsupported_tiling,
            "the " + std::string(variant.family) + " kernel with tile " +
                std::to_string(variant.tiling.q_rows) + "x" +
                std::to_string(variant.tiling.kv_rows) + " and head_dim " +
                variant.head_dims().text() +
                " takes no packed sequences; allowed: hopper and mma with head dims 64 and 128, "
                "and the first tile of each"};
  if (problem.mask.kind == MaskKind::listed && variant.listed_function == nullptr)
    return {Status::unsupported_tiling,
            "the " + std::string(variant.family) + " kernel with tile " +
                std::to_string(variant.tiling.q_rows) + "x" +
                std::to_string(variant.tiling.kv_rows) + " and head_dim " +
                variant.head_dims().text() + " takes no lists of tiles; allowed: " + with_lists()};
  if (variant.loads_by_copy_engine())
    if (Outcome bad = check_tensor_maps(call, variant); !bad) return bad;
  if (Outcome bad = check_pieces(schedule, variant); !bad) return bad;
  constexpr int64_t largest_grid = std::numeric_limits<int32_t>::max();
  if (!product_within(largest_grid, {problem.batch, problem.heads, schedule.kv_split,
                                     q_tiles(problem, variant.tiling)}) ||
      item_count(problem, variant.tiling, schedule) > largest_grid)
    return {Status::bad_size, "the problem has more than 2^31 - 1 items"};
  return {};
}

Outcome choose_variant(const AttentionForward& call, const DeviceLimits& device,
                       const KernelVariant*& chosen) {
  chosen = nullptr;
  Outcome why_none{Status::unsupported_tiling, "no kernel has this tile"};
  bool first = true;
  std::pair<int, double> least;
  for (const KernelVariant& variant : kernel_variants()) {
    if (!has_name(call, variant)) continue;
    Outcome runs = suits(call, variant);
    if (runs && device.compute_capability != 0) runs = check_device(variant, device);
    if (!runs) {
      if (std::exchange(first, false)) why_none = std::move(runs);
      continue;
    }
    const auto time = slowness(call, variant, device);
    if (chosen != nullptr && !(time < least)) continue;
    chosen = &variant;
    least = time;
  }
  return chosen != nullptr ? Outcome{} : why_none;
}

const MaskedKernel* masked_kernel(const KernelVariant& variant) {
#if defined(SAWTOOTH_HAVE_HOPPER)
  if (variant.family == std::string_view(families::hopper_short) && variant.head_dim == 128) {
    static const MaskedKernel bf16 = masked_hopper_short_bf16();
    static const MaskedKernel fp16 = masked_hopper_short_fp16();
    return variant.dtype == ElementType::bf16 ? &bf16 : &fp16;
  }
#else
  (void)variant;
#endif
  return nullptr;
}

MaskedKernel kernel_for(const KernelVariant& variant, const Problem& problem) {
  if (problem.mask.kind == MaskKind::listed)
    return {variant.listed_function, variant.listed_shared_bytes, 0};
  const MaskedKernel* masked = masked_kernel(variant);
  if (problem.mask.kind != MaskKind::none && masked != nullptr &&
      problem.seq_kv <= masked->most_keys)
    return *masked;
  return {variant.function, variant.shared_bytes, 0};
}

}  // namespace sawtooth::kernels
