// SPDX-License-Identifier: MIT
// Waits that last are reported with their line.
#include <chrono>
#include <ctime>

#include <execinfo.h>

#include "common/emulator/emulator_api.h"
#include "mpi_watch.h"
#include "watch.h"

namespace mpi_watch {
namespace {

using Sink = void (*)(const char*, uint64_t);
constinit Sink report_to = nullptr;  // may be set before the constructors run

// Calls from this library are attributed to its callers.
[[gnu::constructor]] void announce() {
    if (const auto add = of_emulator<void(const void*)>("emulatorAddLibrary"))
        add(reinterpret_cast<const void*>(&announce));
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

void tell(const std::string& record) {
    if (report_to) report_to(record.data(), record.size());
}

// The line of the program that has called this library.
EmulatorSource caller() {
    EmulatorSource source{};
    source.size = sizeof source;
    void* frames[32];
    const int found = backtrace(frames, 32);
    uint64_t path[32];
    // Return addresses are those of the next instructions.
    for (int i = 0; i < found; ++i) path[i] = reinterpret_cast<uint64_t>(frames[i]) - 1;
    const auto of =
        of_emulator<int(const uint64_t*, uint32_t, EmulatorSource*)>("emulatorSourceOf");
    // After the frames of this library, which is nobody's own source.
    Dl_info own{}, info{};
    dladdr(reinterpret_cast<const void*>(&announce), &own);
    int first = 0;
    for (int i = 0; i < found; ++i)
        if (dladdr(frames[i], &info) && info.dli_fbase == own.dli_fbase) first = i + 1;
    if (of && first < found) of(path + first, uint32_t(found - first), &source);
    return source;
}

void tell_wait(const std::string& call, const std::string& on) {
    const EmulatorSource source = caller();
    tell("{\"event\": \"waits\", \"call\": " + quoted(call) + ", \"on\": " + quoted(on) +
         ", \"file\": " + quoted(source.file) + ", \"line\": " + std::to_string(source.line) + "}");
}

}  // namespace

void check(const char* call, int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    std::string message = std::string(call) + ": " + text;
    int kind = code;
    PMPI_Error_class(code, &kind);
    if (kind == MPI_ERR_TRUNCATE)
        message += ", since more elements were sent than the receiver's count allows: the counts "
                   "of sender and receiver differ";
    const EmulatorSource source = caller();
    if (source.line)
        message = std::string(source.file) + ':' + std::to_string(source.line) + ": " + message;
    throw Error(message);
}

// Sleeps between two looks: with more ranks than cores, the rank that is waited for needs the core.
void wait(const char* call, const std::string& on, const std::function<bool()>& done) {
    using Clock = std::chrono::steady_clock;
    const auto begun = Clock::now();
    bool told = false;
    for (int looks = 0; !done(); ++looks) {
        if (looks < 20) continue;
        const timespec pause{0, looks < 200 ? 20'000 : 200'000};
        nanosleep(&pause, nullptr);
        if (!told && Clock::now() - begun > std::chrono::seconds(1)) {
            told = true;
            tell_wait(call, on);
        }
    }
    if (told) tell("{\"event\": \"goes-on\"}");
}

void wait_for(const char* call, const std::string& on, MPI_Request& request, MPI_Status* status) {
    // Without a listener MPI waits as it does by itself, which is what a benchmark measures.
    if (!report_to) return check(call, PMPI_Wait(&request, status));
    wait(call, on, [&] {
        int flag = 0;
        check(call, PMPI_Test(&request, &flag, status));
        return flag != 0;
    });
}

}  // namespace mpi_watch

void mpiWatchReportTo(void (*sink)(const char* record, uint64_t bytes)) {
    mpi_watch::report_to = sink;
}
