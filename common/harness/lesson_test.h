// SPDX-License-Identifier: MIT
// What the lesson tests share: comparing arrays so that a failure shows where and what, and the
// emulator's counters. A lesson's test includes this, its lesson's interface, and nothing else.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <dlfcn.h>

#include "catch/catch.h"
#include "common/emulator/emulator_api.h"
#include "common/host/cuda_check.h"
#include "common/host/data.h"
#include "common/host/device_buffer.h"
#include "grader/test_body.h"
#include "report/compare.h"
#include "report/counted.h"
#include "report/details.h"

namespace wb {
namespace {

// A mistake that the author of a test knows: what it would make of the same input.
template <class T>
struct Mistake {
    const char* words;                       // completes "looks like: ", without giving the repair
    std::function<std::vector<T>()> values;  // called only for a wrong answer
};

// Tells the grader which of these mistakes give exactly what the answer is, where it is wrong. For
// display only: it decides nothing. Of several calls in a test case that find something wrong, only
// what all of them name is told: give the mistakes of one array in one call.
template <class T>
void recognize(
    const std::vector<T>& got, const std::vector<T>& want, const std::vector<Mistake<T>>& mistakes,
    std::function<double(size_t)> tolerance = [](size_t) { return 0.0; }) {
    if (!details::wanted() || unexplained() || got.size() != want.size()) return;
    // Wider than the test's own tolerance: a mistake may round in another way.
    const auto close = [&](T a, T b, size_t i) {
        if (a == b || (a != a && b != b)) return true;
        if (!std::isfinite(double(a)) || !std::isfinite(double(b))) return false;
        const double scale = std::is_floating_point_v<T> ? 1e-5 * std::fabs(double(b)) : 0.0;
        return difference(a, b) <= std::max(tolerance(i), scale);
    };
    std::vector<size_t> wrong;
    for (size_t i = 0; i < got.size(); ++i)
        if (!(got[i] == want[i] || (got[i] != got[i] && want[i] != want[i]) ||
              difference(got[i], want[i]) <= tolerance(i)))
            wrong.push_back(i);
    if (wrong.empty()) return;
    // The same everywhere is no evidence: an answer that does nothing is like many a mistake. Nor
    // is a single NaN, which is what an output holds before.
    const bool single = got.size() == 1 && got[0] == got[0];
    const bool constant = !single && std::all_of(got.begin(), got.end(), [&](T v) {
        return v == got[0] || (v != v && got[0] != got[0]);
    });
    std::vector<std::string> found;
    for (const Mistake<T>& mistake : mistakes) {
        const std::vector<T> values = mistake.values();
        bool all = values.size() == got.size();
        for (size_t i = 0; all && i < got.size(); ++i) all = close(got[i], values[i], i);
        // Of many elements some are nearly right by chance.
        const auto near = [&](size_t i) { return close(values[i], want[i], i); };
        all = all && size_t(std::count_if(wrong.begin(), wrong.end(), near)) <= wrong.size() / 64;
        if (all) found.push_back(mistake.words);
    }
    // Two floats agree by chance less easily than two whole numbers.
    const size_t weight = constant ? 0 : std::is_floating_point_v<T> ? 2 : 1;
    details::note_mistakes(found, wrong.size() * weight);
    unexplained() |= found.empty();
}

// Fails the test where an input has been changed that must stay as it is.
template <class T>
void check_unchanged(const std::vector<T>& now, const std::vector<T>& before) {
    // By their bits: a NaN is unchanged where it is the same NaN.
    std::vector<T> was = before, is = now;
    for (size_t i = 0; i < is.size() && is.size() == was.size(); ++i)
        if (std::memcmp(&is[i], &was[i], sizeof(T)) == 0) is[i] = was[i] = T{};
    const std::string text = wb::mismatch(
        is, was, [](size_t) { return 0.0; }, "element of the input");
    recognize<T>(
        now, before, {{"the input was changed, and it must stay as it is", [&] { return now; }}});
    INFO(text);
    const bool unchanged = text.empty();
    CHECK(unchanged);
}

// What sums of two arrays become by the usual mistakes.
inline std::vector<Mistake<float>> mistakes_of_sums(const std::vector<float>& a,
                                                    const std::vector<float>& b) {
    const auto each = [&a, &b](const char* words, std::function<float(float, float)> f) {
        return Mistake<float>{words, [&a, &b, f] {
                                  std::vector<float> out(a.size());
                                  for (size_t i = 0; i < out.size(); ++i) out[i] = f(a[i], b[i]);
                                  return out;
                              }};
    };
    return {
        each("the second number is subtracted, not added", [](float x, float y) { return x - y; }),
        each("the first number is subtracted from the second",
             [](float x, float y) { return y - x; }),
        each("the numbers are multiplied, not added", [](float x, float y) { return x * y; }),
        each("the first number is taken twice, and the second never",
             [](float x, float) { return x + x; }),
        each("the second number is taken twice, and the first never",
             [](float, float y) { return y + y; }),
        each("only the first number is stored", [](float x, float) { return x; }),
        each("only the second number is stored", [](float, float y) { return y; }),
        each("the sum has lost its fraction: an int lies on the way",
             [](float x, float y) { return std::trunc(x + y); })};
}

// An output's values and the memory that they came from: while it lives, a message about a wrong
// element can say who wrote it.
template <class T>
struct Output : std::vector<T> {
    std::shared_ptr<GuardedBuffer<T>> memory;
};

// The output of run(d_out), which fills `size` elements. Fails the test where it writes more.
template <class T>
Output<T> output_of(size_t size, size_t guard, const std::function<void(T*)>& run) {
    auto memory = std::make_shared<GuardedBuffer<T>>(size, guard);
    run(memory->get());
    CUDA_CHECK(cudaGetLastError());
    CHECK(memory->intact());
    return {memory->download(), memory};
}

// Whether this process runs on the emulator.
inline bool on_emulator() {
    return dlsym(RTLD_DEFAULT, "emulatorCountersGet") != nullptr;
}

// Counters of everything that `work` does on the device; empty on a real GPU, where the efficiency
// test cases have nothing to measure and end with NEED_COUNTERS. The warning fails a case that the
// grader has run on the emulated device.
inline std::optional<Counters> count(const std::function<void()>& work) {
    const auto reset = (void (*)())dlsym(RTLD_DEFAULT, "emulatorCountersReset");
    const auto get = (int (*)(EmulatorCounters*))dlsym(RTLD_DEFAULT, "emulatorCountersGet");
    const auto none = [] {
        WARN("no counters on this device: efficiency is graded on the emulator");
        return std::nullopt;
    };
    if (!reset || !get) {
        work();
        return none();
    }
    reset();  // counting begins; the numbers need not start at zero
    EmulatorCounters before{}, counters{};
    before.size = counters.size = sizeof counters;
    const bool counting = get(&before) == 0;
    work();
    if (!counting || get(&counters) != 0) return none();
#define COUNTER(name) counters.name -= before.name;
#include "common/emulator/checks/record/counter_fields.def"
    details::note_counters(counters);
    return Counters(counters);
}

// Elements of guard zone to put round a buffer: none on the emulator, whose bounds are exact.
inline size_t guard(size_t elements) {
    return on_emulator() ? 0 : elements;
}

}  // namespace
}  // namespace wb

