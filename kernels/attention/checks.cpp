
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "kernels/attention/choice.hpp"
#include "kernels/attention/packed.hpp"
#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/workspace.hpp"

namespace sawtooth::kernels {
namespace {

using Variants = std::span<const KernelVariant>;

constexpr int64_t vector_elements = 8;  // 16 bytes of 16-bit elements, what a copy moves
constexpr uintptr_t vector_bytes = 16;

/// Families that a call may name, of those that have kernels here.
std::string supported_families(Variants variants) {
  std::vector<std::string_view> families;
  std::ranges::copy_if(family_names, std::back_inserter(families), [&](std::string_view name) {
    return std::ranges::any_of(variants, [&](auto& one) { return one.serves(name); });
  });
  return listed(families, std::identity());
}

/// What `value_of` says of the variants that are `wanted`, each value once.
template <class ValueOf, class Wanted>
auto values_of(Variants variants, ValueOf value_of, Wanted wanted) {
  std::set<decltype(value_of(variants.front()))> values;
  for (const KernelVariant& variant : variants)
    if (wanted(variant)) values.insert(value_of(variant));
  return values;
}

std::string text_of(const Tiling& tiling) {
  return std::to_string(tiling.q_rows) + "x" + std::to_string(tiling.kv_rows);
}

/// Whether the tensor spans at most 2^61 bytes, so that all offsets in it fit 63 bits.
bool can_be_addressed(const Strides& strides, const int64_t (&sizes)[3], int64_t head_dim) {
  constexpr int64_t elements = int64_t{1} << 59;  // of 4 bytes
  if (strides == Strides{})
    return product_within(elements, {sizes[0], sizes[1], sizes[2], head_dim});
  constexpr int64_t of_one_dimension = elements / 4;
  return product_within(of_one_dimension, {sizes[0] - 1, strides.batch}) &&
         product_within(of_one_dimension, {sizes[1] - 1, strides.head}) &&
         product_within(of_one_dimension, {sizes[2] - 1, strides.row});
}

}  // namespace

Outcome refuse(Status status, std::string message) {
  return {status, std::move(message)};
}

Outcome check_sizes(const Problem& problem, bool lists) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"batch", problem.batch},          {"heads", problem.heads},   {"kv_heads", problem.kv_heads},
      {"seq_q", problem.seq_q},          {"seq_kv", problem.seq_kv}, {"head_dim", problem.head_dim},
      {"head_dim_v", problem.head_dim_v}};
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  for (const auto& [name, value] : sizes)
    if (value < 0 || value > largest)
      return refuse(Status::bad_size, std::string(name) + " is " + std::to_string(value) +
                                          "; allowed: 0 to " + std::to_string(largest));
  if (problem.heads > 0 && (problem.kv_heads == 0 || problem.heads % problem.kv_heads != 0))
    return refuse(Status::bad_size,
                  "heads is " + std::to_string(problem.heads) +
                      ", no multiple of kv_heads = " + std::to_string(problem.kv_heads));
  if (problem.kv_dtype != ElementType::as_q)
    return refuse(Status::unsupported_type, std::string("kv_dtype is ") +
                                                name_of(problem.kv_dtype) +
                                                "; allowed: none, K and V have the type of Q");
  if (problem.kv_latent)
    return refuse(Status::unsupported_head_dim, "V is columns of K; allowed: V of its own");
  if (problem.mask.kind > MaskKind::window && !lists)
    return refuse(Status::bad_size, "mask is a list of tiles; allowed: none, causal, window");
  if (problem.mask.kind == MaskKind::window && problem.mask.window <= 0)
    return refuse(Status::bad_size, "mask window is " + std::to_string(problem.mask.window) +
                                        "; allowed: 1 key or more");
  return {};
}

