#include "experiments/sawtooth/calibrate/calibration_profile.hpp"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace sawtooth::experiments {
namespace {

class Profile {
 public:
  void parameter(std::string_view key, const std::string& value, const std::string& note) {
    text_ << key << " = " << value << "; measured; " << note << "\n";
  }

  /// The figure `name` times `factor`, as a whole number of `unit` when `whole`.
  void figure(const std::vector<Figure>& figures, std::string_view key, std::string_view name,
              double factor = 1) {
    const Figure* found = find_figure(figures, name);
    if (found == nullptr) return;
    parameter(key, std::to_string(std::llround(found->value * factor)), found->how);
  }

  std::ostringstream& text() { return text_; }

 private:
  std::ostringstream text_;
};

}  // namespace

std::string gpu_profile_ini(const MeasuredGpu& gpu, const std::vector<Figure>& figures) {
  Profile profile;
  profile.text() << "# Written by `sawtooth calibrate`; " << gpu.how << "\n"
                 << "# Ways of L2 cannot be told from these streams: sets are hashed.\n\n"
                 << "[gpu]\ndescription = " << gpu.description << "\n";
  profile.parameter("sms", std::to_string(gpu.sms), "cudaDevAttrMultiProcessorCount");
  profile.parameter("l2-bytes", std::to_string(gpu.l2_bytes), "cudaDevAttrL2CacheSize");
  profile.figure(figures, "l2-halves", "halves");
  profile.figure(figures, "dram-gb-per-s", "dram_read_bandwidth");
  profile.figure(figures, "l2-gb-per-s", "l2_bandwidth");
  profile.figure(figures, "latency-near-ns", "latency_near_ns");
  profile.figure(figures, "latency-far-ns", "latency_far_ns");
  profile.figure(figures, "latency-dram-ns", "latency_dram_ns");
  if (gpu.max_sm_clock_mhz != "unknown") {
    profile.parameter("sm-clock-mhz", gpu.max_sm_clock_mhz, "NVML's largest SM clock");
  }
  profile.parameter("shared-memory-block-bytes", std::to_string(gpu.shared_memory_block_bytes),
                    "cudaDevAttrMaxSharedMemoryPerBlockOptin");
  return profile.text().str();
}

std::string die_ini(const std::string& uuid_hash, const std::string& name,
                    const std::vector<int>& half_of_sm, const std::string& how) {
  std::ostringstream text;
  text << "# Facts of one die, written by `sawtooth calibrate`; " << how
       << "\n[die]\ndescription = " << name << "\nuuid-hash = " << uuid_hash << "\nsm-half = ";
  for (size_t i = 0; i < half_of_sm.size(); ++i) text << (i == 0 ? "" : ",") << half_of_sm[i];
  text << "; measured; half of L2 that each SM sits at, by SM rank (ascending SM id); the first SM "
          "defines half 0\n";
  return text.str();
}

}  // namespace sawtooth::experiments
