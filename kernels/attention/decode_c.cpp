// The C API of decode over the C++ one.
#include <cstddef>
#include <string_view>

#include "kernels/attention/c_calls.hpp"
#include "kernels/attention/checks.hpp"
#include "kernels/attention/decode.hpp"

struct sawtooth_decode_plan {
  sawtooth::kernels::DecodePlan plan;
};

namespace sawtooth::kernels {

template <>
inline constexpr std::size_t least_struct_size<sawtooth_decode> = offsetof(sawtooth_decode,
                                                                           drawn_shares) +
                                                                  sizeof(int32_t);

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

}  // extern "C"
