// What a chip can count, asked of CUPTI's Profiler Host API: needs libcupti and libnvperf_host,
// but neither a GPU nor a driver, because a chip's name ("GH100") is enough.
// Source: CUPTI documentation, "Range Profiling" and cupti_profiler_host.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sawtooth::cupti {

struct MetricInfo {
  std::string name;  // base name; a rollup such as ".sum" completes it
  std::string kind;  // counter, ratio or throughput
  std::string unit;
  std::string description;
};

/// Chips that the installed CUPTI knows. Throws CounterError (no_cupti, no_nvperf_host).
std::vector<std::string> known_chips();

/// Version of the installed CUPTI as its headers number it (130000 is CUDA 13.0), and its folder.
struct CuptiVersion {
  uint32_t version = 0;
  std::string folder;
};
CuptiVersion cupti_version();

/// Base metrics of `chip` whose name contains `match` (all when empty), sorted by name.
/// Throws CounterError (chip_unknown and what known_chips throws).
std::vector<MetricInfo> list_metrics(const std::string& chip, std::string_view match = {});

/// Metrics scheduled together: a config image for the device and the evaluation of what comes back.
/// Copies share one CUPTI host object, to which metrics can only be added.
class MetricGroup {
 public:
  /// `metrics` carry their rollups ("lts__t_sectors.sum"). `availability` is the device's counter
  /// availability image; empty means that everything the chip has is available.
  /// Throws CounterError (unknown_metric, metric_not_schedulable, chip_unknown ...), naming the
  /// first metric that is at fault.
  MetricGroup(const std::string& chip, std::vector<std::string> metrics,
              const std::vector<uint8_t>& availability = {});

  const std::vector<std::string>& metrics() const;
  int64_t passes() const;
  const std::vector<uint8_t>& config_image() const;

  /// Values of metrics() for one range of a decoded counter data image.
  std::vector<double> evaluate(std::span<const uint8_t> counter_data, size_t range) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// Passes that `metrics` need together on `chip`; throws as MetricGroup does.
int64_t passes_of(const std::string& chip, const std::vector<std::string>& metrics,
                  const std::vector<uint8_t>& availability = {});

}  // namespace sawtooth::cupti