// Compares arrays and, on failure, shows the first wrong elements. Further arguments: tolerance.
#define CHECK_ARRAYS(got, ...)                                                                     \
    do {                                                                                           \
        const std::string wb_text = ::wb::mismatch(got, __VA_ARGS__);                              \
        INFO(wb_text);                                                                             \
        CHECK(wb_text.empty());                                                                    \
    } while (false)

// The same for matrices in row-major order: CHECK_MATRIX(columns, got, want) or with a tolerance. A
// failure names row and column.
#define CHECK_MATRIX(columns, got, ...)                                                            \
    do {                                                                                           \
        const std::string wb_text = ::wb::matrix_mismatch(columns, got, __VA_ARGS__);              \
        INFO(wb_text);                                                                             \
        CHECK(wb_text.empty());                                                                    \
    } while (false)

// Checks what a function of plain values returns: CHECK_RESULT(ceil_div(1000, 256), 4). A failure
// shows the call, what it returned and what it should have. The check has the call itself as its
// text, by which the grader's diagnosis recognises functions of plain numbers.
#define CHECK_RESULT(call, want)                                                                   \
    do {                                                                                           \
        INFO(#call << ": got " << (call) << ", want " << (want));                                  \
        CHECK(call == want);                                                                       \
    } while (false)

// Ends an [efficient] test case on a device without counters.
#define NEED_COUNTERS(counters)                                                                    \
    if (!(counters)) return;
