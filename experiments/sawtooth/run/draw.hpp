// Figures of a run, drawn by the scripts in plots/ where a Python with matplotlib is.
#pragma once

#include <string>

namespace sawtooth::experiments {

/// Draws what the folder's tables allow into FOLDER/plots. Without a Python that has matplotlib
/// ($SAWTOOTH_PYTHON, python3, /usr/bin/python3), without the scripts, or where drawing fails, one
/// line on standard error says so; results never depend on pictures.
void draw_run(const std::string& folder);

}  // namespace sawtooth::experiments
