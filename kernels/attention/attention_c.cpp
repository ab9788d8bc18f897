// The C API over the C++ one: names become policies, messages are kept a thread.
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention.hpp"

namespace sawtooth::kernels {
namespace {

static_assert(int(Status::launch_failed) == SAWTOOTH_LAUNCH_FAILED);
static_assert(int(Status::workspace_too_small) == SAWTOOTH_WORKSPACE_TOO_SMALL);
static_assert(int(ElementType::bf16) == SAWTOOTH_BF16 && int(ElementType::fp16) == SAWTOOTH_FP16);
static_assert(int(MaskKind::window) == SAWTOOTH_MASK_WINDOW);

thread_local std::string last_message;

/// Keeps the message of what `call` returns. No exception leaves it: C knows none.
template <class Call>
sawtooth_status finish(const Call& call) noexcept {
  try {
    Outcome outcome = call();
    last_message = std::move(outcome.message);
    return static_cast<sawtooth_status>(outcome.status);
  } catch (const std::bad_alloc&) {
    last_message = "no host memory";  // short: needs none
  } catch (const std::exception& error) {
    try {
      last_message = error.what();
    } catch (...) {
      last_message.clear();
    }
  } catch (...) {
    last_message = "unknown error";
  }
  return SAWTOOTH_LAUNCH_FAILED;
}

Strides strides_of(const sawtooth_strides& strides) {
  return {strides.batch, strides.head, strides.row};
}

/// Finds `name` in a list of policies; a message otherwise.
template <class List>
Outcome find_policy(const char* what, const char* name, int32_t& index) {
  if (name == nullptr) return {Status::null_pointer, std::string(what) + " is a null pointer"};
  const std::optional<int> found = List::find(name);
  if (found) {
    index = *found;
    return {};
  }
  std::string allowed;
  for (const PolicyInfo& policy : List::info())
    allowed.append(allowed.empty() ? "" : ", ").append(policy.name);
  return {Status::bad_schedule, std::string(what) + " is '" + name + "'; allowed: " + allowed};
}

Outcome translate(const sawtooth_attention* from, AttentionForward& to) {
  if (from == nullptr) return {Status::null_pointer, "call is a null pointer"};
  if (from->dtype != SAWTOOTH_BF16 && from->dtype != SAWTOOTH_FP16)
    return {Status::unsupported_type, "dtype is neither SAWTOOTH_BF16 nor SAWTOOTH_FP16"};
  if (from->mask < SAWTOOTH_MASK_NONE || from->mask > SAWTOOTH_MASK_WINDOW)
    return {Status::bad_size, "mask is none of the values of sawtooth_mask"};
  to.problem = {.batch = from->batch,
                .heads = from->heads,
                .kv_heads = from->kv_heads,
                .seq_q = from->seq_q,
                .seq_kv = from->seq_kv,
                .head_dim = from->head_dim,
                .dtype = static_cast<ElementType>(from->dtype),
                .mask = {static_cast<MaskKind>(from->mask), from->window}};
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
  return check(to);
}

}  // namespace
}  // namespace sawtooth::kernels

using namespace sawtooth::kernels;

extern "C" {

void sawtooth_attention_defaults(sawtooth_attention* call) {
  if (call == nullptr) return;
  *call = sawtooth_attention{};
  call->batch = call->heads = call->kv_heads = 1;
  call->head_dim = 64;
  call->launch = "grid";
  call->scan = "linear";
  call->q_order = "ascending";
  call->section = call->workers = call->kv_split = 1;
}

sawtooth_status sawtooth_attention_workspace_bytes(const sawtooth_attention* call, size_t* bytes) {
  return finish([&]() -> Outcome {
    if (bytes == nullptr) return {Status::null_pointer, "bytes is a null pointer"};
    *bytes = 0;
    AttentionForward forward;
    Outcome outcome = translate(call, forward);
    if (outcome) *bytes = workspace_bytes(forward);
    return outcome;
  });
}

sawtooth_status sawtooth_attention_forward(const sawtooth_attention* call, void* workspace,
                                           size_t workspace_bytes, CUstream_st* stream) {
  return finish([&]() -> Outcome {
    AttentionForward forward;
    if (Outcome bad = translate(call, forward); !bad) return bad;
    return attention_forward(forward, workspace, workspace_bytes, stream);
  });
}

const char* sawtooth_last_message(void) {
  return last_message.c_str();
}

}  // extern "C"
