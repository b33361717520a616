// SPDX-License-Identifier: MIT
// What the grader wants to know beyond pass or fail: whole arrays that were wrong, and what each
// wb::count() measured. Written to the file that WORKBOOK_DETAILS names, one JSON object a line;
// without that variable nothing is written. It serves the display only, never the verdict.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "common/emulator/emulator_api.h"

namespace wb::details {

inline constexpr size_t kMostElements = 1 << 18;  // of one array, from its start
inline constexpr size_t kMostRanges = 512;        // of wrong elements, over the whole array
inline constexpr int kMostArrays = 6;             // of one process

// Appends to the side file; a failure to write is nobody's fault here and changes nothing.
inline void append(const std::string& line, const void* raw = nullptr, size_t bytes = 0) {
    const char* path = std::getenv("WORKBOOK_DETAILS");
    if (!path || !*path) return;
    std::FILE* file = std::fopen(path, "ab");
    if (!file) return;
    std::fwrite(line.data(), 1, line.size(), file);
    std::fputc('\n', file);
    if (raw) {
        std::fwrite(raw, 1, bytes, file);
        std::fputc('\n', file);
    }
    std::fclose(file);
}

inline bool wanted() {
    const char* path = std::getenv("WORKBOOK_DETAILS");
    return path && *path;
}

inline std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

// {"count": {"launches": 1, ...}}
inline void note_counters(const EmulatorCounters& counters) {
    if (!wanted()) return;
    std::string line = "{\"count\": {";
#define COUNTER(name) line += "\"" #name "\": " + std::to_string(counters.name) + ", ";
#include "common/emulator/counter_fields.def"
    line.replace(line.size() - 2, 2, "}}");
    append(line);
}

// {"array": {"what", "size", "columns", "wrong", "ranges", "kept", "type", "bytes"}} and, on the
// next line, `bytes` raw bytes: `kept` values got, as many wanted (8 bytes each: f8, i8 or u8), and
// one byte each that is 1 where the element is wrong. `wrong` and `ranges` ([first, end) pairs,
// kMostRanges at most) tell of the whole array. `is_wrong` holds a byte for each element.
template <class T>
void note_arrays(const std::vector<T>& got, const std::vector<T>& want,
                 const std::vector<uint8_t>& is_wrong, const std::string& what, size_t columns) {
    static int noted = 0;
    if (!wanted() || noted++ >= kMostArrays) return;
    using Wide = std::conditional_t<std::is_floating_point_v<T>,
                                    double,
                                    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
    const size_t kept = got.size() < kMostElements ? got.size() : kMostElements;
    std::vector<std::byte> raw(kept * (2 * sizeof(Wide) + 1));
    for (size_t i = 0; i < kept; ++i) {
        const Wide values[2] = {static_cast<Wide>(got[i]), static_cast<Wide>(want[i])};
        std::memcpy(&raw[i * sizeof(Wide)], &values[0], sizeof(Wide));
        std::memcpy(&raw[(kept + i) * sizeof(Wide)], &values[1], sizeof(Wide));
        raw[2 * kept * sizeof(Wide) + i] = std::byte(is_wrong[i]);
    }
    size_t wrong = 0, ranges = 0;
    std::string list;
    for (size_t i = 0; i < is_wrong.size(); ++i) {
        if (!is_wrong[i]) continue;
        const size_t first = i;
        while (i < is_wrong.size() && is_wrong[i]) ++i;
        wrong += i - first;
        if (ranges++ < kMostRanges)
            list += (list.empty() ? "[" : ", [") + std::to_string(first) + ", " +
                    std::to_string(i) + "]";
    }
    const char* type = std::is_floating_point_v<T> ? "f8" : std::is_signed_v<T> ? "i8" : "u8";
    append("{\"array\": {\"what\": " + quoted(what) + ", \"size\": " + std::to_string(got.size()) +
               ", \"columns\": " + std::to_string(columns) +
               ", \"wrong\": " + std::to_string(wrong) + ", \"ranges\": [" + list +
               "], \"kept\": " + std::to_string(kept) + ", \"type\": \"" + type +
               "\", \"element_bytes\": " + std::to_string(sizeof(T)) +
               ", \"bytes\": " + std::to_string(raw.size()) + "}}",
           raw.data(),
           raw.size());
}

}  // namespace wb::details
