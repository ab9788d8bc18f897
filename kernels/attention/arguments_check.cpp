// The checks of attention_forward that need no device.
#include <limits>

#include "kernels/attention/checks.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/attention/limits.hpp"
#include "kernels/attention/packed.hpp"

namespace sawtooth::kernels {
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
  if (Outcome bad = check_tensor("running.o", running.o, call.o_strides, sizes, problem.head_dim);
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

Outcome check_call(const AttentionForward& call) {
  const Problem& problem = call.problem;
  if (Outcome bad = check_sizes(problem); !bad) return bad;
  if (Outcome bad = check_variant(problem, call.tiling, call.family, Pass::forward); !bad)
    return bad;
  const int64_t dim = problem.head_dim;
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
    if (Outcome bad = check_tensor("v", call.v, call.v_strides, kv_sizes, dim); !bad) return bad;
  }
  const bool running = call.running.o != nullptr;
  if (!running || call.o != nullptr)
    if (Outcome bad = check_tensor("o", call.o, call.o_strides, q_sizes, dim); !bad) return bad;
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
