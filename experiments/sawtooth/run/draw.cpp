#include "experiments/sawtooth/run/draw.hpp"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>

#include "experiments/sawtooth/support/resources.hpp"

extern char** environ;

namespace sawtooth::experiments {
namespace {

// Runs a program and waits for it: its exit code, or -1 when it could not be started or was killed.
int run_program(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  if (posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    return -1;
  }
  int status = 0;
  if (waitpid(process, &status, 0) != process || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

std::optional<std::string> python_with_matplotlib() {
  const char* chosen = std::getenv("SAWTOOTH_PYTHON");
  // Exit code 0 only where the module is found; it is not loaded, so nothing is printed.
  const std::string probe =
      "import importlib.util as u; raise SystemExit(u.find_spec('matplotlib') is None)";
  for (const std::string& python : {std::string(chosen == nullptr ? "" : chosen),
                                    std::string("python3"), std::string("/usr/bin/python3")}) {
    if (!python.empty() && run_program({python, "-c", probe}) == 0) return python;
  }
  return std::nullopt;
}

}  // namespace

void draw_run(const std::string& folder) {
  const std::string script = plot_script("run.py");
  if (!std::filesystem::exists(script)) {
    std::cerr << "note: " << script << " is not there: no figures\n";
    return;
  }
  const auto python = python_with_matplotlib();
  if (!python) {
    std::cerr << "note: no python3 with matplotlib: no figures; later: python3 " << script << " "
              << folder << "\n";
    return;
  }
  std::cout << std::flush;
  if (run_program({*python, script, folder}) != 0) {
    std::cerr << "note: " << script << " could not draw " << folder << "\n";
  }
}

}  // namespace sawtooth::experiments
