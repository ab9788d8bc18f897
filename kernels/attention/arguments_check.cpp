// The checks of attention_forward that need no device.
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>

#include "kernels/attention/attention.hpp"
#include "kernels/mma/launch.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t vector_elements = 8;  // 16 bytes of 16-bit elements, what a copy moves
constexpr uintptr_t vector_bytes = 16;

Outcome refuse(Status status, std::string message) {
  return {status, std::move(message)};
}

/// Whether the product of `factors`, none of them negative, is at most `limit`.
bool product_within(int64_t limit, std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (product > 0 && factor > limit / product) return false;
    product *= factor;
  }
  return true;
}

Outcome check_sizes(const Problem& problem) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"batch", problem.batch}, {"heads", problem.heads},   {"kv_heads", problem.kv_heads},
      {"seq_q", problem.seq_q}, {"seq_kv", problem.seq_kv}, {"head_dim", problem.head_dim}};
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  for (const auto& [name, value] : sizes)
    if (value <= 0 || value > largest)
      return refuse(Status::bad_size, std::string(name) + " is " + std::to_string(value) +
                                          "; allowed: 1 to " + std::to_string(largest));
  if (problem.heads % problem.kv_heads != 0)
    return refuse(Status::bad_size,
                  "heads is " + std::to_string(problem.heads) +
                      ", no multiple of kv_heads = " + std::to_string(problem.kv_heads));
  if (problem.mask.kind == MaskKind::window && problem.mask.window <= 0)
    return refuse(Status::bad_size, "mask window is " + std::to_string(problem.mask.window) +
                                        "; allowed: 1 key or more");
  return {};
}

std::string supported_head_dims(std::string_view family) {
  std::set<int> dims;
  for (const KernelVariant& variant : kernel_variants())
    if (family.empty() || family == variant.family) dims.insert(variant.head_dim);
  std::string text;
  for (const int dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return text;
}

std::string supported_tilings(int64_t head_dim, std::string_view family) {
  std::set<std::string> tilings;
  for (const KernelVariant& variant : kernel_variants())
    if (variant.head_dim == head_dim && (family.empty() || family == variant.family))
      tilings.insert(std::to_string(variant.tiling.q_rows) + "x" +
                     std::to_string(variant.tiling.kv_rows));
  std::string text;
  for (const std::string& tiling : tilings) text += (text.empty() ? "" : ", ") + tiling;
  return text;
}

Outcome check_variant(const AttentionForward& call) {
  const Problem& problem = call.problem;
  if (problem.dtype == ElementType::fp32)
    return refuse(Status::unsupported_type, "dtype is fp32; allowed: bf16, fp16");
  if (find_variant(problem.head_dim, problem.dtype, {0, 0}, call.family) == nullptr)
    return refuse(Status::unsupported_head_dim,
                  "head_dim is " + std::to_string(problem.head_dim) +
                      "; allowed: " + supported_head_dims(call.family));
  if (find_variant(problem.head_dim, problem.dtype, call.tiling, call.family) == nullptr)
    return refuse(
        Status::unsupported_tiling,
        "tile " + std::to_string(call.tiling.q_rows) + "x" + std::to_string(call.tiling.kv_rows) +
            " with head_dim " + std::to_string(problem.head_dim) +
            " has no kernel; allowed: " + supported_tilings(problem.head_dim, call.family));
  return {};
}

/// Whether the tensor spans at most 2^61 bytes, so that all offsets in it fit 63 bits.
bool can_be_addressed(const Strides& strides, const int64_t (&sizes)[3], int64_t head_dim) {
  constexpr int64_t elements = int64_t{1} << 60;  // of 2 bytes
  if (strides == Strides{})
    return product_within(elements, {sizes[0], sizes[1], sizes[2], head_dim});
  constexpr int64_t of_one_dimension = elements / 4;
  return product_within(of_one_dimension, {sizes[0] - 1, strides.batch}) &&
         product_within(of_one_dimension, {sizes[1] - 1, strides.head}) &&
         product_within(of_one_dimension, {sizes[2] - 1, strides.row});
}

/// `sizes` are batch, heads and rows.
Outcome check_tensor(const char* name, const void* data, const Strides& strides,
                     const int64_t (&sizes)[3], int64_t head_dim) {
  if (data == nullptr)
    return refuse(Status::null_pointer, std::string(name) + " is a null pointer");
  if (reinterpret_cast<uintptr_t>(data) % vector_bytes != 0)
    return refuse(Status::misaligned, std::string(name) + " is not aligned to 16 bytes");
  for (const int64_t stride : {strides.batch, strides.head, strides.row})
    if (stride < 0 || stride % vector_elements != 0)
      return refuse(Status::misaligned, std::string(name) + " has a stride of " +
                                            std::to_string(stride) +
                                            " elements; allowed: multiples of 8 from 0");
  if (!can_be_addressed(strides, sizes, head_dim))
    return refuse(
        Status::bad_size,
        std::string(name) + " spans more than 2^61 bytes; allowed: smaller sizes or strides");
  if (strides != Strides{} && strides.row < head_dim)
    return refuse(Status::bad_size, std::string(name) + " has a row stride of " +
                                        std::to_string(strides.row) + ", below head_dim " +
                                        std::to_string(head_dim));
  return {};
}

/// What the copy engine cannot step over (CUDA driver API, cuTensorMapEncodeTiled: globalStrides).
Outcome check_tensor_map(const char* name, const Strides& strides, const int64_t (&sizes)[3]) {
  constexpr int64_t element_bytes = 2;
  constexpr int64_t stride_limit = (int64_t{1} << 40) / element_bytes;  // exclusive
  if (strides == Strides{}) return {};
  const int64_t steps[] = {strides.batch, strides.head, strides.row};
  for (int i = 0; i < 3; ++i)
    if (sizes[i] > 1 && (steps[i] == 0 || steps[i] >= stride_limit))
      return refuse(Status::misaligned,
                    std::string(name) + " has a stride of " + std::to_string(steps[i]) +
                        " elements, which the copy engine cannot step over; allowed: multiples of "
                        "8 from 8, below 2^39, or the kernel family mma");
  return {};
}

Outcome check_tensor_maps(const AttentionForward& call) {
  const Problem& problem = call.problem;
  const KernelVariant& variant =
      *find_variant(problem.head_dim, problem.dtype, call.tiling, call.family);
  if (!variant.loads_by_copy_engine) return {};
  const int64_t q_sizes[] = {problem.batch, problem.heads, problem.seq_q};
  const int64_t kv_sizes[] = {problem.batch, problem.kv_heads, problem.seq_kv};
  if (Outcome bad = check_tensor_map("q", call.q_strides, q_sizes); !bad) return bad;
  if (Outcome bad = check_tensor_map("k", call.k_strides, kv_sizes); !bad) return bad;
  return check_tensor_map("v", call.v_strides, kv_sizes);
}

Outcome check_schedule(const AttentionForward& call) {
  const Schedule& schedule = call.schedule;
  constexpr int64_t largest_grid = std::numeric_limits<int32_t>::max();
  const auto in_list = [](int index, int size) { return index >= 0 && index < size; };
  if (!in_list(schedule.launch.index, Launches::size) ||
      !in_list(schedule.scan.index, Scans::size) ||
      !in_list(schedule.order.q_order.index, QOrders::size))
    return refuse(Status::bad_schedule, "launch, scan or q_order is not on its list");
  if (schedule.loop != Loop::kv_inner)
    return refuse(Status::bad_schedule, "loop is kv-outer; these kernels run kv-inner only");
  if (schedule.workers <= 0 || schedule.workers > largest_grid)
    return refuse(Status::bad_schedule, "workers is " + std::to_string(schedule.workers) +
                                            "; allowed: 1 to " + std::to_string(largest_grid));
  if (schedule.kv_split <= 0 || schedule.prefetch < 0 || schedule.order.section <= 0)
    return refuse(Status::bad_schedule, "kv_split and section are 1 or more, prefetch 0 or more");
  const KernelVariant& variant =
      *find_variant(call.problem.head_dim, call.problem.dtype, call.tiling, call.family);
  const bool any_kernel = call.family.empty() && call.tiling.q_rows == 0;
  if (!any_kernel)
    if (Outcome bad = check_pieces(schedule, variant); !bad) return bad;
  const Problem& problem = call.problem;
  if (!product_within(largest_grid, {problem.batch, problem.heads, schedule.kv_split,
                                     q_tiles(problem, variant.tiling)}) ||
      item_count(problem, variant.tiling, schedule) > largest_grid)
    return refuse(Status::bad_size, "the problem has more than 2^31 - 1 items");
  if (schedule.kv_split > 1 &&
      !product_within(largest_grid, {problem.batch, problem.heads, problem.seq_q}))
    return refuse(Status::bad_size,
                  "batch x heads x seq_q is above 2^31 - 1, the most rows that kv_split can join");
  return {};
}

}  // namespace

