#include "experiments/sawtooth/record/merge_passes.hpp"

#include <algorithm>

namespace sawtooth::experiments {
namespace {

using inject::LaunchRecord;
using inject::ProcessRecord;

std::string described(const LaunchRecord& launch) {
  return "'" + launch.name + "' of grid " + (launch.grid.empty() ? "none" : launch.grid);
}

/// "run 3, process 0" as a person counts runs.
std::string place_of(size_t pass, size_t process) {
  return "run " + std::to_string(pass + 1) + ", process " + std::to_string(process);
}

void require_same(const LaunchRecord& first, const LaunchRecord& other, const std::string& place,
                  size_t number) {
  if (first.name == other.name && first.grid == other.grid && first.block == other.block) return;
  throw PassMismatch(place + ": matching launch " + std::to_string(number) + " is " +
                     described(other) + ", in run 1 it was " + described(first));
}

void require_as_many(size_t first, size_t other, bool both_complete, const std::string& what) {
  if (first == other || !both_complete) return;
  throw PassMismatch(what + ": " + std::to_string(other) + ", in run 1 " + std::to_string(first));
}

void add_pass(MergedLaunch& merged, const LaunchRecord& launch) {
  if (merged.status == "ok" && launch.status != "ok") {
    merged.status = launch.status;
    merged.message = launch.message;
  }
  if (launch.values.empty()) return;
  ++merged.passes;
  for (const auto& [metric, value] : launch.values) merged.values[metric].push_back(value);
}

void merge_process(std::vector<MergedLaunch>& all, const std::vector<PassRecord>& passes,
                   size_t process, size_t wanted) {
  const ProcessRecord& first = passes.front().processes[process];
  std::vector<MergedLaunch> merged;
  for (const LaunchRecord& launch : first.launches) {
    MergedLaunch one;
    one.process = process;
    one.first = launch;
    one.status = launch.status;
    one.message = launch.message;
    merged.push_back(std::move(one));
  }
  std::vector<size_t> seen(merged.size(), 1);
  for (size_t pass = 1; pass < passes.size(); ++pass) {
    const PassRecord& other = passes[pass];
    if (process >= other.processes.size()) continue;
    const std::string place = place_of(pass, process);
    const std::vector<LaunchRecord>& launches = other.processes[process].launches;
    require_as_many(first.launches.size(), launches.size(),
                    passes.front().complete && other.complete, place + ", matching launches");
    for (size_t i = 0; i < std::min(launches.size(), merged.size()); ++i) {
      require_same(merged[i].first, launches[i], place, i);
      add_pass(merged[i], launches[i]);
      ++seen[i];
    }
  }
  for (size_t i = 0; i < merged.size(); ++i) {
    if (merged[i].status == "ok" && seen[i] < wanted) {
      merged[i].status = "incomplete";
      merged[i].message = "only " + std::to_string(seen[i]) + " of " + std::to_string(wanted) +
                          " runs of the command finished this launch";
    }
    all.push_back(std::move(merged[i]));
  }
}

}  // namespace

std::vector<MergedLaunch> merge_passes(const std::vector<PassRecord>& passes, size_t wanted) {
  std::vector<MergedLaunch> all;
  if (passes.empty()) return all;
  const PassRecord& first = passes.front();
  for (size_t pass = 1; pass < passes.size(); ++pass) {
    const PassRecord& other = passes[pass];
    require_as_many(first.processes.size(), other.processes.size(),
                    first.complete && other.complete,
                    "run " + std::to_string(pass + 1) + ", processes that use CUDA");
  }
  for (size_t process = 0; process < first.processes.size(); ++process)
    merge_process(all, passes, process, wanted);
  return all;
}

std::vector<std::string> notes_of(const std::vector<PassRecord>& passes) {
  std::vector<std::string> notes;
  for (const PassRecord& pass : passes) {
    for (const ProcessRecord& process : pass.processes) {
      for (const std::string& note : process.notes) {
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
      }
    }
  }
  return notes;
}

}  // namespace sawtooth::experiments
