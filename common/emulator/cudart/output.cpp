// SPDX-License-Identifier: MIT
// Writes findings with the bare file descriptor: at the end of a crashing process the standard
// streams may be in any state.
#include "cudart/output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks/report/places.h"
#include "checks/text/json.h"

namespace emulator {
namespace {

bool write_all(int file, const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = write(file, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        done += size_t(count);
    }
    return true;
}

bool wants_colour() {
    const char* off = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return isatty(STDERR_FILENO) && !(off && *off) &&
           !(terminal && std::strcmp(terminal, "dumb") == 0);
}

std::string counted(size_t count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// The record of a finding for the grader's channel; index -1: not a numbered finding.
std::string found(int64_t index, const std::string& finding) {
    return checks::JsonObject()
        .add("event", "finding")
        .add("index", index)
        .json("finding", finding)
        .text();
}

}  // namespace

bool Output::open(const std::string& path, bool append) {
    path_ = path;
    if (path.empty()) return true;
    const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (append ? 0 : O_TRUNC);
    file_ = ::open(path.c_str(), flags, 0666);
    if (file_ < 0) {
        std::fprintf(stderr,
                     "emulator: the report %s cannot be written: %s\n",
                     path.c_str(),
                     std::strerror(errno));
        return false;
    }
    // The program under test must neither get a low descriptor number that it does not expect, nor
    // close ours.
    const int high = fcntl(file_, F_DUPFD_CLOEXEC, 200);
    if (high >= 0) {
        close(file_);
        file_ = high;
    }
    return true;
}

void Output::open(Sink sink) {
    sink_ = sink;
    append_line(checks::JsonObject().add("event", "device").text());
}

void Output::send(const checks::Report& report, size_t index) {
    append_line(found(int64_t(index), checks::render_json(report.findings()[index])));
}

bool Output::append_line(const std::string& text) {
    if (sink_) sink_(text.data(), text.size(), 0);
    if (file_ < 0 || failed_) return false;
    if (start_ == end_) start_ = end_ = lseek(file_, 0, SEEK_END);
    failed_ = !write_all(file_, text + "\n");
    if (failed_)
        std::fprintf(stderr,
                     "emulator: the report %s cannot be written: %s\n",
                     path_.c_str(),
                     std::strerror(errno));
    end_ += int64_t(text.size()) + 1;
    return !failed_;
}

void Output::stream(const checks::Report& report) {
    const auto& findings = report.findings();
    for (; sink_ && streamed_ < findings.size(); ++streamed_) send(report, streamed_);
    if (file_ < 0) return;
    for (; streamed_ < findings.size(); ++streamed_)
        append_line(checks::render_json(findings[streamed_]));
}

void Output::rewrite(const checks::Report& report) {
    if (file_ < 0 || failed_ || streamed_ == first_) return;
    const auto& findings = report.findings();
    std::string text;
    for (size_t i = first_; i < findings.size(); ++i)
        text += checks::render_json(findings[i]) + "\n";
    // Only when the end of the file is the end of our part: another process may have appended to
    // it.
    struct stat status {};
    flock(file_, LOCK_EX);
    if (fstat(file_, &status) == 0 && status.st_size == end_ && ftruncate(file_, start_) == 0) {
        failed_ = !write_all(file_, text);
        end_ = start_ + int64_t(text.size());
        streamed_ = findings.size();
    }
    flock(file_, LOCK_UN);
}

void Output::print(const checks::Report& report) {
    const auto& findings = report.findings();
    const bool colour = wants_colour();
    std::string text;
    for (; printed_ < findings.size(); ++printed_)
        text += checks::render_text(findings[printed_], colour) + "\n";
    write_all(STDERR_FILENO, text);
}

void Output::finish(const checks::Report& report, uint64_t launches, bool ended_early) {
    stream(report);
    rewrite(report);
    for (size_t i = first_; sink_ && i < report.findings().size(); ++i) send(report, i);
    print(report);
    if (sink_) {
        const std::string end = checks::JsonObject()
                                    .add("event", "device-end")
                                    .add("findings", report.findings().size() - first_)
                                    .add("launches", launches)
                                    .text();
        sink_(end.data(), end.size(), 1);
    }
    if (printed_ == std::max(first_, summed_up_)) return;
    summed_up_ = printed_;
    write_all(STDERR_FILENO,
              "emulator: " + summary(report, first_, launches) +
                  (ended_early ? " (the program did not end normally)\n" : "\n"));
}

void Output::internal_error(const std::string& what) {
    const std::string line = checks::JsonObject()
                                 .add("code", "internal-error")
                                 .add("severity", "internal")
                                 .add("message", what)
                                 .text();
    append_line(sink_ ? found(-1, line) : line);
}

void Output::forget(const checks::Report& report) {
    first_ = streamed_ = printed_ = summed_up_ = report.findings().size();
    start_ = end_ = 0;
}

std::string summary(const checks::Report& report, size_t first, uint64_t launches) {
    const auto& findings = report.findings();
    std::array<size_t, 3> count{};
    for (size_t i = first; i < findings.size(); ++i) ++count[size_t(findings[i].severity)];
    constexpr std::array kNouns{"error", "warning", "note"};
    std::string text;
    for (size_t i = 0; i < count.size(); ++i)
        if (count[i] > 0) text += (text.empty() ? "" : ", ") + counted(count[i], kNouns[i]);
    if (text.empty()) return text;
    return text + " in " +
           (launches == 1 ? std::string("1 launch") : std::to_string(launches) + " launches");
}

}  // namespace emulator
