// The scripts in plots/, run by a Python that has what they need.
#pragma once

#include <string>
#include <vector>

namespace sawtooth::experiments {

/// Runs SCRIPT of plots/ with a Python ($SAWTOOTH_PYTHON, python3, /usr/bin/python3) that has
/// `module` (empty: the standard library is enough) and waits for it: its exit code. Throws
/// UsageError that says in one line how to get one where there is none, or no script.
int run_plot_script(const std::string& script, const std::string& module,
                    const std::vector<std::string>& arguments);

/// Draws what the folder's tables allow into FOLDER/plots. Where that is not possible one line on
/// standard error says so; results never depend on pictures.
void draw_run(const std::string& folder);

}  // namespace sawtooth::experiments
