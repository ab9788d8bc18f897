// Figures of a run, by the scripts in plots/.
#pragma once

#include <string>

namespace sawtooth::experiments {

/// Draws what the folder's tables allow into FOLDER/plots, and writes FOLDER/report.html. Where
/// that is not possible one line on standard error says so; results never depend on pictures.
void draw_run(const std::string& folder);

}  // namespace sawtooth::experiments