Outcome check_variant(const Problem& problem, const Tiling& tiling, std::string_view family,
                      Pass pass) {
  const Variants variants = pass == Pass::forward ? kernel_variants() : backward_variants();
  if (!family.empty() && std::ranges::find(family_names, family) == family_names.end()) {
    const std::string instead = family == "scalar-fp32" ? "mma-fp32 in its place, " : "";
    return refuse(Status::bad_schedule, "family is '" + std::string(family) + "'; allowed: " +
                                            instead + listed(family_names, std::identity()));
  }
  const auto of_family = [&](const KernelVariant& one) { return one.serves(family); };
  const auto of_type = [&](const KernelVariant& one) {
    return of_family(one) && one.dtype == problem.dtype;
  };
  if (!family.empty() && std::ranges::none_of(variants, of_family))
    return refuse(Status::bad_schedule, "family is '" + std::string(family) +
                                            "', of which this build has no kernel of the " +
                                            (pass == Pass::forward ? "forward" : "backward") +
                                            " pass; allowed: " + supported_families(variants));
  if (std::ranges::none_of(variants, of_type))
    return refuse(Status::unsupported_type,
                  std::string("dtype is ") + name_of(problem.dtype) + "; allowed: " +
                      listed(values_of(
                                 variants, [](auto& one) { return one.dtype; }, of_family),
                             name_of));
  if (find_variant(HeadDims(problem), problem.dtype, {0, 0}, family, pass) == nullptr)
    return refuse(Status::unsupported_head_dim,
                  "head_dim is " + HeadDims(problem).text() + "; allowed: " +
                      listed(values_of(
                                 variants, [](auto& one) { return one.head_dims(); }, of_type),
                             [](const HeadDims& one) { return one.text(); }));
  if (tiling.rows_a_position != 1)
    return refuse(Status::unsupported_tiling,
                  "tiling.rows_a_position is " + std::to_string(tiling.rows_a_position) +
                      ", no kernel packs the heads of a group; allowed: 1");
  if (find_variant(HeadDims(problem), problem.dtype, tiling, family, pass) == nullptr)
    return refuse(Status::unsupported_tiling,
                  "tile " + text_of(tiling) + " with head_dim " + HeadDims(problem).text() +
                      " has no kernel; allowed: " +
                      listed(values_of(
                                 variants, [](auto& one) { return text_of(one.tiling); },
                                 [&](auto& one) {
                                   return of_type(one) && one.head_dims() == HeadDims(problem);
                                 }),
                             std::identity()));
  return {};
}

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

Outcome check_policies(const Schedule& schedule) {
  constexpr int64_t largest_grid = std::numeric_limits<int32_t>::max();
  const auto in_list = [](int index, int size) {
    return index >= automatic_policy && index < size;
  };
  if (!in_list(schedule.launch.index, Launches::size) ||
      !in_list(schedule.scan.index, Scans::size) ||
      !in_list(schedule.order.q_order.index, QOrders::size))
    return refuse(Status::bad_schedule, "launch, scan or q_order is not on its list");
  if (schedule.loop != Loop::kv_inner)
    return refuse(Status::bad_schedule, "loop is kv-outer; these kernels run kv-inner only");
  if (schedule.workers < 0 || schedule.workers > largest_grid)
    return refuse(Status::bad_schedule, "workers is " + std::to_string(schedule.workers) +
                                            "; allowed: 1 to " + std::to_string(largest_grid) +
                                            ", or 0 for automatic");
  if (schedule.kv_split < 0 || schedule.prefetch < 0 || schedule.order.section < 0)
    return refuse(Status::bad_schedule,
                  "kv_split, section and prefetch are 0 or more; 0: automatic, no prefetch");
  return {};
}

Outcome check_scale(float scale) {
  if (!std::isfinite(scale) || scale < 0)
    return refuse(Status::bad_size, "scale must be finite and positive, or 0 for the default");
  return {};
}

Outcome check_floats(const char* name, const float* data) {
  if (reinterpret_cast<uintptr_t>(data) % sizeof(float) != 0)
    return refuse(Status::misaligned, std::string(name) + " is not aligned to 4 bytes");
  return {};
}

