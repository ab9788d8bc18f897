#include <limits>
#include <span>

#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "kernels/attention/variant_list.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::AttentionDecode;
using kernels::KernelVariant;

kernels::Eviction eviction(sim::Priority priority) {
  using sim::Priority;
  return priority == Priority::evict_first  ? kernels::Eviction::first
         : priority == Priority::evict_last ? kernels::Eviction::last
                                            : kernels::Eviction::normal;
}

/// Throws UsageError with the key that the API refused.
void require_taken(const kernels::Outcome& outcome) {
  using kernels::Status;
  if (outcome) return;
  const char* key = "kernel";
  if (outcome.status == Status::unsupported_head_dim) key = "head-dim";
  if (outcome.status == Status::unsupported_type) key = "dtype";
  if (outcome.status == Status::unsupported_tiling) key = "tile-q, tile-kv";
  throw UsageError(std::string(key) + ": " + outcome.message);
}

kernels::CacheHints cache_hints(const Point& point) {
  const Hints hints = point.keys.hints.value_or(Hints{});
  return {eviction(hints.q), eviction(hints.k), eviction(hints.v)};
}

/// What both passes have in a call, with its check on addresses that pass it: the tensors follow
/// when there is a device.
template <class Call, class FillIn>
Call checked_call(const Point& point, std::span<const kernels::KernelVariant> variants,
                  FillIn fill_in) {
  Call call;
  call.problem = point.request.problem;
  call.schedule = point.request.schedule;
  call.tiling = point.request.tiling;
  for (const kernels::KernelVariant& variant : variants)
    if (point.keys.kernel == variant.family) call.family = variant.family;
  if (call.family.empty() && !point.keys.kernel.empty())
    throw UsageError("kernel: this build has no " + point.keys.kernel + " kernels of pass = " +
                     point.text("pass") + "; see `sawtooth schedules --kernels`");
  // Without a name the first of the table that has the tile: the same kernel on every device.
  if (call.family.empty())
    if (const auto* variant =
            kernels::find_variant(kernels::HeadDims(call.problem), call.problem.dtype, call.tiling,
                                  {}, call.problem.pass))
      call.family = variant->family;
  call.ctas_per_sm = int(point.keys.ctas_per_sm);
  call.hints = cache_hints(point);
  Call trial = call;
  fill_in(trial);
  require_taken(kernels::check(trial));
  return call;
}

/// Whether the point is for the decode kernels. All others are for those of one length.
bool is_decode(const Point& point) {
  return point.keys.pack_gqa && point.keys.pass == Pass::forward;
}

/// What the keys say of the walk, which these kernels have one of.
void require_its_schedule(const Point& point) {
  const Keys& keys = point.keys;
  const Order& order = point.request.schedule.order;
  const auto require = [](bool fits, const std::string& message) {
    if (!fits) throw UsageError(message);
  };
  require(keys.kv_split.shares, "kv-split: the decode kernels walk equal shares; allowed: auto");
  require(keys.q_lengths.empty(),
          "q-lengths: the decode kernels take as many queries of each sequence; allowed: seq-q");
  require(keys.sequence_order == SequenceOrderId{},
          "sequence-order: the decode kernels walk sequences as numbered; allowed: given");
  require(keys.prefix == 0 || keys.page_rows > 0,
          "prefix: the decode kernels share keys by pages; give page-rows too");
  require(keys.scan == scan_id<LinearScan>,
          "scan: the decode kernels scan forwards; allowed: linear");
  require(keys.order_file.empty() && order.section == 1 && order.q_order == QOrderId{} &&
              order.head_order == HeadOrder::batch_major,
          "section, q-order, head-order, order-file: the decode kernels walk tiles of Q head by "
          "head; leave them out");
}

/// The kernel of a call that names its family.
const KernelVariant& decode_variant(const AttentionDecode& call) {
  const Problem& problem = call.problem;
  const int64_t rows = kernels::rows_wanted(call);
  const KernelVariant* taken = nullptr;
  // The first that holds the rows of a tile, else the last, as the call itself takes it.
  for (const KernelVariant& variant :
       call.prefix.shared() ? kernels::cascade_variants() : kernels::decode_variants()) {
    if (variant.family != call.family || variant.head_dim != problem.head_dim ||
        variant.dtype != problem.dtype)
      continue;
    if (taken == nullptr || taken->tiling.q_rows < rows) taken = &variant;
  }
  if (taken == nullptr)
    throw UsageError(
        "kernel: this build has no decode kernel " + std::string(call.family) +
        " of this head-dim and dtype; allowed: mma, mma-tma; 64, 128, 256; bf16, fp16");
  return *taken;
}

