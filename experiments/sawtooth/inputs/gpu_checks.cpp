#include <cstdint>
#include <vector>

#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::experiments {
namespace {

// Every SM once, and a half and a size for every GPC.
void check_layout(const sim::Gpu& gpu, const std::string& path) {
  const sim::SmLayout& layout = gpu.layout;
  if (layout.gpc_sms.empty() && layout.gpc_half.empty() && layout.cta_order.empty()) return;
  int64_t sms = 0;
  for (const int64_t of_gpc : layout.gpc_sms) {
    if (of_gpc % sim::sms_a_tpc != 0)
      throw UsageError(path + ": gpc-sms: '" + std::to_string(of_gpc) +
                       "' is not allowed; allowed: even numbers, a TPC has two SMs");
    sms += of_gpc;
  }
  if (sms != gpu.sms)
    throw UsageError(path + ": gpc-sms: has " + std::to_string(sms) + " SMs, sms " +
                     std::to_string(gpu.sms));
  if (layout.gpc_half.size() != layout.gpc_sms.size())
    throw UsageError(path + ": gpc-half: needs a half for each GPC of gpc-sms");
  std::vector<std::vector<int>> visits;
  for (const int64_t of_gpc : layout.gpc_sms)
    visits.emplace_back(static_cast<size_t>(of_gpc / 2), 0);
  for (const sim::TpcRun& run : layout.cta_order) {
    if (run.gpc >= static_cast<int>(visits.size()))
      throw UsageError(path + ": cta-order: there is no GPC " + std::to_string(run.gpc));
    std::vector<int>& tpcs = visits[static_cast<size_t>(run.gpc)];
    const size_t end = run.tpcs > 0 ? static_cast<size_t>(run.first_tpc + run.tpcs) : tpcs.size();
    if (end > tpcs.size())
      throw UsageError(path + ": cta-order: GPC " + std::to_string(run.gpc) + " has " +
                       std::to_string(tpcs.size()) + " TPCs");
    for (auto tpc = static_cast<size_t>(run.first_tpc); tpc < end; ++tpc) ++tpcs[tpc];
  }
  for (const std::vector<int>& tpcs : visits)
    for (const int count : tpcs)
      if (count < 1 || count != visits.front().front())
        throw UsageError(path + ": cta-order: needs each TPC once, or each one equally often");
}

// What two keys forbid each other.
void check_pairs(const sim::Gpu& gpu, const std::string& path) {
  for (const sim::LinkRates* rates : {&gpu.link_copy, &gpu.link_nccl})
    for (size_t i = 1; i < rates->size(); ++i)
      if ((*rates)[i].bytes <= (*rates)[i - 1].bytes)
        throw UsageError(path +
                         ": link-copy-gb-per-s, link-nccl-gb-per-s: sizes rise from one to "
                         "the next");
  const double reserved = gpu.l2_reserved_share.value_or(0);
  const int64_t ways = gpu.l2_ways.value_or(1);
  if (reserved > 0 && (ways < 2 || reserved * double(ways) >= 1))
    throw UsageError(path + ": l2-reserved-share: " + shortest(reserved) + " leaves sets of " +
                     std::to_string(ways) + " ways without one; allowed: 0, or below 1 / l2-ways " +
                     "with l2-ways from 2 on");
  if (gpu.l2_dirty_ways && *gpu.l2_dirty_ways > ways)
    throw UsageError(path + ": l2-dirty-ways: " + std::to_string(*gpu.l2_dirty_ways) +
                     " is not allowed; allowed: up to l2-ways = " + std::to_string(ways));
  if (gpu.latency_near_ns && gpu.latency_far_ns && *gpu.latency_far_ns < *gpu.latency_near_ns)
    throw UsageError(path + ": latency-far-ns: " + shortest(*gpu.latency_far_ns) +
                     " is not allowed; allowed: from latency-near-ns = " +
                     shortest(*gpu.latency_near_ns) + " on");
}

}  // namespace

void check_gpu(const sim::Gpu& gpu, const std::string& path) {
  check_layout(gpu, path);
  check_pairs(gpu, path);
}

}  // namespace sawtooth::experiments
