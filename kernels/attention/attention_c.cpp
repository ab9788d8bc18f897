// The C API over the C++ one: names become policies, messages are kept a thread.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/attention/attention.h"
#include "kernels/attention/backward.hpp"
#include "kernels/attention/c_calls.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/attention/decode.hpp"
#include "scheduler/schedule.hpp"

struct sawtooth_plan {
  sawtooth::kernels::AttentionPlan plan;
};

struct sawtooth_decode_plan {
  sawtooth::kernels::DecodePlan plan;
};

namespace sawtooth::kernels {

// These are the sizes in the first header of version 1, and in the first ones with gradients and
// with decode.
template <>
inline constexpr std::size_t least_struct_size<sawtooth_attention> = offsetof(sawtooth_attention,
                                                                              seed) +
                                                                     sizeof(uint64_t);
template <>
inline constexpr std::size_t least_struct_size<sawtooth_gradients> = offsetof(sawtooth_gradients,
                                                                              dq_additions) +
                                                                     sizeof(const char*);

template <>
inline constexpr std::size_t least_struct_size<sawtooth_decode> = offsetof(sawtooth_decode,
                                                                           drawn_shares) +
                                                                  sizeof(int32_t);

namespace {

static_assert(int(Status::bad_version) == SAWTOOTH_BAD_VERSION);
static_assert(int(Status::launch_failed) == SAWTOOTH_LAUNCH_FAILED);
static_assert(int(Status::workspace_too_small) == SAWTOOTH_WORKSPACE_TOO_SMALL);
static_assert(int(ElementType::bf16) == SAWTOOTH_BF16 && int(ElementType::fp16) == SAWTOOTH_FP16 &&
              int(ElementType::fp32) == SAWTOOTH_FP32);
static_assert(int(MaskKind::window) == SAWTOOTH_MASK_WINDOW &&
              int(MaskKind::listed) == SAWTOOTH_MASK_LISTS);
static_assert(sizeof(KeySpans) == 4 * sizeof(int32_t));

/// Finds `name` in a list of policies, null standing for automatic; a message otherwise.
template <class List>
Outcome find_policy(const char* what, const char* name, int32_t& index) {
  index = automatic_policy;
  if (name == nullptr) return {};
  const std::optional<int> found = List::find(name);
  if (found) {
    index = *found;
    return {};
  }
  return {Status::bad_schedule,
          std::string(what) + " is '" + name + "'; allowed: " +
              listed(List::info(), [](const PolicyInfo& policy) { return policy.name; })};
}

/// The way of additions to dQ with this name, null standing for atomic; a message otherwise.
Outcome find_dq(const char* name, Dq& dq) {
  dq = Dq::atomic;
  if (name == nullptr) return {};
  for (const DqName& known : dq_names) {
    if (known.name != name) continue;
    dq = known.dq;
    return {};
  }
  return {Status::bad_schedule, "dq_additions is '" + std::string(name) + "'; allowed: " +
                                    listed(dq_names, [](const DqName& one) { return one.name; })};
}

}  // namespace

/// What both passes have in a call: AttentionForward or AttentionBackward.
template <class Call>
static Outcome translate(const sawtooth_attention* call, Call& to) {
  sawtooth_attention known;
  if (Outcome bad = known_part("call", call, known); !bad) return bad;
  const sawtooth_attention* const from = &known;
  if (Outcome bad = check_enumerators(from->dtype, from->mask); !bad) return bad;
  to.problem = {.batch = from->batch,
                .heads = from->heads,
                .kv_heads = from->kv_heads,
                .seq_q = from->seq_q,
                .seq_kv = from->seq_kv,
                .head_dim = from->head_dim,
                .dtype = static_cast<ElementType>(from->dtype),
                .head_dim_v = from->head_dim_v,
                .mask = {static_cast<MaskKind>(from->mask), from->window}};
  if (from->family != nullptr) to.family = from->family;
  Schedule& schedule = to.schedule;
  if (Outcome bad = find_policy<Launches>("launch", from->launch, schedule.launch.index); !bad)
    return bad;
  if (Outcome bad = find_policy<Scans>("scan", from->scan, schedule.scan.index); !bad) return bad;
  if (Outcome bad = find_policy<QOrders>("q_order", from->q_order, schedule.order.q_order.index);
      !bad)
    return bad;
  schedule.order.section = from->section;
  schedule.workers = from->workers;
  schedule.kv_split = from->kv_split;
  schedule.prefetch = from->prefetch;
  schedule.seed = from->seed;
  to.tiling = {from->tile_q, from->tile_kv};
  to.q = from->q;
  to.k = from->k;
  to.v = from->v;
  to.o = from->o;
  to.lse = from->lse;
  to.q_strides = strides_of(from->q_strides);
  to.k_strides = strides_of(from->k_strides);
  to.v_strides = strides_of(from->v_strides);
  to.o_strides = strides_of(from->o_strides);
  to.scale = from->scale;
  to.workspace_starts_zero = from->workspace_starts_zero != 0;
  if constexpr (std::is_same_v<Call, AttentionForward>) {
    to.packed.q = from->packed_q;
    to.packed.kv = from->packed_kv;
    to.packed.may_change = from->packed_may_change != 0;
    to.lists = {{from->list_begin, from->list_entries},
                reinterpret_cast<const KeySpans*>(from->list_spans)};
    if (from->sequence_order != nullptr)
      return find_policy<SequenceOrders>("sequence_order", from->sequence_order,
                                         to.packed.order.index);
  } else if (from->packed_q != nullptr || from->packed_kv != nullptr) {
    return {Status::bad_size, "packed sequences are given; allowed in the backward pass: none"};
  }
  return {};
}

static Outcome translate(const sawtooth_attention* call, const sawtooth_gradients* gradients,
                         AttentionBackward& to) {
  if (Outcome bad = translate(call, to); !bad) return bad;
  sawtooth_gradients from;
  if (Outcome bad = known_part("gradients", gradients, from); !bad) return bad;
  if (Outcome bad = find_dq(from.dq_additions, to.schedule.dq); !bad) return bad;
  to.d_o = from.d_o;
  to.dq = from.dq;
  to.dk = from.dk;
  to.dv = from.dv;
  to.d_o_strides = strides_of(from.d_o_strides);
  to.dq_strides = strides_of(from.dq_strides);
  to.dk_strides = strides_of(from.dk_strides);
  to.dv_strides = strides_of(from.dv_strides);
  return {};
}

static Outcome translate(const sawtooth_decode* call, AttentionDecode& to) {
  sawtooth_decode from;
  if (Outcome bad = known_part("call", call, from); !bad) return bad;
  if (Outcome bad = check_enumerators(from.dtype, from.mask); !bad) return bad;
  to = {.problem = {.batch = from.batch,
                    .heads = from.heads,
                    .kv_heads = from.kv_heads,
                    .seq_q = from.seq_q,
                    .seq_kv = from.seq_kv,
                    .head_dim = from.head_dim,
                    .dtype = static_cast<ElementType>(from.dtype),
                    .mask = {static_cast<MaskKind>(from.mask)}},
        .q = from.q,
        .k = from.k,
        .v = from.v,
        .o = from.o,
        .lse = from.lse,
        .q_strides = strides_of(from.q_strides),
        .k_strides = strides_of(from.k_strides),
        .v_strides = strides_of(from.v_strides),
        .o_strides = strides_of(from.o_strides),
        .lengths = from.lengths,
        .pages = {from.page_table, from.table_stride, from.page_rows, from.page_count},
        .prefix = {from.prefix_keys, from.prefix_group},
        .scale = from.scale,
        .family = from.family != nullptr ? std::string_view(from.family) : std::string_view(),
        .workers = from.workers,
        .workspace_starts_zero = from.workspace_starts_zero != 0};
  if (from.drawn_percent > 0 || from.drawn_shares > 0)
    return refuse(Status::bad_schedule,
                  "drawn_percent, drawn_shares: were removed, equal shares are faster; allowed: 0");
  return {};
}

}  // namespace sawtooth::kernels

