// What item_findings.cpp puts together: each part adds what the records show of one subject, and
// nothing where they do not show it.
#pragma once

#include <string>

#include "experiments/sawtooth/calibrate/item_findings.hpp"
#include "experiments/sawtooth/calibrate/recorded_sms.hpp"

namespace sawtooth::experiments {

/// A value with its note, as measured in records of items.
void add_finding(std::vector<Parameter>& parameters, std::string key, double value, int decimals,
                 std::string note);

/// The parameters of a section of the kernels' file, new ones at its end.
std::vector<Parameter>& kernel_findings(ItemFindings& found, const std::string& section);
std::vector<Parameter>& kernel_findings(ItemFindings& found, const KernelShape& kernel);

// die_findings.cpp. `lone`: steady launches of one CTA an SM.
void add_start_spread(const RecordedSms& sms, ItemFindings& found, const Launches& lone);
/// Throws std::invalid_argument where first tickets do not tell the halves of L2 apart.
void add_halves(const RecordedSms& sms, ItemFindings& found);
void add_speeds(const RecordedSms& sms, ItemFindings& found, const Launches& lone);

// step_findings.cpp
void add_step_costs(const RecordedSms& sms, ItemFindings& found);
void add_jitter(const RecordedSms& sms, ItemFindings& found, const Launches& lone);
void add_tpc_spreads(const RecordedSms& sms, ItemFindings& found);
/// Of the older CTAs, where two share an SM.
double jitter(const RecordedSms& sms, const RecordedLaunch& launch);
/// Standard deviation of the GPCs' slowness, as a share of their mean.
double sm_spread(const RecordedSms& sms, const RecordedLaunch& launch);
double tpc_spread(const RecordedSms& sms, const RecordedLaunch& launch);
/// (younger - older) / (younger + older), times of a step of the two CTAs of an SM.
double bias(const RecordedSms& sms, const RecordedLaunch& launch);
void add_biases(const RecordedSms& sms, ItemFindings& found);

// prefetch_findings.cpp
void add_prefetch_costs(const RecordedSms& sms, ItemFindings& found);

// item_time_findings.cpp
void add_items(const RecordedSms& sms, ItemFindings& found);
/// What an item takes beyond its steps, and what a step takes: the line through all items of the
/// launches, of which one has some. Items of one length are all steps.
struct ItemTime {
  double item_ns = 0;
  double step_ns = 0;
};
ItemTime item_time_of(const Launches& launches);
/// One CTA an SM, with enough items, of lengths that differ.
bool is_unequal(const RecordedSms& sms, const RecordedLaunch& launch);

}  // namespace sawtooth::experiments