Outcome check_pieces(const Schedule& schedule, const KernelVariant& variant) {
  if (!cuts_last_wave(schedule) || variant.merges_pieces) return {};
  return refuse(Status::bad_schedule,
                std::string("launch is balanced, and the ") + variant.family +
                    " kernels merge no pieces; allowed: grid, static, dynamic, or the hopper "
                    "kernels");
}

Outcome check(const AttentionForward& call) {
  if (Outcome bad = check_sizes(call.problem); !bad) return bad;
  if (Outcome bad = check_variant(call); !bad) return bad;
  const Problem& problem = call.problem;
  const int64_t dim = problem.head_dim;
  const int64_t q_sizes[] = {problem.batch, problem.heads, problem.seq_q};
  const int64_t kv_sizes[] = {problem.batch, problem.kv_heads, problem.seq_kv};
  if (Outcome bad = check_tensor("q", call.q, call.q_strides, q_sizes, dim); !bad) return bad;
  if (Outcome bad = check_tensor("k", call.k, call.k_strides, kv_sizes, dim); !bad) return bad;
  if (Outcome bad = check_tensor("v", call.v, call.v_strides, kv_sizes, dim); !bad) return bad;
  if (Outcome bad = check_tensor("o", call.o, call.o_strides, q_sizes, dim); !bad) return bad;
  if (Outcome bad = check_tensor_maps(call); !bad) return bad;
  if (reinterpret_cast<uintptr_t>(call.lse) % sizeof(float) != 0)
    return refuse(Status::misaligned, "lse is not aligned to 4 bytes");
  if (!std::isfinite(call.scale) || call.scale < 0)
    return refuse(Status::bad_size, "scale must be finite and positive, or 0 for the default");
  return check_schedule(call);
}

}  // namespace sawtooth::kernels
