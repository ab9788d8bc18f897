#include <algorithm>
#include <cstdint>
#include <vector>

#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::experiments {
namespace {

[[noreturn]] void fail_key(const std::string& path, const char* key, const std::string& what) {
  throw UsageError(path + ": " + key + ": " + what);
}

// Every SM once, and a half and a size for every GPC.
void check_layout(const sim::Gpu& gpu, const std::string& path) {
  const sim::SmLayout& layout = gpu.layout;
  if (layout.gpc_sms.empty() && layout.gpc_half.empty() && layout.cta_order.empty()) return;
  int64_t sms = 0;
  std::vector<std::vector<int>> visits;
  for (const int64_t of_gpc : layout.gpc_sms) {
    if (of_gpc % sim::sms_a_tpc != 0)
      fail_key(path, "gpc-sms",
               "'" + std::to_string(of_gpc) +
                   "' is not allowed; allowed: even numbers, a TPC has two SMs");
    sms += of_gpc;
    visits.emplace_back(static_cast<size_t>(of_gpc / sim::sms_a_tpc), 0);
  }
  if (sms != gpu.sms)
    fail_key(path, "gpc-sms",
             "has " + std::to_string(sms) + " SMs, sms " + std::to_string(gpu.sms));
  if (layout.gpc_half.size() != layout.gpc_sms.size())
    fail_key(path, "gpc-half", "needs a half for each GPC of gpc-sms");
  for (const sim::TpcRun& run : layout.cta_order) {
    if (run.gpc >= static_cast<int>(visits.size()))
      fail_key(path, "cta-order", "there is no GPC " + std::to_string(run.gpc));
    std::vector<int>& tpcs = visits[static_cast<size_t>(run.gpc)];
    const size_t end = run.tpcs > 0 ? static_cast<size_t>(run.first_tpc + run.tpcs) : tpcs.size();
    if (end > tpcs.size())
      fail_key(path, "cta-order",
               "GPC " + std::to_string(run.gpc) + " has " + std::to_string(tpcs.size()) + " TPCs");
    for (auto tpc = static_cast<size_t>(run.first_tpc); tpc < end; ++tpc) ++tpcs[tpc];
  }
  for (const std::vector<int>& tpcs : visits)
    for (const int count : tpcs)
      if (count < 1 || count != visits.front().front())
        fail_key(path, "cta-order", "needs each TPC once, or each one equally often");
}

}  // namespace

void check_gpu(const sim::Gpu& gpu, const std::string& path) {
  check_layout(gpu, path);
  for (const sim::LinkRates* rates : {&gpu.link_copy, &gpu.link_nccl})
    if (std::ranges::adjacent_find(*rates, std::ranges::greater_equal(), &sim::LinkRate::bytes) !=
        rates->end())
      fail_key(path, "link-copy-gb-per-s, link-nccl-gb-per-s", "sizes rise from one to the next");
  const double reserved = gpu.l2_reserved_share.value_or(0);
  const int64_t ways = gpu.l2_ways.value_or(1);
  if (reserved > 0 && (ways < 2 || reserved * double(ways) >= 1))
    fail_key(path, "l2-reserved-share",
             shortest(reserved) + " leaves sets of " + std::to_string(ways) +
                 " ways without one; allowed: 0, or below 1 / l2-ways with l2-ways from 2 on");
  if (gpu.l2_dirty_ways && *gpu.l2_dirty_ways > ways)
    fail_key(path, "l2-dirty-ways",
             std::to_string(*gpu.l2_dirty_ways) +
                 " is not allowed; allowed: up to l2-ways = " + std::to_string(ways));
  if (gpu.latency_near_ns && gpu.latency_far_ns && *gpu.latency_far_ns < *gpu.latency_near_ns)
    fail_key(path, "latency-far-ns",
             shortest(*gpu.latency_far_ns) + " is not allowed; allowed: from latency-near-ns = " +
                 shortest(*gpu.latency_near_ns) + " on");
}

}  // namespace sawtooth::experiments