/// The decode call without tensors and tables. Without `kernel` it is of the family mma, as the
/// costs of predictions are.
AttentionDecode decode_call(const Point& point) {
  const sim::Request& request = point.request;
  require_its_schedule(point);
  const Hints hints = point.keys.hints.value_or(Hints{});
  if (hints.q != sim::Priority::normal || hints.k != hints.v)
    throw UsageError("hints: the decode kernels have one of K and V together");
  AttentionDecode call;
  call.problem = request.problem;
  call.problem.heads *= request.tiling.rows_a_position;
  call.problem.seq_q /= request.tiling.rows_a_position;
  call.family = point.keys.kernel.empty() ? std::string_view(kernels::families::mma)
                                          : std::string_view(point.keys.kernel);
  if (request.cascade) call.prefix = request.sequences.prefix;
  const KernelVariant& variant = decode_variant(call);
  call.family = variant.family;
  const Tiling& tiling = variant.tiling;
  if (tiling.q_rows != request.tiling.q_rows || tiling.kv_rows != request.tiling.kv_rows)
    throw UsageError("tile-q, tile-kv: allowed for these rows: " + std::to_string(tiling.q_rows) +
                     " and " + std::to_string(tiling.kv_rows));
  if (point.keys.ctas_per_sm != variant.ctas_per_sm)
    throw UsageError("ctas-per-sm: allowed for this decode kernel: " +
                     std::to_string(variant.ctas_per_sm));
  call.workers = request.schedule.workers;
  call.kv_eviction = eviction(hints.k);
  const Pages& pages = request.sequences.pages;
  call.pages = {.table = nullptr,
                .table_stride = pages.stride,
                .page_rows = pages.rows,
                .page_count = pages.count};
  alignas(16) static char place_holder[16];
  AttentionDecode trial = call;
  trial.q = trial.k = trial.v = trial.o = place_holder;
  if (pages.paged()) trial.pages.table = reinterpret_cast<const int32_t*>(place_holder);
  require_taken(kernels::check(trial));
  return call;
}

}  // namespace

PackedRowsOfPoint packed_rows(const Point& point) {
  PackedRowsOfPoint rows;
  if (point.sequences == nullptr || is_decode(point)) return rows;
  const auto narrowed = [](const std::vector<int64_t>& first_rows) {
    if (first_rows.back() > std::numeric_limits<int32_t>::max())
      throw UsageError("lengths: all sequences together have " + std::to_string(first_rows.back()) +
                       " rows; allowed: up to 2^31 - 1");
    return std::vector<int32_t>(first_rows.begin(), first_rows.end());
  };
  return {narrowed(point.sequences->first_q), narrowed(point.sequences->first_kv)};
}

/// The same rows as a call has them.
kernels::PackedRows packed_of(const PackedRowsOfPoint& rows, const Point& point) {
  if (rows.q.empty()) return {};
  return {rows.q.data(), rows.kv.data(), point.keys.sequence_order};
}

std::vector<KeySpans> spans_of(const Point& point) {
  try {
    return key_spans(point.keys.mask.listed, point.request.problem, point.request.tiling);
  } catch (const std::invalid_argument& error) {
    throw UsageError("mask: '" + point.keys.mask.listed + "' " + error.what());
  }
}

AttentionCall attention_call(const Point& point) {
  if (is_decode(point)) return decode_call(point);
  for (const char* key : {"prefix", "page-rows", "cascade"})
    if (!point.text(key).empty() && point.text(key) != "off")
      throw UsageError(std::string(key) +
                       ": only decode kernels read pages; allowed with pack-gqa = on");
  if (point.keys.kv_split.shares)
    throw UsageError(
        "kv-split: only decode kernels walk equal shares; allowed: numbers, or pack-gqa = on");
  alignas(16) static char place_holder[16];
  if (point.request.problem.pass == Pass::forward) {
    if (point.listed_mask != nullptr) spans_of(point);
    const PackedRowsOfPoint rows = packed_rows(point);
    return checked_call<kernels::AttentionForward>(
        point, kernels::kernel_variants(), [&](kernels::AttentionForward& call) {
          call.q = call.k = call.v = place_holder;
          call.o = place_holder;
          call.packed = packed_of(rows, point);
          call.lists.entries = {reinterpret_cast<int64_t*>(place_holder),
                                reinterpret_cast<int32_t*>(place_holder)};
        });
  }
  return checked_call<kernels::AttentionBackward>(
      point, kernels::backward_variants(), [](kernels::AttentionBackward& call) {
        call.q = call.k = call.v = call.o = call.d_o = place_holder;
        call.dq = call.dk = call.dv = place_holder;
        call.lse = reinterpret_cast<const float*>(place_holder);
      });
}

const kernels::KernelVariant& variant_of(const AttentionCall& call) {
  return std::visit(
      [](const auto& one) -> const kernels::KernelVariant& {
        if constexpr (std::is_same_v<decltype(one), const kernels::AttentionDecode&>)
          return decode_variant(one);
        else
          return *kernels::find_variant(kernels::HeadDims(one.problem), one.problem.dtype,
                                        one.tiling, one.family, one.problem.pass);
      },
      call);
}

}  // namespace sawtooth::experiments
