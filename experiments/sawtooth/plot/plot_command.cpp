#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <regex>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/programs.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

std::string python_with(const std::string& module) {
  const char* chosen = std::getenv("SAWTOOTH_PYTHON");
  // Exit code 0 only where the module is found; it is not loaded, so nothing is printed.
  // Nor does a folder of that name here count.
  const std::string probe =
      "import importlib.util as u, sys; sys.path = [p for p in sys.path if p]" +
      std::string("; raise SystemExit(u.find_spec('") + (module.empty() ? "csv" : module) +
      "') is None)";
  for (const std::string& python : {std::string(chosen == nullptr ? "" : chosen),
                                    std::string("python3"), std::string("/usr/bin/python3")})
    if (!python.empty() && run_program({python, "-c", probe}) == 0) return python;
  throw UsageError("no python3" + (module.empty() ? "" : " with " + module) +
                   ": apt install python3-" +
                   (module.empty() ? "minimal" : module + ", or pip install " + module) +
                   "; $SAWTOOTH_PYTHON names one that is not on the path");
}

// Runs SCRIPT of plots/ with a Python ($SAWTOOTH_PYTHON, python3, /usr/bin/python3) that has
// `module` (empty: the standard library is enough) and waits for it: its exit code. Throws
// UsageError that says in one line how to get one where there is none, or no script.
int run_plot_script(const std::string& script, const std::string& module,
                    const std::vector<std::string>& arguments) {
  const std::string path = resource_file("../plots/" + script);
  if (!std::filesystem::exists(path)) throw UsageError(path + ": is not there");
  // An empty entry is the working directory, where any file could take the place of a module.
  const char* given = std::getenv("PYTHONPATH");
  const std::regex empty_entries("^:+|:+(?=:|$)");
  if (given != nullptr)
    setenv("PYTHONPATH", std::regex_replace(std::string(given), empty_entries, "").c_str(), 1);
  std::vector<std::string> words{python_with(module), path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::cout << std::flush;
  const int code = run_program(words);
  if (code < 0) throw std::runtime_error(path + ": Python was killed");
  return code;
}

}  // namespace

void draw_run(const std::string& folder, const std::string& page) {
  const auto made = [](const char* what, const char* script, const char* module,
                       const std::vector<std::string>& arguments) {
    try {
      if (run_plot_script(script, module, arguments) != 0)
        std::cerr << "note: no " << what << ": it could not be made\n";
    } catch (const std::runtime_error& error) {
      std::cerr << "note: no " << what << ": " << error.what() << "\n";
    }
  };
  made("figures", "plot.py", "matplotlib", {"run", folder, "-o", folder + "/plots"});
  made("page", "report.py", "", {folder, "-o", page});
}

int run_plot(const Command&, const Arguments& arguments) {
  if (arguments.empty()) throw UsageError("plot: needs a figure; `sawtooth plot --list` has them");
  // What lists the figures needs the standard library alone.
  const bool draws = !arguments.front().starts_with('-');
  return run_plot_script("plot.py", draws ? "matplotlib" : "", arguments);
}

int run_report(const Command&, const Arguments& arguments) {
  return run_plot_script("report.py", "", arguments);
}

}  // namespace sawtooth::experiments
