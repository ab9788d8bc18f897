// Nonlinear least squares with bounds: Levenberg-Marquardt (Marquardt, SIAM J. 1963) with central
// differences, each linear step solved by Eigen's pivoting QR.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sawtooth::experiments {

struct FreeParameter {
  std::string name;
  double value = 0;  // where to begin; the answer afterwards
  double low = 0;
  double high = 0;
  double step = 0;  // of the differences, and the scale on which a change is small
};

/// Deviations in units of their tolerances; the same number at every call.
using Residuals = std::function<std::vector<double>(const std::vector<FreeParameter>&)>;

/// Changes `parameters` until a step gains less than 0.2 % of the sum of squares, at most
/// `most_steps` times. Returns that sum. Steps may be large: a model that counts whole lines is no
/// smooth function. Throws std::invalid_argument when there are fewer residuals than parameters.
double minimise(std::vector<FreeParameter>& parameters, const Residuals& residuals, int most_steps);

}  // namespace sawtooth::experiments
