#include "kernels/attention/decode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/attention/choice.hpp"
#include "kernels/attention/launch.hpp"
#include "kernels/attention/workspace.hpp"
#include "kernels/decode/arguments.hpp"
#include "scheduler/cascade.hpp"
#include "scheduler/tiling.hpp"
#if defined(SAWTOOTH_HAVE_TMA)
#include "kernels/tma/tensor_map.hpp"
#endif

namespace sawtooth::kernels {
namespace {

// What a merge takes, some 4 us, in tiles of 64 KiB at 34 GB/s an SM (studies/serving, H200).
constexpr int64_t tiles_a_merge = 2;

// L2 is asked for these of a CTA's first piece while the launch before ends: an H200 is up to 8 %
// faster with them at 128 MiB of K and V, less so with 4 (experiments/data/h200/serving/ahead.csv).
constexpr int32_t tiles_ahead = 3;

/// A call's kernel and what follows from it.
struct DecodeChoice {
  const KernelVariant* variant = nullptr;
  int32_t row_tiles = 1;
  bool reads_once = true;  // each byte of K and V
  int64_t workers = 1;
  std::size_t shared_bytes = 0;
  std::size_t bytes = 0;  // of the workspace
};

std::size_t shared_bytes_of(const KernelVariant& variant, const AttentionDecode& call) {
  const int64_t lengths = call.lengths != nullptr ? call.problem.batch + 1 : 0;
  return std::size_t(variant.shared_bytes) + std::size_t(lengths) * sizeof(int32_t);
}

int64_t rows_of_group(const Problem& problem) {
  return problem.heads_per_kv_head() * problem.seq_q;
}

Cascade cascade_of(const AttentionDecode& call, const Tiling& tiling) {
  return Cascade(packed(call.problem), tiling, call.prefix);
}

Outcome holds_cascade(const AttentionDecode& call, const KernelVariant& variant) {
  if (!call.prefix.shared()) return {};
  if (call.prefix.keys % variant.tiling.kv_rows != 0)
    return {Status::bad_size, "prefix.keys is " + std::to_string(call.prefix.keys) +
                                  "; allowed: multiples of the kernel's K/V tile of " +
                                  std::to_string(variant.tiling.kv_rows) + " keys"};
  if (rows_of_group(call.problem) > variant.tiling.q_rows)
    return {Status::bad_size, "a K/V head of a sequence has " +
                                  std::to_string(rows_of_group(call.problem)) +
                                  " query rows; allowed with a prefix: up to " +
                                  std::to_string(variant.tiling.q_rows)};
  return {};
}

/// What the copy engine cannot step over.
bool suits_copy_engine(const AttentionDecode& call) {
  constexpr int64_t stride_limit = int64_t{1} << 39;  // elements, exclusive
  const Problem& problem = call.problem;
  const bool paged = call.pages.table != nullptr;
  const int64_t sizes[] = {paged ? call.pages.page_count : problem.batch, problem.kv_heads,
                           paged ? call.pages.page_rows : problem.seq_kv};
  for (const Strides& strides : {call.k_strides, call.v_strides}) {
    if (strides == Strides{}) continue;
    const int64_t steps[] = {strides.batch, strides.head, strides.row};
    for (int i = 0; i < 3; ++i)
      if (sizes[i] > 1 && (steps[i] == 0 || steps[i] >= stride_limit)) return false;
  }
  return problem.seq_kv > 0;
}

Outcome runs_on(const AttentionDecode& call, const KernelVariant& variant,
                const DeviceLimits& device) {
  if (variant.loads_by_copy_engine() && !suits_copy_engine(call))
    return {Status::misaligned,
            "k or v has a stride that the copy engine cannot step over, or no key; allowed: "
            "multiples of 8 from 8, below 2^39, or the kernel family mma"};
  if (Outcome bad = holds_cascade(call, variant); !bad) return bad;
  if (device.compute_capability == 0) return {};
  if (Outcome bad = check_device(variant, device); !bad) return bad;
  if (shared_bytes_of(variant, call) > std::size_t(device.shared_bytes))
    return {Status::launch_failed, "a CTA needs " + std::to_string(shared_bytes_of(variant, call)) +
                                       " bytes of shared memory, the device has " +
                                       std::to_string(device.shared_bytes) +
                                       "; allowed: fewer sequences with lengths"};
  return {};
}

/// The first family that runs here, and of its kernels the first that holds the rows of a group.
Outcome choose(const AttentionDecode& call, const DeviceLimits& device, DecodeChoice& choice) {
  const Problem& problem = call.problem;
  const int64_t rows = rows_of_group(problem);
  const int64_t wanted = rows_wanted(call);
  Outcome why_none{Status::unsupported_head_dim, "no decode kernel has this head dim"};
  for (const KernelVariant& variant :
       call.prefix.shared() ? cascade_variants() : decode_variants()) {
    if (variant.head_dim != problem.head_dim || variant.dtype != problem.dtype ||
        !variant.serves(call.family))
      continue;
    if (choice.variant != nullptr && (std::string_view(variant.family) != choice.variant->family ||
                                      choice.variant->tiling.q_rows >= wanted))
      continue;
    if (Outcome runs = runs_on(call, variant, device); !runs) {
      if (choice.variant == nullptr) why_none = std::move(runs);
      continue;
    }
    choice.variant = &variant;
  }
  if (choice.variant == nullptr) return why_none;
  const KernelVariant& variant = *choice.variant;
  const int64_t row_tiles = ceil_div(rows, variant.tiling.q_rows);
  const int64_t units = problem.batch * problem.kv_heads * row_tiles;
  const int64_t tiles =
      max_of(1, ceil_div(problem.seq_kv - call.prefix.keys, variant.tiling.kv_rows));
  const int64_t prefix_items =
      call.prefix.shared() ? cascade_of(call, variant.tiling).prefix_items() : 0;
  const int64_t all_tiles =
      units * tiles + prefix_items * call.prefix.tiles(variant.tiling.kv_rows);
  const int64_t resident =
      min_of(most_balanced_workers, max_of(1, device.sms * variant.ctas_per_sm));
  choice.row_tiles = int32_t(row_tiles);
  const bool equal = call.lengths == nullptr && !call.prefix.shared();
  choice.workers = min_of(all_tiles, call.workers > 0 ? call.workers
                                     : equal ? workers_for(units, tiles, resident, tiles_a_merge)
                                             : resident);
  choice.shared_bytes = shared_bytes_of(variant, call);
  // Lengths may be shorter than seq_kv, never longer, and the fewer tiles, the fewer shares: one a
  // worker.
  const int64_t whole_pieces = call.prefix.shared() ? prefix_items + units : 0;
  const int64_t piece_floats = variant.tiling.q_rows * (variant.head_dim + 2);
  choice.bytes =
      state_size + std::size_t((2 * choice.workers + whole_pieces) * piece_floats) * sizeof(float);
  choice.reads_once =
      row_tiles == 1 && (!call.prefix.shared() || cascade_of(call, variant.tiling).stack() >=
                                                      min_of(call.prefix.group, problem.batch));
  return {};
}

decode::DecodeArguments arguments_of(const AttentionDecode& call, const DecodeChoice& choice,
                                     char* workspace) {
  const Problem& problem = call.problem;
  const int64_t dim = problem.head_dim;
  const bool paged = call.pages.table != nullptr;
  const int64_t page_rows = paged ? call.pages.page_rows : problem.seq_kv;
  const float scale = call.scale > 0 ? call.scale : 1 / std::sqrt(float(dim));
  return {.batch = int32_t(problem.batch),
          .kv_heads = int32_t(problem.kv_heads),
          .group = int32_t(problem.heads_per_kv_head()),
          .positions = int32_t(problem.seq_q),
          .row_tiles = choice.row_tiles,
          .most_keys = int32_t(problem.seq_kv),
          .causal = problem.mask.kind == MaskKind::causal,
          .lengths = call.lengths,
          .pages = call.pages.table,
          .pages_a_sequence = call.pages.table_stride,
          .page_rows = int32_t(page_rows),
          .page_shift = paged ? std::countr_zero(uint64_t(page_rows)) : 0,
          .q = call.q,
          .k = call.k,
          .v = call.v,
          .o = call.o,
          .lse = call.lse,
          .q_strides = or_contiguous(call.q_strides, problem.heads, problem.seq_q, dim),
          .k_strides = or_contiguous(call.k_strides, problem.kv_heads, page_rows, dim),
          .v_strides = or_contiguous(call.v_strides, problem.kv_heads, page_rows, dim),
          .o_strides = or_contiguous(call.o_strides, problem.heads, problem.seq_q, dim),
          .scale_log2 = scale * std::numbers::log2e_v<float>,
          .kv_policy = policy_of(
              call.kv_eviction.value_or(choice.reads_once ? Eviction::first : Eviction::normal)),
          .tiles_ahead = tiles_ahead,
          .pieces = reinterpret_cast<float*>(workspace + state_size),
          .arrivals = reinterpret_cast<unsigned*>(workspace + arrivals_offset),
          .prefix = call.prefix,
          .least_keys = int32_t(least_keys(call))};
}

}  // namespace

/// A call made ready.
struct PlannedDecode {
  DeviceLimits device;
  DecodeChoice choice;  // without a variant there is nothing to do
  std::array<CUtensorMap, 2> maps{};
  decode::DecodeArguments arguments;
  void* zeros = nullptr;  // to be zeroed; null: nothing
};

namespace {

Outcome make_maps(PlannedDecode& planned, const AttentionDecode& call) {
#if defined(SAWTOOTH_HAVE_TMA)
  const decode::DecodeArguments& arguments = planned.arguments;
  const KernelVariant& variant = *planned.choice.variant;
  const bool paged = arguments.pages != nullptr;
  const TensorExtent kv{paged ? call.pages.page_count : call.problem.batch, call.problem.kv_heads,
                        arguments.page_rows, call.problem.head_dim};
  BoxExtent box = variant.kv_box;
  if (paged) box.rows = std::min(box.rows, int(arguments.page_rows));
  try {
    const auto map_of = [&](const void* tensor, const Strides& strides) {
      return make_tensor_map(tensor, call.problem.dtype, kv, strides, box, MissBytes::of_128);
    };
    planned.maps = {map_of(arguments.k, arguments.k_strides),
                    map_of(arguments.v, arguments.v_strides)};
  } catch (const std::runtime_error& refused) {
    return {Status::launch_failed, refused.what()};
  }
  return {};
#else
  (void)planned, (void)call;
  return {Status::unsupported_tiling,
          "the decode kernels by the copy engine are not in this build"};
#endif
}

Outcome plan(const AttentionDecode& call, void* workspace, std::size_t bytes,
             PlannedDecode& planned) {
  if (Outcome bad = check(call); !bad) return bad;
  if (has_no_query(call.problem)) return {};
  int error = cudaSuccess;
  planned.device = current_device(&error);
  if (Outcome bad = choose(call, planned.device, planned.choice); !bad) return bad;
  if (Outcome bad = check_workspace(workspace, bytes, planned.choice.bytes); !bad) return bad;
  if (planned.device.compute_capability == 0) return failed("looking for a device", error);
  std::size_t allowed = 0;
  if (Outcome bad = prepare_kernel(*planned.choice.variant, planned.choice.variant->shared_bytes, 0,
                                   planned.device, allowed);
      !bad)
    return bad;
  planned.arguments = arguments_of(call, planned.choice, static_cast<char*>(workspace));
  if (!call.workspace_starts_zero) planned.zeros = workspace;
  return planned.choice.variant->loads_by_copy_engine() ? make_maps(planned, call) : Outcome{};
}

Outcome run_here(const PlannedDecode& planned, CUstream_st* stream) {
  if (planned.choice.variant == nullptr) return {};
  if (planned.zeros != nullptr)
    if (const cudaError_t error = cudaMemsetAsync(planned.zeros, 0, state_size, stream);
        error != cudaSuccess)
      return failed("resetting the launch state", error);
  const auto address = [](const auto& parameter) {
    return const_cast<void*>(static_cast<const void*>(&parameter));
  };
  void* parameters[] = {address(planned.maps[0]), address(planned.maps[1]),
                        address(planned.arguments)};
  const KernelVariant& variant = *planned.choice.variant;
  return enqueue_kernel(variant, variant.function, unsigned(planned.choice.workers),
                        planned.choice.shared_bytes,
                        variant.loads_by_copy_engine() ? parameters : parameters + 2, stream);
}

std::vector<KernelVariant> built_variants(bool cascades) {
  std::vector<KernelVariant> built;
#if defined(SAWTOOTH_DECODE_BY_TMA)
  decode::add_mma_tma_variants(cascades, built);
#endif
  decode::add_mma_variants(cascades, built);
  return built;
}

}  // namespace

std::span<const KernelVariant> decode_variants() {
  static const std::vector<KernelVariant> rows = built_variants(false);
  return rows;
}

std::span<const KernelVariant> cascade_variants() {
  static const std::vector<KernelVariant> rows = built_variants(true);
  return rows;
}

int64_t rows_wanted(const AttentionDecode& call) {
  const int64_t sequences =
      call.prefix.shared() ? min_of(call.prefix.group, call.problem.batch) : 1;
  return rows_of_group(call.problem) * sequences;
}

int64_t least_keys(const AttentionDecode& call) {
  if (!call.prefix.shared()) return 0;
  const bool causal = call.problem.mask.kind == MaskKind::causal;
  return call.prefix.keys + (causal ? call.problem.seq_q - 1 : 0);
}

const KernelVariant* decode_variant_of(const AttentionDecode& call) {
  DecodeChoice choice;
  return choose(call, current_device(), choice) ? choice.variant : nullptr;
}

std::size_t workspace_bytes(const AttentionDecode& call) {
  DecodeChoice choice;
  if (has_no_query(call.problem) || !choose(call, current_device(), choice)) return state_size;
  return choice.bytes;
}

Outcome attention_decode(const AttentionDecode& call, void* workspace, std::size_t bytes,
                         CUstream_st* stream) {
  PlannedDecode planned;
  if (Outcome bad = plan(call, workspace, bytes, planned); !bad) return bad;
  return run_here(planned, stream);
}

Outcome DecodePlan::make(const AttentionDecode& call, void* workspace, std::size_t bytes) {
  auto planned = std::make_shared<PlannedDecode>();
  Outcome outcome = plan(call, workspace, bytes, *planned);
  if (outcome) planned_ = std::move(planned);
  return outcome;
}

Outcome DecodePlan::run(CUstream_st* stream) const {
  if (planned_ == nullptr || planned_->choice.variant == nullptr) return {};
  return on_device(planned_->device.number, [&] { return run_here(*planned_, stream); });
}

}  // namespace sawtooth::kernels
