// The checks of attention_backward that need no device.
#include <limits>

#include "kernels/attention/backward.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/attention/workspace.hpp"
#include "kernels/mma/backward/arguments.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t largest_count = std::numeric_limits<int32_t>::max();

Outcome check_schedule(const AttentionBackward& call) {
  const Schedule& schedule = call.schedule;
  if (Outcome bad = check_policies(schedule); !bad) return bad;
  if (schedule.dq != Dq::atomic && schedule.order.list != nullptr)
    return refuse(Status::bad_schedule,
                  schedule.dq == Dq::ordered
                      ? "dq is ordered, which follows section and q_order; allowed with an "
                        "explicit list of items: atomic"
                      : "dq is separate, whose kernel of dQ has Q tiles as items; allowed with an "
                        "explicit list of items: atomic");
  if (schedule.launch == launch_id<BalancedLaunch>)
    return refuse(
        Status::bad_schedule,
        "launch is balanced, and no backward kernel merges pieces; allowed: grid, static, "
        "dynamic");
  const Problem& problem = call.problem;
  if (problem.kv_heads > 0 && problem.heads_per_kv_head() % max_of(1, schedule.kv_split) != 0)
    return refuse(Status::bad_schedule,
                  "kv_split is " + std::to_string(schedule.kv_split) +
                      "; allowed in the backward pass: divisors of heads / kv_heads");
  if (schedule.prefetch > 0)
    return refuse(Status::bad_schedule, "prefetch is " + std::to_string(schedule.prefetch) +
                                            "; allowed in the backward pass: 0");
  const KernelVariant* one_that_suits = nullptr;
  return choose_variant(call, {}, one_that_suits);
}

struct NamedTensor {
  const char* name;
  const void* data;
  const Strides& strides;
};

/// Whether `variant` can run a call that passes `check` but for its kernel.
Outcome suits(const AttentionBackward& call, const KernelVariant& variant) {
  const Problem& problem = call.problem;
  if (!product_within(largest_count, {problem.batch, max_of(1, call.schedule.kv_split),
                                      problem.kv_heads, kv_tiles(problem, variant.tiling)}) ||
      !product_within(largest_count / 2, {problem.heads, q_tiles(problem, variant.tiling)}))
    return {Status::bad_size, "the problem has more than 2^31 - 1 items, or steps of an item"};
  if (call.schedule.dq == Dq::separate && variant.separate_function == nullptr)
    return {Status::bad_schedule,
            "dq is separate, and no kernel of these tiles computes dQ alone; allowed: atomic, "
            "ordered, or kernels of the families mma and mma-fp32 with K/V tiles of 64 rows"};
  if (!variant.loads_by_copy_engine()) return {};
  const int64_t q_sizes[] = {problem.batch, problem.heads, problem.seq_q};
  const int64_t kv_sizes[] = {problem.batch, problem.kv_heads, problem.seq_kv};
  if (Outcome bad = check_tensor_map("q", call.q_strides, q_sizes); !bad) return bad;
  if (Outcome bad = check_tensor_map("d_o", call.d_o_strides, q_sizes); !bad) return bad;
  if (Outcome bad = check_tensor_map("k", call.k_strides, kv_sizes); !bad) return bad;
  return check_tensor_map("v", call.v_strides, kv_sizes);
}

}  // namespace

Outcome check(const AttentionBackward& call) {
  const Problem& problem = call.problem;
  if (Outcome bad = check_sizes(problem); !bad) return bad;
  if (Outcome bad = check_variant(problem, call.tiling, call.family, Pass::backward); !bad)
    return bad;
  if (!product_within(largest_count, {problem.batch, problem.heads, problem.seq_q + row_padding}))
    return refuse(Status::bad_size, "batch x heads x seq_q is above 2^31 - 1 - 128 rows a head");
  const int64_t q_sizes[] = {problem.batch, problem.heads, problem.seq_q};
  const int64_t kv_sizes[] = {problem.batch, problem.kv_heads, problem.seq_kv};
  const bool has_rows = !has_no_query(problem);
  const bool has_keys = problem.batch > 0 && problem.kv_heads > 0 && problem.seq_kv > 0;
  if (has_rows) {
    for (const auto& [name, data, strides] :
         {NamedTensor{"q", call.q, call.q_strides}, NamedTensor{"o", call.o, call.o_strides},
          NamedTensor{"d_o", call.d_o, call.d_o_strides},
          NamedTensor{"dq", call.dq, call.dq_strides}})
      if (Outcome bad = check_tensor(name, data, strides, q_sizes, problem.head_dim); !bad)
        return bad;
    if (call.lse == nullptr) return refuse(Status::null_pointer, "lse is a null pointer");
    if (Outcome bad = check_floats("lse", call.lse); !bad) return bad;
  }
  if (has_keys)
    for (const auto& [name, data, strides] :
         {NamedTensor{"k", call.k, call.k_strides}, NamedTensor{"v", call.v, call.v_strides},
          NamedTensor{"dk", call.dk, call.dk_strides}, NamedTensor{"dv", call.dv, call.dv_strides}})
      if (Outcome bad = check_tensor(name, data, strides, kv_sizes, problem.head_dim); !bad)
        return bad;
  if (Outcome bad = check_scale(call.scale); !bad) return bad;
  return check_schedule(call);
}

Outcome choose_variant(const AttentionBackward& call, const DeviceLimits& device,
                       const KernelVariant*& chosen) {
  chosen = nullptr;
  Outcome why_none{Status::unsupported_tiling, "no kernel of the backward pass has this tile"};
  const bool any_tiling = call.tiling.q_rows == 0 && call.tiling.kv_rows == 0;
  const Problem& problem = call.problem;
  for (const KernelVariant& variant : backward_variants()) {
    if (variant.head_dims() != HeadDims(problem) || variant.dtype != problem.dtype ||
        !variant.serves(call.family) ||
        (!any_tiling && (variant.tiling.q_rows != call.tiling.q_rows ||
                         variant.tiling.kv_rows != call.tiling.kv_rows)))
      continue;
    Outcome runs = suits(call, variant);
    if (runs && device.compute_capability != 0) runs = check_device(variant, device);
    if (runs) {
      const bool faster = chosen != nullptr && variant.compute_capability != 0 &&
                          chosen->compute_capability == 0 && device.compute_capability != 0;
      if (chosen == nullptr || faster) chosen = &variant;
      continue;
    }
    why_none = std::move(runs);
  }
  return chosen != nullptr ? Outcome{} : why_none;
}

}  // namespace sawtooth::kernels
