#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/finding_parts.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr double apart = 0.002;  // a TPC further from its GPC's median has a speed of its own

/// Of each SM, as a share of a step of its CTA: the median over the TPCs of its GPC, and of a TPC
/// that is apart from that its own; the two SMs of a TPC count alike.
std::vector<double> slowness(const RecordedSms& sms, const RecordedLaunch& launch, bool younger) {
  const std::vector<double> paces_of_sms = sms.paces(launch, younger);
  const double usual = median_of(paces_of_sms);
  std::vector<double> shares(paces_of_sms.size());
  for (const std::vector<int64_t>& gpc : sms.gpcs()) {
    std::vector<double> tpcs;
    for (size_t i = 0; i + 1 < gpc.size(); i += 2)
      tpcs.push_back((paces_of_sms[size_t(gpc[i])] + paces_of_sms[size_t(gpc[i + 1])]) / 2 / usual -
                     1);
    const double of_gpc = median_of(tpcs);
    for (size_t i = 0; i < gpc.size(); ++i) {
      const double own = tpcs[i / 2];
      shares[size_t(gpc[i])] = std::abs(own - of_gpc) > apart ? own : of_gpc;
    }
  }
  const double middle = median_of(shares);
  for (double& share : shares) share -= middle;
  return shares;
}

void add_slowness(const RecordedSms& sms, std::vector<Parameter>& parameters,
                  const std::string& key, const Launches& launches, bool younger) {
  std::vector<std::vector<double>> of_launches;
  for (const RecordedLaunch* launch : launches)
    of_launches.push_back(slowness(sms, *launch, younger));
  std::string text;
  for (size_t sm = 0; sm < size_t(sms.count()); ++sm) {
    std::vector<double> values;
    for (const auto& shares : of_launches) values.push_back(shares[sm]);
    text.append(sm == 0 ? "" : ",").append(fixed(median_of(std::move(values)), 6));
  }
  parameters.push_back({key, text, "measured",
                        "median of " + std::to_string(launches.size()) +
                            " launches; in the order in which CTAs come to SMs",
                        0});
}

double start_spread(const RecordedSms& sms, const RecordedLaunch& launch) {
  std::vector<double> spreads;
  for (const std::vector<int64_t>& gpc : sms.gpcs()) {
    std::vector<int64_t> starts;
    for (size_t i = 0; i < gpc.size(); i += 2) starts.push_back(first(launch, gpc[i]).start_ns);
    const auto [low, high] = std::ranges::minmax(starts);
    spreads.push_back(double(high - low));
  }
  return median_of(std::move(spreads));
}

/// SMs of the GPCs that draw the first tickets: those at the half of L2 that has the counter.
std::set<int64_t> near_tickets(const RecordedSms& sms, const Launches& dynamic) {
  std::set<int64_t> near;
  for (const std::vector<int64_t>& gpc : sms.gpcs()) {
    const double mean = median_over(dynamic, [&](const RecordedLaunch& launch) {
      double sum = 0;
      for (const int64_t cta : gpc) sum += double(first(launch, cta).item);
      return sum / double(gpc.size());
    });
    if (mean < double(sms.count() - 1) / 2) near.insert(gpc.begin(), gpc.end());
  }
  if (static_cast<int64_t>(near.size()) != sms.count() / 2)
    throw std::invalid_argument(
        "first tickets do not tell the halves of L2 apart: " + std::to_string(near.size()) +
        " SMs draw early ones, where a half has " + std::to_string(sms.count() / 2) +
        "; record more launches with tickets");
  return near;
}

}  // namespace

void add_start_spread(const RecordedSms& sms, ItemFindings& found, const Launches& lone) {
  add_finding(found.gpu, "start-spread-ns",
              median_over(lone, [&](auto& l) { return start_spread(sms, l); }), 0,
              "from the first TPC of a GPC to its last");
}

void add_speeds(const RecordedSms& sms, ItemFindings& found, const Launches& lone) {
  std::map<std::string, KernelShape> kernels;
  for (const RecordedLaunch& l : sms.launches())
    kernels.emplace(kernel_section(l.kernel.head_dim, l.kernel.tiling), l.kernel);
  auto& all = found.speeds.emplace_back(ProfileSection{std::string(every_kernel), {}, 0});
  add_slowness(sms, all.parameters, "slowness", lone, false);
  for (const auto& [name, kernel] : kernels) {
    ProfileSection own{name, {}, 0};
    const Launches alone = sms.steady(kernel, 1, false), shared = sms.steady(kernel, 2, false);
    if (!alone.empty()) add_slowness(sms, own.parameters, "slowness", alone, false);
    if (!shared.empty()) {
      add_slowness(sms, own.parameters, "slowness-older", shared, false);
      add_slowness(sms, own.parameters, "slowness-younger", shared, true);
    }
    if (!own.parameters.empty()) found.speeds.push_back(std::move(own));
  }
}

void add_halves(const RecordedSms& sms, ItemFindings& found) {
  const Launches dynamic = sms.select(
      [&](const RecordedLaunch& l) { return l.has_ctas(1, sms.count()) && l.launch == "dynamic"; });
  if (dynamic.empty()) return;
  const std::set<int64_t> near = near_tickets(sms, dynamic);
  const double hop = median_over(dynamic, [&](const RecordedLaunch& l) {
    double far_ns = 0, near_ns = 0;
    for (int64_t cta = 0; cta < sms.count(); ++cta)
      (near.contains(cta) ? near_ns : far_ns) += double(first(l, cta).start_ns);
    return (far_ns - near_ns) / (double(sms.count()) / 2);
  });
  add_finding(found.gpu, "ticket-hop-ns", hop, 0,
              "how much later the first items of the far half's SMs begin");
  std::string halves;
  for (int64_t sm = 0; sm < sms.count(); ++sm)
    halves += std::string(sm == 0 ? "" : ",") + (near.contains(sm) != near.contains(0) ? "1" : "0");
  found.die.parameters = {{"cta-half", halves, "measured",
                           "GPCs that draw the first tickets in " + std::to_string(dynamic.size()) +
                               " launches sit at one half of L2; 0 is that of the first CTA",
                           0},
                          {"ticket-half", near.contains(0) ? "0" : "1", "measured",
                           "half whose SMs draw the first tickets", 0}};
}

}  // namespace sawtooth::experiments
