// Nonlinear least squares with bounds: Levenberg-Marquardt (Marquardt, SIAM J. 1963), each linear
// step solved by Eigen's pivoting QR.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sawtooth::experiments {

struct FreeParameter {
  std::string name;
  double value = 0;  // where to begin; the answer afterwards
  double low = 0, high = 0;
  double step = 0;  // of the differences, and the scale on which a change is small
};

/// Deviations in units of their tolerances; the same number at every call.
using Residuals = std::function<std::vector<double>(const std::vector<FreeParameter>&)>;
/// By parameter, what each of these deviations changes by a step of it.
using Slopes = std::function<std::vector<std::vector<double>>(
    const std::vector<FreeParameter>&, const std::vector<double>& deviations)>;

struct Minimum {
  double sum = 0;  // of squares
  // Standard deviation of each parameter, where the scatter is the tolerance or, if that is more,
  // what is left; a step of a parameter that nothing depends on.
  std::vector<double> deviations;
};

/// Changes `parameters` until a step gains less than 0.2 % of the sum of squares, at most
/// `most_steps` times. Steps may be large: a model that counts whole lines is no smooth function.
/// Without `slopes` they are central differences. Throws std::invalid_argument when there are fewer
/// residuals than parameters.
Minimum minimise(std::vector<FreeParameter>& parameters, const Residuals& residuals, int most_steps,
                 const Slopes& slopes = {});

}  // namespace sawtooth::experiments
