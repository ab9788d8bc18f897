#include "kernels/attention/automatic.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/workspace.hpp"

namespace sawtooth::kernels {
namespace {

/// For problems of at least `keys` keys; the first rule that fits a call holds.
struct Rule {
  std::string_view family;  // empty: any
  int head_dim;             // 0: any
  bool masked;
  int64_t keys;
  LaunchId launch;
  ScanId scan;
  QOrderId q_order;
  int64_t section_bytes;    // of K and V (auto:BYTES); 0: a head at a time
  int64_t whole_bytes = 0;  // K and V of all heads, up to which they are one section
};

constexpr auto grid = launch_id<GridLaunch>;
constexpr auto fixed = launch_id<StaticLaunch>;
constexpr auto dynamic = launch_id<DynamicLaunch>;
constexpr auto balanced = launch_id<BalancedLaunch>;
constexpr auto linear = scan_id<LinearScan>;
constexpr auto reverse = scan_id<ReverseScan>;
constexpr auto sawtooth = scan_id<SawtoothScan>;
constexpr auto ascending = q_order_id<AscendingQ>;
constexpr auto descending = q_order_id<DescendingQ>;
constexpr int64_t mib = int64_t{1} << 20;

// The rules come from one H200. hopper: the fastest of the run `race` in
// experiments/data/h200/race/schedules.csv at each length, judged on the other runs there
// (tests/kernels/automatic_test.cpp). hopper-short at head dims 64 and 128, and sections of 16 MiB
// (head dim 256 too), where an H100's L2 keeps no more: experiments/data/h100/race/schedules.csv.
// hopper-short at the others under a mask: as hopper; 158 and 136 us from the first K/V tile and
// from the diagonal at head dim 192, 32 x 16 heads of 512 keys, and sections of a wave each take up
// to 1.17 times as long as one of 40 MiB. The others: experiments/data/h200/orders/schedules.csv,
// where a grid is within 2 % of the fastest and needs no state. With a mask heads share a section,
// so that the longest items of all of them come first: a head at a time is as fast over many waves
// (measured, 0.3 %), and predicted to take up to 1.5 times as long over two.
constexpr auto rules = std::to_array<Rule>({
    {families::hopper, 256, true, 0, dynamic, reverse, descending, 16 * mib},
    {families::hopper, 0, true, 0, dynamic, reverse, descending, 32 * mib},
    {families::hopper, 64, false, 48 << 10, balanced, linear, ascending, 0},
    {families::hopper, 64, false, 2 << 10, balanced, sawtooth, ascending, 0},
    {families::hopper, 64, false, 0, balanced, linear, ascending, 0},
    {families::hopper, 0, false, 2 << 10, balanced, reverse, ascending, 0},
    {families::hopper, 0, false, 0, fixed, linear, ascending, 0},
    {families::hopper_short, 64, true, 0, dynamic, linear, descending, 16 * mib},
    {families::hopper_short, 128, true, 0, dynamic, reverse, descending, 16 * mib},
    {families::hopper_short, 256, true, 0, dynamic, reverse, descending, 16 * mib, 40 * mib},
    {families::hopper_short, 0, true, 0, dynamic, reverse, descending, 32 * mib, 40 * mib},
    {families::hopper_short, 128, false, 2 << 10, balanced, linear, ascending, 0},
    {families::hopper_short, 0, false, 0, balanced, linear, ascending, 0},
    {"", 0, true, 0, grid, linear, descending, 32 * mib},
    {"", 0, false, 0, grid, linear, ascending, 0},
});

// In the backward pass with a mask the first keys' items are the longest. hopper: the launches of
// one H200, experiments/data/h200/backward/hopper_times.csv; the others are not measured.
constexpr auto backward_rules = std::to_array<Rule>({
    {families::hopper, 0, true, 0, dynamic, linear, ascending, 32 * mib},
    {families::hopper, 0, false, 0, dynamic, linear, ascending, 0},
    {"", 0, true, 0, grid, linear, ascending, 32 * mib},
    {"", 0, false, 0, grid, linear, ascending, 0},
});

const Rule& rule_for(const Problem& problem, const KernelVariant& variant) {
  const bool masked = problem.mask.kind != MaskKind::none;
  const std::span<const Rule> of_pass =
      problem.pass == Pass::backward ? std::span<const Rule>(backward_rules) : rules;
  return *std::ranges::find_if(of_pass, [&](const Rule& rule) {
    return (rule.family.empty() || rule.family == variant.family) &&
           (rule.head_dim == 0 || rule.head_dim == problem.head_dim) && rule.masked == masked &&
           problem.seq_kv >= rule.keys;
  });
}

/// Persistent CTAs that `device` holds at once.
int64_t resident_workers(const KernelVariant& variant, const DeviceLimits& device,
                         int ctas_per_sm) {
  const int most =
      device.shared_bytes_per_sm / (variant.shared_bytes + device.reserved_shared_bytes);
  int resident = std::min(variant.ctas_per_sm, most);
  if (ctas_per_sm > 0) resident = std::min(resident, ctas_per_sm);
  return max_of(1, int64_t{device.sms} * max_of(1, resident));
}

/// `balanced` where CTAs would idle longer in the last wave than its pieces take: 8 to 15 us at
/// head dim 128, 7 to 9 at 64 (median 9.8; run last_wave of
/// experiments/data/h200/race/schedules.csv). Else shares are fixed for few waves, and tickets even
/// out the CTAs' speeds over many.
LaunchId last_wave_launch(const Problem& problem, const KernelVariant& variant, int64_t workers) {
  constexpr double pieces_us = 10;
  constexpr int64_t few_waves = 4;
  if (!variant.cost.measured()) return balanced;
  const int64_t items = problem.batch * problem.heads * q_tiles(problem, variant.tiling);
  const int64_t waves = max_of(1, ceil_div(items, workers));
  const double idle_share = 1 - double(items) / double(waves * workers);
  if (estimated_us(problem, variant.tiling, variant.cost, workers) * idle_share > pieces_us)
    return balanced;
  return waves > few_waves ? dynamic : fixed;
}

/// The smallest power of two of heads whose items fill a wave, but for a tenth: with fewer the
/// longest items of the last heads begin late. 918 and 655 us in sections of one and of four at
/// head dim 128, causal, 32 query heads on 8 of 4K keys
/// (experiments/data/h200/backward/sections.csv).
int64_t filling_section(const Problem& problem, const KernelVariant& variant, int64_t workers) {
  const int64_t items_a_head = max_of(1, item_tiles(problem, variant.tiling, problem.pass));
  int64_t heads = 1;
  while (10 * heads * items_a_head < 9 * workers) heads *= 2;
  return heads;
}

/// Where additions are ordered items begin with the shortest, so short ones at the end cost least:
/// the most parts whose items have eight steps in the mean. 12.4 and 10.6 ms with four heads a part
/// and one at head dim 128, causal, 4 x 32 query heads on 8 of 8K keys, and 614 and 828 us with two
/// and one at 64, 16 x 32 on 4 of 1K (experiments/data/h200/backward/ordered_times.csv).
int64_t ordered_parts(const Problem& problem, const Tiling& tiling) {
  constexpr int64_t least_steps = 8;
  const int64_t group = problem.heads_per_kv_head();
  const int64_t of_head = q_tiles(problem, tiling) / (problem.mask.kind == MaskKind::none ? 1 : 2);
  int64_t parts = group;
  while (parts > 1 && (group % parts != 0 || group / parts * of_head < least_steps)) --parts;
  return parts;
}

/// Backward: so many parts of a group of query heads that workers have enough items. Without a mask
/// at most a tenth of the last wave idles; with one items differ in length, and there are 10 for 3
/// workers. Of 34 shapes these are at least 0.98 x as fast as cuDNN, one part 0.12 x
/// (experiments/data/h200/backward/parts.csv).
int64_t group_parts(const Problem& problem, const Tiling& tiling, int64_t workers, Dq dq) {
  if (problem.pass == Pass::forward || has_no_query(problem)) return 1;
  if (dq == Dq::ordered) return ordered_parts(problem, tiling);
  const int64_t group = problem.heads_per_kv_head();
  for (int64_t parts = 1; parts < group; ++parts) {
    const int64_t items = problem.batch * problem.kv_heads * parts * kv_tiles(problem, tiling);
    const bool enough = problem.mask.kind != MaskKind::none
                            ? 3 * items >= 10 * workers
                            : 10 * items >= 9 * workers * ceil_div(items, workers);
    if (group % parts == 0 && enough) return parts;
  }
  return group;
}

/// `section` or fewer heads, so that all sections are nearly alike: the long items of a last one
/// that is small begin when there is nothing left beside them. 47 and 39 us are predicted for
/// sections of 32 and of 20 heads at head dim 192, causal, 40 heads of 1K keys; 50 and 44 are
/// measured on an H200.
int64_t equal_sections(const Problem& problem, int64_t heads, int64_t section) {
  const int64_t group = problem.heads_per_kv_head();
  const int64_t groups = ceil_div(heads, group);
  return group * ceil_div(groups, max_of(1, ceil_div(heads, section)));
}

template <class Id>
void fill(Id& asked, Id choice) {
  if (asked.index == automatic_policy) asked = choice;
}
void fill(int64_t& asked, int64_t choice) {
  if (asked == 0) asked = choice;
}

/// Fills in what `asked` leaves automatic.
void fill(Schedule& asked, const Schedule& choice) {
  fill(asked.launch, choice.launch);
  fill(asked.scan, choice.scan);
  fill(asked.order.q_order, choice.order.q_order);
  fill(asked.order.section, choice.order.section);
  fill(asked.workers, choice.workers);
  fill(asked.kv_split, choice.kv_split);
}

}  // namespace

Schedule complete_schedule(const Schedule& asked, const Problem& problem,
                           const KernelVariant& variant, const DeviceLimits& device,
                           int ctas_per_sm) {
  Schedule schedule = asked;
  const Rule& rule = rule_for(problem, variant);
  const int64_t workers = resident_workers(variant, device, ctas_per_sm);
  int64_t kv_split = schedule.kv_split;
  if (kv_split == 0 && schedule.order.list != nullptr) kv_split = 1;
  if (kv_split == 0) kv_split = group_parts(problem, variant.tiling, workers, schedule.dq);
  const int64_t heads = problem.batch * problem.item_heads(problem.pass) * kv_split;
  const bool ordered = schedule.dq == Dq::ordered;
  int64_t section = 1;
  if (ordered) {
    // An item may add when the one before it has, so items of several heads begin at once: 3237 and
    // 2655 us in sections of one and of four at head dim 128, 4 x 16 heads of 4K keys.
    section = filling_section(problem, variant, workers);
  } else if (rule.section_bytes > 0 && !has_no_query(problem)) {
    section = auto_section(problem, rule.section_bytes) * kv_split;
    section = problem.pass == Pass::backward
                  ? max_of(section, filling_section(problem, variant, workers))
                  : equal_sections(problem, heads, section);
    const int64_t kv_heads = problem.batch * problem.kv_heads;
    if (kv_heads * problem.kv_head_bytes() <= rule.whole_bytes) section = heads;
  }
  LaunchId launch = rule.launch;
  if (launch == balanced) launch = last_wave_launch(problem, variant, workers);
  // One section of short sequences at head dims 192 and 256 ends 3 to 15 % sooner with tickets.
  // Where each CTA has one item a ticket tells it nothing: 8.8 and 11.2 us at head dim 64, 48 items
  // of 512 keys.
  if (launch == dynamic && problem.pass == Pass::forward &&
      ((rule.whole_bytes == 0 &&
        takes_fixed_shares(problem, variant.tiling, variant.cost, workers)) ||
       item_count(problem, variant.tiling, {.kv_split = kv_split}) <= workers))
    launch = fixed;
  // Each K/V tile begins at its diagonal, so the last tiles first add to dQ in turn without a wait
  // (FlashAttention-3's shortest first): 2881 instead of 4489 us at head dim 128, causal, 8K
  // (experiments/data/h200/backward/hopper_times.csv).
  const bool turned = ordered && problem.mask.kind != MaskKind::none;
  fill(schedule, {.order = {.section = min_of(section, max_of(1, heads)),
                            .q_order = turned ? descending : rule.q_order},
                  .launch = launch,
                  .scan = rule.scan,
                  .workers = workers,
                  .kv_split = kv_split});
  return schedule;
}

}  // namespace sawtooth::kernels
