// sawtooth calibrate: streams on the GPU at hand -> profile, raw counters, checks.
#include <iostream>
#include <sstream>

#include "experiments/sawtooth/calibrate/calibration.hpp"
#include "experiments/sawtooth/calibrate/fit_streams.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/measure/measure_points.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/provenance.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

std::string pci_bus_id() {
  char text[32] = {};
  SAWTOOTH_CUDA_CHECK(cudaDeviceGetPCIBusId(text, sizeof text, 0));
  return text;
}

MeasuredGpu measured_gpu(const Provenance& state, int64_t l2_bytes) {
  return {.description = state.value("name"),
          .sms = kernels::device_attribute(cudaDevAttrMultiProcessorCount),
          .l2_bytes = l2_bytes,
          .shared_memory_block_bytes =
              kernels::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .max_sm_clock_mhz = state.value("max-sm-clock-mhz"),
          .how = "driver " + state.value("driver") + ", " + state.value("utc")};
}

void write_all(OutputFolder& folder, StreamCampaign& campaign, const Calibration& result,
               const Arguments& arguments, int repetitions, const Provenance& before) {
  const Provenance after = gpu_state(pci_bus_id());
  const MeasuredGpu gpu = measured_gpu(after, campaign.l2().l2_bytes());
  folder.write("stream_counters.csv", stream_csv(result.rows));
  folder.write("sm_halves.csv", sm_halves_csv(campaign.streams().sms(), result));
  folder.write("line_halves.csv", line_halves_csv(result.halves));
  folder.write("figures.csv", figures_csv(result.figures));
  folder.write("checks.txt", checks_text(result.checks));
  std::string profile = gpu_profile_ini(gpu, result.figures);
  if (result.halves.halves == 2) {
    const StreamFit fit =
        fit_and_write(folder, result.rows, gpu.l2_bytes, gpu.sms, assumed_ways, gpu.how, std::cout);
    profile += fit_profile_ini(fit, gpu.how);
  }
  folder.write("gpu.ini", profile);
  Provenance run = program_provenance(arguments);
  run.add("replay-mode", "user ranges, user replay");
  run.add("state-control", "cold before every pass: write 4 x L2, read 4 x L2");
  run.add("repetitions", std::to_string(repetitions));
  run.add("replay-passes", std::to_string(campaign.plan().passes()));
  run.add("chip", campaign.profiler().chip());
  run.add("sms", std::to_string(gpu.sms));
  run.add("l2-bytes", std::to_string(gpu.l2_bytes));
  std::ostringstream provenance;
  write_provenance(provenance, "run", run);
  write_provenance(provenance, "gpu-before", before);
  write_provenance(provenance, "gpu-after", after);
  folder.write("provenance.ini", provenance.str());
}

int calibrate(const Settings& settings, const Arguments& arguments) {
  const int repetitions = std::stoi(value_or(settings, "repetitions", "3"));
  // Before anything is written: without a GPU or counters nothing half done stays behind.
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
  StreamCampaign campaign(dram_buffer_mib);
  const Provenance before = gpu_state(pci_bus_id());
  const std::string output = value_or(settings, "output", "runs/calibrate");
  std::vector<std::string> names{"stream_counters.csv", "sm_halves.csv", "line_halves.csv",
                                 "figures.csv",         "checks.txt",    "gpu.ini",
                                 "provenance.ini"};
  names.insert(names.end(), fit_files.begin(), fit_files.end());
  OutputFolder folder(output, names);
  const bool quiet = is_on(settings, "quiet");
  const Calibration result = run_calibration(campaign, repetitions, [&](const std::string& part) {
    if (!quiet) std::cerr << "calibrate: " << part << '\n';
  });
  write_all(folder, campaign, result, arguments, repetitions, before);
  std::cout << figures_text(result.figures) << checks_text(result.checks) << "written to " << output
            << "; draw with: sawtooth plot calibration " << output << "/stream_counters.csv";
  if (result.halves.halves == 2) std::cout << ' ' << output << "/model_counters.csv";
  std::cout << " -o " << output << "/streams\n";
  return all_passed(result.checks) ? exit_fine : exit_check_failed;
}

}  // namespace

int run_calibrate(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  if (const auto done = calibrate_recorded(parsed)) return *done;
  try {
    return calibrate(parsed.settings, arguments);
  } catch (const cupti::CounterError& error) {
    return report_no_device(error);
  } catch (const kernels::CudaError& error) {
    return report_no_device(error);
  }
}

}  // namespace sawtooth::experiments