namespace {

Outcome check_schedule(const AttentionForward& call) {
  const Schedule& schedule = call.schedule;
  const Problem& problem = call.problem;
  constexpr int64_t largest_grid = std::numeric_limits<int32_t>::max();
  if (Outcome bad = check_policies(schedule); !bad) return bad;
  if ((schedule.kv_split > 1 || problem.seq_kv == 0) &&
      !product_within(largest_grid, {problem.batch, problem.heads, problem.seq_q}))
    return refuse(Status::bad_size,
                  "batch x heads x seq_q is above 2^31 - 1, the most rows that kv_split, or seq_kv "
                  "= 0, can have");
  const KernelVariant* one_that_suits = nullptr;
  return choose_variant(call, {}, one_that_suits);
}

Outcome check_running(const AttentionForward& call) {
  const Running& running = call.running;
  const Problem& problem = call.problem;
  const int64_t sizes[] = {problem.batch, problem.heads, problem.seq_q};
  if (Outcome bad = check_tensor("running.o", running.o, call.o_strides, sizes, problem.v_dim());
      !bad)
    return bad;
  if (running.lse == nullptr) return refuse(Status::null_pointer, "running.lse is a null pointer");
  if (Outcome bad = check_floats("running.lse", running.lse); !bad) return bad;
  if (call.lse != nullptr)
    return refuse(Status::bad_size, "lse is given beside running.lse; allowed: null");
  if (problem.seq_kv == 0)
    return refuse(Status::bad_size, "seq_kv is 0; allowed with running results: 1 key or more");
  if (running.lse_head_rows != 0 && running.lse_head_rows < problem.seq_q)
    return refuse(Status::bad_size,
                  "running.lse_head_rows is " + std::to_string(running.lse_head_rows) +
                      "; allowed: seq_q = " + std::to_string(problem.seq_q) + " or more, or 0");
  if (call.schedule.kv_split > 1)
    return refuse(Status::bad_schedule,
                  "kv_split is " + std::to_string(call.schedule.kv_split) +
                      "; allowed with running results: 1, or 0 for automatic");
  return {};
}

Outcome check_lists(const AttentionForward& call) {
  const BlockLists& lists = call.lists;
  if (call.problem.mask.kind != MaskKind::listed) return {};
  if (lists.entries.begin == nullptr || lists.entries.tiles == nullptr)
    return refuse(Status::null_pointer, "lists.entries is a null pointer");
  const auto misaligned = [](const auto* data) {
    return reinterpret_cast<uintptr_t>(data) % alignof(decltype(*data)) != 0;
  };
  if (misaligned(lists.entries.begin) || misaligned(lists.entries.tiles) || misaligned(lists.spans))
    return refuse(Status::misaligned,
                  "lists are not aligned; allowed: begin to 8 bytes, entries to 4, spans to 16");
  if (call.tiling.q_rows == 0)
    return refuse(Status::unsupported_tiling,
                  "tile is automatic; allowed with lists: the tile that their entries count");
  if (is_packed(call) || call.running.o != nullptr)
    return refuse(Status::bad_size,
                  "packed sequences or running results are given; allowed with lists: neither");
  return {};
}

Outcome check_call(const AttentionForward& call) {
  const Problem& problem = call.problem;
  if (Outcome bad = check_sizes(problem, true); !bad) return bad;
  if (Outcome bad = check_lists(call); !bad) return bad;
  if (Outcome bad = check_variant(problem, call.tiling, call.family, Pass::forward); !bad)
    return bad;
  const int64_t dim = problem.head_dim, dim_v = problem.v_dim();
  if (has_no_query(problem)) return {};
  const bool packed = is_packed(call);
  const int64_t q_rows = packed ? packed_rows(call.packed.q, problem.batch) : problem.seq_q;
  const int64_t kv_rows = packed ? packed_rows(call.packed.kv, problem.batch) : problem.seq_kv;
  const int64_t tensors = packed ? 1 : problem.batch;
  const int64_t q_sizes[] = {tensors, problem.heads, q_rows};
  const int64_t kv_sizes[] = {tensors, problem.kv_heads, kv_rows};
  if (kv_rows > 0) {
    if (Outcome bad = check_tensor("q", call.q, call.q_strides, q_sizes, dim); !bad) return bad;
    if (Outcome bad = check_tensor("k", call.k, call.k_strides, kv_sizes, dim); !bad) return bad;
    if (Outcome bad = check_tensor("v", call.v, call.v_strides, kv_sizes, dim_v); !bad) return bad;
  }
  const bool running = call.running.o != nullptr;
  if (!running || call.o != nullptr)
    if (Outcome bad = check_tensor("o", call.o, call.o_strides, q_sizes, dim_v); !bad) return bad;
  if (running)
    if (Outcome bad = check_running(call); !bad) return bad;
  if (Outcome bad = check_floats("lse", call.lse); !bad) return bad;
  if (Outcome bad = check_scale(call.scale); !bad) return bad;
  return check_schedule(call);
}

}  // namespace

Outcome check(const AttentionForward& call) {
  if (!is_packed(call)) return check_call(call);
  if (Outcome bad = check_packed(call); !bad) return bad;
  return check_call(with_longest_lengths(call));
}

}  // namespace sawtooth::kernels
