// SPDX-License-Identifier: MIT
// Parses the EMULATOR_* variables strictly: a typing error must not silently switch a checker off.
#include "cudart/options.h"

#include <cctype>
#include <charconv>
#include <string_view>
#include <unistd.h>

namespace emulator {
namespace {

[[noreturn]] void reject(const std::string& variable, const std::string& value,
                         const std::string& wanted) {
    throw BadOption(variable + "=" + value + ": " + wanted);
}

// Parses digits with an optional `e` exponent (2e9), since budgets are large.
uint64_t parse_number(const std::string& variable, const std::string& value, uint64_t low,
                      uint64_t high) {
    const std::string wanted = "a whole number from " + std::to_string(low) + " to " +
                               std::to_string(high) + " is expected";
    const char* end = value.data() + value.size();
    uint64_t number = 0;
    auto [next, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || next == value.data()) reject(variable, value, wanted);
    if (next != end) {
        unsigned exponent = 0;
        if (*next != 'e' && *next != 'E') reject(variable, value, wanted);
        const auto result = std::from_chars(next + 1, end, exponent);
        if (result.ec != std::errc{} || result.ptr != end || exponent > 19)
            reject(variable, value, wanted);
        for (; exponent > 0; --exponent)
            if (__builtin_mul_overflow(number, uint64_t(10), &number))
                reject(variable, value, wanted);
    }
    if (number < low || number > high) reject(variable, value, wanted);
    return number;
}

// Parses a number of bytes with an optional unit: 6G.
uint64_t parse_bytes(const std::string& variable, const std::string& value, uint64_t low,
                     uint64_t high) {
    const std::string_view units = "KMGT";
    const size_t unit =
        value.empty() ? units.npos
                      : units.find(char(std::toupper(static_cast<unsigned char>(value.back()))));
    const unsigned shift = unit == units.npos ? 0 : 10 * unsigned(unit + 1);
    uint64_t number = 0;
    const char* const end = value.data() + value.size() - (shift ? 1 : 0);
    const auto [next, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || next != end || number > high >> shift || number << shift < low)
        reject(
            variable, value, "a number of bytes from 1M to 1T is expected, such as 24G for 24 GiB");
    return number << shift;
}

}  // namespace

bool set_option(Options& options, const std::string& variable, const std::string& value) {
    if (variable == "EMULATOR_CHECKS") {
        if (value.empty())
            reject(variable,
                   value,
                   "`all`, `quick`, `none` or a comma-separated list of names is expected");
        options.checks = value;
    } else if (variable == "EMULATOR_REPORT") {
        options.report = value;
    } else if (variable == "EMULATOR_COUNTERS") {
        options.counters = value;
    } else if (variable == "EMULATOR_TRACE") {
        options.trace = value;
    } else if (variable == "EMULATOR_TIMELINE") {
        options.timeline = value;
    } else if (variable == "EMULATOR_WRITERS") {
        options.writers = parse_number(variable, value, 0, 1) == 1;
    } else if (variable == "EMULATOR_BUDGET") {
        options.budget = parse_number(variable, value, 1, UINT64_MAX);
    } else if (variable == "EMULATOR_ERROR_EXITCODE") {
        options.error_exit_code = int(parse_number(variable, value, 0, 255));
        if (*options.error_exit_code == 0) options.error_exit_code.reset();
    } else if (variable == "EMULATOR_DEVICES") {
        options.devices = int(parse_number(variable, value, 1, kMostDevices));
    } else if (variable == "EMULATOR_MEMORY") {
        options.memory = parse_bytes(variable, value, kLeastMemory, kMostMemory);
    } else if (variable == "EMULATOR_ARCH") {
        options.arch = unsigned(parse_number(variable, value, 75, 129));
    } else {
        return false;
    }
    return true;
}

Options options_from_environment(std::vector<std::string>& unknown) {
    Options options;
    for (char** entry = environ; entry && *entry; ++entry) {
        const std::string_view text = *entry;
        if (!text.starts_with("EMULATOR_")) continue;
        const size_t equals = text.find('=');
        const std::string name(text.substr(0, equals));
        const std::string value(equals == std::string_view::npos ? "" : text.substr(equals + 1));
        if (name == kSessionVariable || name == kFolderVariable || name == kProcessVariable)
            continue;
        if (!set_option(options, name, value)) unknown.push_back(name);
    }
    return options;
}

}  // namespace emulator