using namespace sawtooth::kernels;

extern "C" {

void sawtooth_attention_init(sawtooth_attention* call, size_t struct_size) {
  sawtooth_attention defaults{};
  defaults.batch = defaults.heads = defaults.kv_heads = 1;
  defaults.head_dim = 64;
  fill_defaults(defaults, call, struct_size);
}

void sawtooth_gradients_init(sawtooth_gradients* gradients, size_t struct_size) {
  fill_defaults(sawtooth_gradients{}, gradients, struct_size);
}

sawtooth_status sawtooth_attention_workspace_bytes(const sawtooth_attention* call, size_t* bytes) {
  return find_workspace_bytes<AttentionForward>(bytes, call);
}

sawtooth_status sawtooth_backward_workspace_bytes(const sawtooth_attention* call,
                                                  const sawtooth_gradients* gradients,
                                                  size_t* bytes) {
  return find_workspace_bytes<AttentionBackward>(bytes, call, gradients);
}

size_t sawtooth_workspace_state_bytes(void) {
  return workspace_state_bytes;
}

sawtooth_status sawtooth_attention_forward(const sawtooth_attention* call, void* workspace,
                                           size_t workspace_bytes, CUstream_st* stream) {
  return with_call<AttentionForward>(
      [&](const AttentionForward& forward) {
        return attention_forward(forward, workspace, workspace_bytes, stream);
      },
      call);
}

sawtooth_status sawtooth_attention_backward(const sawtooth_attention* call,
                                            const sawtooth_gradients* gradients, void* workspace,
                                            size_t workspace_bytes, CUstream_st* stream) {
  return with_call<AttentionBackward>(
      [&](const AttentionBackward& backward) {
        return attention_backward(backward, workspace, workspace_bytes, stream);
      },
      call, gradients);
}

sawtooth_status sawtooth_plan_create(const sawtooth_attention* call, void* workspace,
                                     size_t workspace_bytes, sawtooth_plan** plan) {
  return create_plan<AttentionForward>(call, workspace, workspace_bytes, plan);
}

sawtooth_status sawtooth_plan_run(const sawtooth_plan* plan, CUstream_st* stream) {
  return with_plan(plan, [&](const AttentionPlan& made) { return made.run(stream); });
}

sawtooth_status sawtooth_plan_set_rows(const sawtooth_plan* plan, const int32_t* packed_q,
                                       const int32_t* packed_kv, CUstream_st* stream) {
  return with_plan(
      plan, [&](const AttentionPlan& made) { return made.set_rows(packed_q, packed_kv, stream); });
}

void sawtooth_plan_destroy(sawtooth_plan* plan) {
  delete plan;
}

void sawtooth_decode_init(sawtooth_decode* call, size_t struct_size) {
  sawtooth_decode defaults{};
  defaults.batch = defaults.heads = defaults.kv_heads = defaults.seq_q = 1;
  defaults.head_dim = 64;
  fill_defaults(defaults, call, struct_size);
}

sawtooth_status sawtooth_decode_workspace_bytes(const sawtooth_decode* call, size_t* bytes) {
  return find_workspace_bytes<AttentionDecode>(bytes, call);
}

sawtooth_status sawtooth_decode_check_tables(const sawtooth_decode* call, CUstream_st* stream) {
  return with_call<AttentionDecode>(
      [&](const AttentionDecode& decode) { return check_tables(decode, stream); }, call);
}

sawtooth_status sawtooth_decode_forward(const sawtooth_decode* call, void* workspace,
                                        size_t workspace_bytes, CUstream_st* stream) {
  return with_call<AttentionDecode>(
      [&](const AttentionDecode& decode) {
        return attention_decode(decode, workspace, workspace_bytes, stream);
      },
      call);
}

sawtooth_status sawtooth_decode_plan_create(const sawtooth_decode* call, void* workspace,
                                            size_t workspace_bytes, sawtooth_decode_plan** plan) {
  return create_plan<AttentionDecode>(call, workspace, workspace_bytes, plan);
}

sawtooth_status sawtooth_decode_plan_run(const sawtooth_decode_plan* plan, CUstream_st* stream) {
  return with_plan(plan, [&](const DecodePlan& made) { return made.run(stream); });
}

void sawtooth_decode_plan_destroy(sawtooth_decode_plan* plan) {
  delete plan;
}

uint32_t sawtooth_api_version(void) {
  return SAWTOOTH_API_VERSION;
}

const char* sawtooth_last_message(void) {
  return last_message().c_str();
}

}  // extern "C"
