// SPDX-License-Identifier: MIT
// The side file for the grader's display (details.h), compiled once for the programs of all
// lessons.
#include "details.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

#include "common/host/device_buffer.h"

namespace wb {
inline namespace of_test {
namespace details {
namespace {

constexpr size_t kMostElements = 1 << 18;  // of one array, from its start
constexpr size_t kMostRanges = 512;        // of wrong elements, over the whole array
constexpr int kMostArrays = 60;            // of one process
constexpr size_t kMostBytes = 24 << 20;    // of all arrays of one process
constexpr uint32_t kMostLines = 256;       // of source, of one count
constexpr size_t kMostWriters = 1024;      // elements of one array whose writer is reported

// The source lines that a count is made of, by kernel and line: [{"file", "line", "kernel",
// "global_load_sectors", ...}].
std::string counted_lines() {
    const auto get = (int (*)(uint32_t, EmulatorLine*))dlsym(RTLD_DEFAULT, "emulatorCountersLine");
    std::string list;
    for (uint32_t i = 0; get && i < kMostLines; ++i) {
        EmulatorLine line{};
        line.size = sizeof line;
        if (get(i, &line) != 0) break;
        if (line.line == 0) continue;
        const std::pair<const char*, uint64_t> fields[] = {
            {"line", line.line},
            {"warp_instructions", line.warp_instructions},
            {"thread_instructions", line.thread_instructions},
            {"global_load_requests", line.global_load_requests},
            {"global_load_sectors", line.global_load_sectors},
            {"global_load_bytes", line.global_load_bytes},
            {"global_store_requests", line.global_store_requests},
            {"global_store_sectors", line.global_store_sectors},
            {"global_store_bytes", line.global_store_bytes},
            {"shared_load_conflicts", line.shared_load_conflicts},
            {"shared_store_conflicts", line.shared_store_conflicts},
            {"atomics", line.atomics},
            {"block_barriers", line.barriers},
            {"branches", line.branches},
            {"divergent_branches", line.divergent_branches}};
        list += (list.empty() ? "{" : ", {") + ("\"file\": " + quoted(line.file)) +
                ", \"kernel\": " + quoted(line.kernel);
        for (const auto& [name, value] : fields)
            if (value) list += std::string(", \"") + name + "\": " + std::to_string(value);
        list += '}';
    }
    return "[" + list + "]";
}

std::string triple(const uint32_t (&v)[3]) {
    return "[" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " + std::to_string(v[2]) +
           "]";
}

// The last launches, the latest first: [{"kernel", "grid", "block"}]. Empty on a real GPU.
std::string recent_launches() {
    const auto get =
        (int (*)(uint32_t, EmulatorLaunch*))dlsym(RTLD_DEFAULT, "emulatorRecentLaunch");
    std::string list;
    for (uint32_t ago = 0; get && ago < 16; ++ago) {
        EmulatorLaunch launch{};
        launch.size = sizeof launch;
        if (get(ago, &launch) != 0) break;
        list += (list.empty() ? "" : ", ") + ("{\"kernel\": " + quoted(launch.kernel)) +
                ", \"serial\": " + std::to_string(launch.serial) +
                ", \"grid\": " + triple(launch.grid) + ", \"block\": " + triple(launch.block_size) +
                "}";
    }
    return "[" + list + "]";
}

// Who wrote the elements last: [[element, by, line, block, thread, kernel, serial of the launch]],
// for all elements of a small array, else for the first wrong ones and a sample of the others.
std::string writers(const Numbers& got, const std::vector<uint8_t>& is_wrong) {
    const auto get = (int (*)(uint64_t, EmulatorWriter*))dlsym(RTLD_DEFAULT, "emulatorWriterOf");
    const Download* from = nullptr;
    for (const Download& download : recent_downloads())
        if (download.copy == got.data && download.elements == got.size && !from) from = &download;
    std::string list;
    if (!get || !from) return "[]";
    const auto add = [&](size_t i) {
        EmulatorWriter writer{};
        writer.size = sizeof writer;
        const auto address =
            uint64_t((const char*)from->device + from->place(i) * got.element_bytes);
        if (get(address, &writer) != 0) return;
        list += (list.empty() ? "[" : ", [") + std::to_string(i) + ", " +
                std::to_string(writer.by) + ", " + std::to_string(writer.line) + ", " +
                triple(writer.block) + ", " + triple(writer.thread) + ", " + quoted(writer.kernel) +
                ", " + std::to_string(writer.launch) + ", " +
                quoted(run_time_sources().count(writer.file) ? writer.file : "") + "]";
    };
    if (got.size <= kMostWriters) {
        for (size_t i = 0; i < got.size; ++i) add(i);
    } else {
        size_t told = 0;
        for (size_t i = 0; i < got.size && told < kMostWriters / 4; ++i)
            if (is_wrong[i] && ++told) add(i);
        for (size_t k = 0; k < kMostWriters / 4; ++k) add(k * (got.size / (kMostWriters / 4)));
        add(got.size - 1);
    }
    return "[" + list + "]";
}

// The element as eight bytes: a double, or an integer of 64 bits.
uint64_t widened(const Numbers& numbers, size_t i) {
    const auto* at = static_cast<const char*>(numbers.data) + i * numbers.element_bytes;
    uint64_t bits = 0;
    if (numbers.kind == 'f') {
        double value;
        float narrow;
        if (numbers.element_bytes == sizeof narrow) {
            std::memcpy(&narrow, at, sizeof narrow);
            value = narrow;
        } else {
            std::memcpy(&value, at, sizeof value);
        }
        std::memcpy(&bits, &value, sizeof value);
        return bits;
    }
    std::memcpy(&bits, at, numbers.element_bytes);  // little-endian, as everywhere here
    const auto unused = unsigned(64 - 8 * numbers.element_bytes);
    return numbers.kind == 'i' ? uint64_t(int64_t(bits << unused) >> unused) : bits;
}

}  // namespace

void append(const std::string& line, const void* raw, size_t bytes) {
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

bool wanted() {
    const char* path = std::getenv("WORKBOOK_DETAILS");
    return path && *path;
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

void note_counters(const EmulatorCounters& counters) {
    if (!wanted()) return;
    std::string line = "{\"count\": {";
#define COUNTER(name) line += "\"" #name "\": " + std::to_string(counters.name) + ", ";
#include "common/emulator/checks/record/counter_fields.def"
    line.replace(line.size() - 2, 2, "}, \"lines\": ");
    append(line + counted_lines() + "}");
}

Compared& compared() {
    static Compared last;
    return last;
}

void note_mistakes(const std::vector<std::string>& words, size_t wrong) {
    if (!wanted()) return;
    std::string list;
    for (const std::string& text : words) list += (list.empty() ? "" : ", ") + quoted(text);
    append("{\"mistakes\": [" + list + "], \"wrong\": " + std::to_string(wrong) + "}");
}

void note_arrays(const Numbers& got, const Numbers& want, const std::vector<uint8_t>& is_wrong,
                 const std::string& what, size_t columns) {
    static int noted = 0;
    static size_t noted_bytes = 0;
    if (!wanted() || noted++ >= kMostArrays) return;
    const size_t kept = got.size < kMostElements ? got.size : kMostElements;
    constexpr size_t kWide = sizeof(uint64_t);
    std::vector<std::byte> raw(kept * (2 * kWide + 1));
    if ((noted_bytes += raw.size()) > kMostBytes) return;
    for (size_t i = 0; i < kept; ++i) {
        const uint64_t values[2] = {widened(got, i), widened(want, i)};
        std::memcpy(&raw[i * kWide], &values[0], kWide);
        std::memcpy(&raw[(kept + i) * kWide], &values[1], kWide);
        raw[2 * kept * kWide + i] = std::byte(is_wrong[i]);
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
    bool downloaded = false;  // or made by the host
    for (const Download& download : recent_downloads()) downloaded |= download.copy == got.data;
    append("{\"array\": {\"what\": " + quoted(what) + ", \"size\": " + std::to_string(got.size) +
               ", \"columns\": " + std::to_string(columns) +
               ", \"wrong\": " + std::to_string(wrong) + ", \"ranges\": [" + list +
               "], \"kept\": " + std::to_string(kept) + ", \"type\": \"" + got.kind +
               "8\", \"element_bytes\": " + std::to_string(got.element_bytes) +
               ", \"downloaded\": " + (downloaded ? "true" : "false") +
               ", \"launches\": " + recent_launches() + ", \"writers\": " + writers(got, is_wrong) +
               ", \"bytes\": " + std::to_string(raw.size()) + "}}",
           raw.data(),
           raw.size());
}

}  // namespace details
}  // namespace of_test
}  // namespace wb
