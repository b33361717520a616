// SPDX-License-Identifier: MIT
// What the grader wants to know beyond pass or fail: whole arrays that were wrong, and what each
// wb::count() measured. Written to the file that WORKBOOK_DETAILS names, one JSON object a line;
// without that variable nothing is written. It serves the display only, never the verdict.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/emulator/emulator_api.h"

namespace wb {
inline namespace of_test {

// The names of sources that the program has compiled while it runs.
inline std::set<std::string>& run_time_sources() {
    static std::set<std::string> names;
    return names;
}

// Whether a comparison of this test case has been wrong in a way that no known mistake explains. No
// mistake then explains all of them, and others need not be tried. The grader runs each case in a
// process of its own.
inline bool& unexplained() {
    static bool found = false;
    return found;
}

namespace details {

// Appends a line and, after it, `bytes` raw bytes to the side file; a failure to write
// changes nothing.
void append(const std::string& line, const void* raw = nullptr, size_t bytes = 0);

bool wanted();

// The text in quotes, as JSON has it.
std::string quoted(const std::string& text);

// {"count": {"launches": 1, ...}, "lines": [{...}, ...]}
void note_counters(const EmulatorCounters& counters);

// The last comparison of counted numbers (counted.h), for the grader's reporter. `told` is empty if
// it holds, else {"left": "launches", "relation": "==", "right": 1, "got": 2, "want": 1}. `shown`
// is set when Catch2 shows a counted number, as it does for a failed check of one.
struct Compared {
    std::string told;
    bool shown = false;
};
Compared& compared();

// {"mistakes": ["...", ...], "wrong": 12}: which known mistakes explain all of one comparison, and
// how many agreements that are.
void note_mistakes(const std::vector<std::string>& words, size_t wrong);

// An array of numbers of any type; it owns nothing.
struct Numbers {
    template <class T>
    explicit Numbers(const std::vector<T>& values)
        : data(values.data()), size(values.size()), element_bytes(sizeof(T)),
          kind(std::is_floating_point_v<T> ? 'f'
               : std::is_signed_v<T>       ? 'i'
                                           : 'u') {
        static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
    }
    const void* data;
    size_t size, element_bytes;
    char kind;  // f: floating point, i: integers with a sign, u: without
};

// {"array": {"what", "size", "columns", "wrong", "ranges", "kept", "type", "element_bytes",
// "downloaded", "launches", "writers", "bytes"}} and, on the next line, `bytes` raw bytes: `kept`
// values got, as many wanted (8 bytes each: f8, i8 or u8), and one byte each that is 1 where the
// element is wrong. `wrong` and `ranges` ([first, end) pairs) tell of the whole array. `is_wrong`
// holds a byte for each element.
void note_arrays(const Numbers& got, const Numbers& want, const std::vector<uint8_t>& is_wrong,
                 const std::string& what, size_t columns);

}  // namespace details
}  // namespace of_test
}  // namespace wb
