// Launches with records of items on the SMs of one GPU, and the paces of their CTAs.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "experiments/sawtooth/calibrate/item_records.hpp"
#include "experiments/sawtooth/support/statistics.hpp"

namespace sawtooth::experiments {

using Launches = std::vector<const RecordedLaunch*>;

// The kernels from whose paces products, exponentials and the rest are told apart.
inline const KernelShape narrow{64, {128, 128}}, thin{64, {128, 64}}, wide{128, {128, 64}},
    large{128, {128, 128}};

/// Standard deviation of a normal distribution over its median absolute deviation.
inline constexpr double normal = 1.4826;

/// Whether they have one section in a kernel's file.
bool same(const KernelShape& a, const KernelShape& b);

double mean_of(const std::vector<double>& values);

/// Median of what `value` gives for each launch.
template <class Value>
double median_over(const Launches& launches, Value value) {
  std::vector<double> values;
  for (const RecordedLaunch* launch : launches) values.push_back(value(*launch));
  return median_of(std::move(values));
}

template <class Value>
double mean_over(const Launches& launches, Value value) {
  double sum = 0;
  for (const RecordedLaunch* launch : launches) sum += value(*launch);
  return sum / double(launches.size());
}

/// The first item of a CTA.
const RecordedItem& first(const RecordedLaunch& launch, int64_t cta);

/// SMs have numbers in the order in which CTAs come to them. `launches` must outlive this;
/// `item_ns` pass between the steps of two items.
class RecordedSms {
 public:
  RecordedSms(const std::vector<RecordedLaunch>& launches, const sim::Gpu& gpu, double item_ns);

  const std::vector<RecordedLaunch>& launches() const { return launches_; }
  int64_t count() const { return count_; }
  double item_ns() const { return item_ns_; }
  /// The SMs of each GPC.
  const std::vector<std::vector<int64_t>>& gpcs() const { return gpcs_; }
  /// When the TPC of each SM starts, in the order of its GPC's TPCs.
  const std::vector<double>& turns() const { return turns_; }
  /// The older and the younger CTA of each SM.
  const std::vector<std::pair<int64_t, int64_t>>& sharers() const { return sharers_; }

  template <class Chosen>
  Launches select(Chosen chosen) const {
    Launches selected;
    for (const RecordedLaunch& launch : launches_)
      if (chosen(launch)) selected.push_back(&launch);
    return selected;
  }
  /// Steady ones of a kernel with so many CTAs an SM.
  Launches steady(const KernelShape& kernel, int64_t an_sm, bool prefetches) const;
  /// One CTA an SM, without prefetch.
  bool is_lone(const RecordedLaunch& launch) const;

  /// The older or the younger CTA of an SM, of a launch of one CTA an SM the one that there is.
  int64_t cta_of(const RecordedLaunch& launch, int64_t sm, bool younger) const;
  /// ns a step on each SM, of its older or its younger CTA.
  std::vector<double> paces(const RecordedLaunch& launch, bool younger = false) const;
  /// ns a step of a kernel without prefetch, of the older and the younger CTA alike.
  std::optional<double> pace_of(const KernelShape& kernel, int64_t an_sm) const;
  /// Exponentials of a 128 x 128 tile, in ns: between 128x128 at head dim 64 and 128x64 at 128 half
  /// of them alone differ.
  std::optional<double> exp_ns() const;

 private:
  const std::vector<RecordedLaunch>& launches_;
  int64_t count_;
  double item_ns_;
  std::vector<double> turns_;
  std::vector<std::vector<int64_t>> gpcs_;
  std::vector<std::pair<int64_t, int64_t>> sharers_;
};

}  // namespace sawtooth::experiments
