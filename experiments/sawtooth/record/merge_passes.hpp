// The launches of a program from several runs of it, one replay pass a run.
// A launch is the same in two runs when its process, its number among the matching launches of the
// process, its name and its grid are.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "cupti/inject/pass_file.hpp"

namespace sawtooth::experiments {

/// What one run of the command left.
struct PassRecord {
  std::vector<inject::ProcessRecord> processes;
  bool complete = true;  // the command ended by itself and with 0
};

/// The program does not repeat its launches, so that its passes cannot be put together.
class PassMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct MergedLaunch {
  size_t process = 0;                                 // by order of starting CUDA
  inject::LaunchRecord first;                         // as the first pass, the timed one, saw it
  int64_t passes = 0;                                 // that counted it
  std::map<std::string, std::vector<double>> values;  // metric -> a value a pass that read it
  std::string status = "ok";  // the first that is not ok, else "incomplete" where a pass lacks it
  std::string message;
};

/// `passes[0]` is the timed run; `wanted` how many there were to be. Runs that did not complete may
/// have fewer launches than the others. Throws PassMismatch.
std::vector<MergedLaunch> merge_passes(const std::vector<PassRecord>& passes, size_t wanted);

/// Notes of all processes and passes, each once.
std::vector<std::string> notes_of(const std::vector<PassRecord>& passes);

}  // namespace sawtooth::experiments
