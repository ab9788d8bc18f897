#include "experiments/sawtooth/calibrate/least_squares.hpp"

#include <algorithm>
#include <stdexcept>

#include <Eigen/Dense>

namespace sawtooth::experiments {
namespace {

Eigen::VectorXd mapped(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), Eigen::Index(values.size()));
}

Eigen::VectorXd evaluate(const Residuals& residuals, const std::vector<FreeParameter>& parameters) {
  const std::vector<double> values = residuals(parameters);
  if (values.size() < parameters.size())
    throw std::invalid_argument("least squares: fewer readings than parameters");
  return mapped(values);
}

/// Central differences inside the bounds, per step of each parameter.
Eigen::MatrixXd jacobian(const Residuals& residuals, const std::vector<FreeParameter>& parameters,
                         Eigen::Index rows) {
  Eigen::MatrixXd matrix(rows, Eigen::Index(parameters.size()));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const FreeParameter& p = parameters[i];
    std::vector<FreeParameter> moved = parameters;
    moved[i].value = std::min(p.high, p.value + p.step);
    const double up = moved[i].value;
    const Eigen::VectorXd above = evaluate(residuals, moved);
    moved[i].value = std::max(p.low, p.value - p.step);
    const double steps = (up - moved[i].value) / p.step;
    matrix.col(Eigen::Index(i)) = (above - evaluate(residuals, moved)) / steps;
  }
  return matrix;
}

std::vector<FreeParameter> stepped(std::vector<FreeParameter> parameters,
                                   const Eigen::VectorXd& steps) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    FreeParameter& p = parameters[i];
    p.value = std::clamp(p.value + steps[Eigen::Index(i)] * p.step, p.low, p.high);
  }
  return parameters;
}

/// The damped Gauss-Newton step, without the parameters that it would push over a bound that they
/// stand at.
Eigen::VectorXd damped_step(Eigen::MatrixXd slopes, const Eigen::VectorXd& current, double damping,
                            const std::vector<FreeParameter>& parameters) {
  const Eigen::Index n = slopes.cols();
  Eigen::VectorXd right(current.size() + n);
  right << -current, Eigen::VectorXd::Zero(n);
  while (true) {
    Eigen::MatrixXd matrix(current.size() + n, n);
    matrix << slopes, std::sqrt(damping) * Eigen::MatrixXd::Identity(n, n);
    const Eigen::VectorXd step = matrix.colPivHouseholderQr().solve(right);
    bool held = false;
    for (Eigen::Index i = 0; i < n; ++i) {
      const FreeParameter& p = parameters[static_cast<size_t>(i)];
      const bool outwards = (p.value >= p.high && step[i] > 0) || (p.value <= p.low && step[i] < 0);
      if (!outwards) continue;
      slopes.col(i).setZero();  // its step becomes 0
      held = true;
    }
    if (!held) return step;
  }
}

}  // namespace

Minimum minimise(std::vector<FreeParameter>& parameters, const Residuals& residuals, int most_steps,
                 const Slopes& slopes) {
  constexpr double enough = 0.998;  // of the sum of squares
  constexpr int most_trials = 5;
  Eigen::VectorXd current = evaluate(residuals, parameters);
  Eigen::MatrixXd matrix;
  double sum = current.squaredNorm();
  double damping = 0.01 * double(current.size());
  for (int step = 0; step < most_steps; ++step) {
    if (!slopes) {
      matrix = jacobian(residuals, parameters, current.size());
    } else {
      matrix.resize(current.size(), Eigen::Index(parameters.size()));
      Eigen::Index column = 0;
      for (const auto& slope : slopes(parameters, {current.begin(), current.end()}))
        matrix.col(column++) = mapped(slope);
    }
    bool gained = false;
    for (int trial = 0; trial < most_trials; ++trial) {
      const auto moved = stepped(parameters, damped_step(matrix, current, damping, parameters));
      const Eigen::VectorXd next = evaluate(residuals, moved);
      if (next.squaredNorm() >= sum) {
        damping *= 4;
        continue;
      }
      gained = next.squaredNorm() < enough * sum;
      current = next;
      sum = current.squaredNorm();
      parameters = moved;
      damping /= 3;
      break;
    }
    if (!gained) break;
  }
  Eigen::MatrixXd squares = matrix.transpose() * matrix;
  for (Eigen::Index i = 0; i < squares.cols(); ++i)
    if (squares(i, i) == 0) squares(i, i) = 1;
  const Eigen::MatrixXd spread = squares.inverse();
  const double spare = std::max(1.0, double(current.size() - matrix.cols()));
  Minimum found{sum, {}};
  for (size_t i = 0; i < parameters.size(); ++i)
    found.deviations.push_back(parameters[i].step *
                               std::sqrt(std::max(0.0, spread(Eigen::Index(i), Eigen::Index(i))) *
                                         std::max(1.0, sum / spare)));
  return found;
}

}  // namespace sawtooth::experiments
