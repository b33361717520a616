// SPDX-License-Identifier: MIT
// Lesson 40, all stages together: in a stream, as a graph, on a million events, and as text.
#include "checks.h"
#include "watches/call_checks.h"
#include "watches/host_calls.h"

#include <cstdlib>
#include <memory>
#include <numeric>
#include <sstream>

namespace {

// Memory for an analysis, for a caller that has its events on the device.
struct TestWorkspace {
    explicit TestWorkspace(int events)
        : offsets(events + 1), valid(events), places(events + 1), sums(tiles_of(events)),
          mass(events), kept(events), counts(kBins), peaks(kPeaks) {
        CUDA_CHECK(cudaDeviceSynchronize());  // waits for the fills above
    }
    Workspace view() {
        return {offsets.get(),
                mass.get(),
                valid.get(),
                places.get(),
                kept.get(),
                sums.get(),
                counts.get(),
                peaks.get()};
    }
    wb::DeviceBuffer<int> offsets, valid, places, sums;
    wb::DeviceBuffer<float> mass, kept;
    wb::DeviceBuffer<unsigned> counts;
    wb::DeviceBuffer<Peak> peaks;
};

// Notes the host's ranges and the launches inside each.
struct RangeWatch {
    struct Range {
        std::string name;
        size_t begin, end;  // launches before it began and before it ended
    };
    RangeWatch() {
        current() = this;
        wb::range_listener.push = [](const char* name) { current()->push(name); };
        wb::range_listener.pop = [] { current()->pop(); };
    }
    ~RangeWatch() {
        wb::range_listener = {};
        current() = nullptr;
    }
    RangeWatch(const RangeWatch&) = delete;
    RangeWatch& operator=(const RangeWatch&) = delete;
    void push(const char* name) {
        open.push_back(all.size());
        all.push_back({name, calls.launches(), 0});
    }
    void pop() {
        all[open.back()].end = calls.launches();
        open.pop_back();
    }
    static RangeWatch*& current() {
        static RangeWatch* watch = nullptr;
        return watch;
    }
    wb::CallWatch calls;
    std::vector<Range> all;
    std::vector<size_t> open;
};

std::string names_of(const std::vector<RangeWatch::Range>& ranges) {
    std::string list;
    for (const auto& range : ranges) list += (list.empty() ? "" : ", ") + range.name;
    return list.empty() ? "none" : list;
}

// Compares the peaks of the counts exactly.
void check_same_peaks(const std::vector<Peak>& got, const Counts& counts) {
    const std::vector<Peak> want = peaks_of(counts);
    for (int w = 0; w < kPeaks; ++w) {
        INFO(kWindows[w].name << ": got " << got[w].events << " events in bin " << got[w].bin
                              << ", want " << want[w].events << " in bin " << want[w].bin);
        const bool same_peak = got[w].bin == want[w].bin && got[w].events == want[w].events;
        CHECK(same_peak);
    }
}

void check_peak_names(const std::vector<Peak>& got) {
    const double masses[] = {3.097, 9.460, 91.19};
    for (int w = 0; w < kPeaks; ++w) {
        INFO(kWindows[w].name << ": found in bin " << got[w].bin << ", want bin "
                              << int(masses[w] * 10) << " or a bin next to it");
        const bool found_within_one_bin = std::abs(got[w].bin - int(masses[w] * 10)) <= 1;
        CHECK(found_within_one_bin);
    }
}

// The counts of answers that count too many events.
std::vector<wb::Mistake<unsigned>> mistakes_of(const Known& known) {
    return {{"events without a pair are counted in the first bin, with mass 0", [&] {
                 Counts more = known.counts;
                 more[0] += unsigned(std::count(known.valid.begin(), known.valid.end(), 0));
                 return more;
             }}};
}

// Checks Analysis::run on `samples`, all of one size, one after the other. The counts go to pinned
// memory, since a copy to other memory waits by itself.
void check_run(const std::vector<const Known*>& samples) {
    const Sample& first = samples[0]->sample;
    Analysis analysis(first.events(), first.muons());
    for (const Known* known : samples) {
        unsigned* pinned = nullptr;
        CUDA_CHECK(cudaMallocHost(&pinned, kBins * sizeof(unsigned)));
        const std::unique_ptr<unsigned, cudaError_t (*)(void*)> owner(pinned, cudaFreeHost);
        std::fill(pinned, pinned + kBins, 99u);
        analysis.run(known->sample.view(), pinned);
        const Counts counts(pinned, pinned + kBins);
        check_counts(counts, known->counts, mistakes_of(*known));
        std::vector<Peak> peaks(kPeaks);
        analysis.peaks(peaks.data());
        check_same_peaks(peaks, known->counts);
    }
}

const Known& million() {
    static const Known known = make_events(1'000'000, 40);
    return known;
}

std::string csv_of(const Counts& counts) {
    char* text = nullptr;
    size_t size = 0;
    std::FILE* file = open_memstream(&text, &size);
    write_csv(file, counts.data());
    std::fclose(file);
    const std::string all(text, size);
    std::free(text);
    return all;
}

}  // namespace

TEST_CASE("task 6: all stages, one after the other", "[task6]") {
    for (const int n : {0, 1, 257, 5000}) {
        CAPTURE(n);
        const Known known = make_events(n, 600 + n);
        const DeviceSample d(known.sample);
        TestWorkspace work(n);
        const TestStream stream;
        for (int again = 0; again < 2; ++again) analyse(d.view(), work.view(), stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        check_counts(work.counts.download(), known.counts, mistakes_of(known));
        check_same_peaks(work.peaks.download(), known.counts);
    }
}

TEST_CASE("task 6: each stage has its range, with all its launches inside", "[task6]") {
    const Known known = make_events(300, 61);
    const DeviceSample d(known.sample);
    TestWorkspace work(300);
    const TestStream stream;
    RangeWatch watch;
    analyse(d.view(), work.view(), stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    std::vector<RangeWatch::Range> want;
    for (const char* name : kStages) want.push_back({name, 0, 0});
    {
        INFO("ranges: " << names_of(watch.all) << "; want: " << names_of(want));
        const bool all_stages_have_a_range = names_of(watch.all) == names_of(want);
        REQUIRE(all_stages_have_a_range);
    }
    size_t launches = 0;
    std::string empty, outside;
    for (const auto& range : watch.all) {
        if (range.begin != launches && outside.empty()) outside = "before " + range.name;
        if (range.end == range.begin && empty.empty()) empty = range.name;
        launches = range.end;
    }
    if (launches != watch.calls.launches()) outside = "after " + names_of({watch.all.back()});
    {
        INFO("the range `" << empty << "` ends before its stage is launched: does it have a name "
                           << "and a scope of its own?");
        const bool none_is_empty = empty.empty();
        CHECK(none_is_empty);
    }
    INFO("a kernel is launched " << outside << ", outside of all ranges");
    const bool all_launches_in_ranges = outside.empty();
    CHECK(all_launches_in_ranges);
}

TEST_CASE("task 6: all work is in the stream that it is given, without a wait", "[task6]") {
    const Known known = make_events(300, 62);
    const DeviceSample d(known.sample);
    TestWorkspace work(300);
    const TestStream stream;
    wb::CallWatch watch;
    analyse(d.view(), work.view(), stream);
    std::string elsewhere, waits;
    for (const wb::CudaCall& call : watch.calls) {
        const bool work_of_a_stream = call.name.find("Launch") != std::string::npos ||
                                      call.name.find("Memcpy") != std::string::npos ||
                                      call.name.find("Memset") != std::string::npos;
        if (work_of_a_stream && call.stream != stream) elsewhere = call.name;
        if (wb::waits_for_device(call.name)) waits = call.name;
    }
    {
        INFO(elsewhere << " puts work into another stream than the one that analyse() gets");
        const bool all_in_the_stream = elsewhere.empty();
        CHECK(all_in_the_stream);
    }
    INFO("analyse() calls " << waits << ", which waits");
    const bool waits_for_nothing = waits.empty();
    CHECK(waits_for_nothing);
}

TEST_CASE("task 6: each failed call is an exception", "[task6]") {
    const Known known = make_events(300, 63);
    const DeviceSample d(known.sample);
    TestWorkspace work(300);
    wb::check_refused_launch("analyse", [&] { analyse(d.view(), work.view(), nullptr); });
    wb::check_failing_calls("analyse", [&] { analyse(d.view(), work.view(), nullptr); });
    CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("task 7: a replay is the whole analysis", "[task7]") {
    const Known known = make_events(5000, 71);
    Analysis analysis(known.sample.events(), known.sample.muons());
    const TestStream stream;
    for (int again = 0; again < 2; ++again) {
        analysis.upload(known.sample.view(), stream);
        analysis.replay(stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        std::vector<Peak> got(kPeaks);
        analysis.peaks(got.data());
        check_same_peaks(got, known.counts);
    }
}

TEST_CASE("task 7: a call that fails while it is recorded is an exception", "[task7]") {
    for (const char* name :
         {"cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate"}) {
        wb::Ending ending;
        bool called = false;
        {
            wb::CallWatch watch;
            watch.fail_name = name;
            watch.error = cudaErrorUnknown;
            ending = wb::ending_of([&] { const Analysis analysis(100, 200); });
            for (const wb::CudaCall& call : watch.calls) called |= call.name == name;
        }
        cudaGetLastError();
        INFO("when " << name << " fails, Analysis() returns as if it had not");
        const bool thrown = ending.cuda_error || !called;  // a graph may be made otherwise
        CHECK(thrown);
    }
}

TEST_CASE("task 8: from events on the host to a spectrum", "[task8]") {
    for (const int n : {0, 1, 33, 257, 2048, 5000}) {
        CAPTURE(n);
        const Known known = make_events(n, 800 + n);
        check_run({&known, &known});
    }
}

TEST_CASE("task 8: each run has its own sample", "[task8]") {
    // Samples of one size: the same numbers of muons, other directions and charges.
    const Known first = make_events(3000, 81);
    Known second = first;
    std::reverse(second.sample.charge.begin(), second.sample.charge.end());
    std::fill(second.counts.begin(), second.counts.end(), 0u);
    const Ints at = scanned(second.sample.counts);
    for (int e = 0; e < second.sample.events(); ++e) {
        Found best = heaviest(second.sample, at[e], at[e + 1]);
        while (near_an_edge(best.mass)) {
            for (int i = at[e]; i < at[e + 1]; ++i) second.sample.pt[i] *= 1.0001f;
            best = heaviest(second.sample, at[e], at[e + 1]);
        }
        second.valid[e] = best.valid;
        if (best.valid) count(second.counts, float(best.mass));
    }
    check_run({&first, &second, &first});
}

TEST_CASE("task 8: a million events: exact counts, and J/psi, Upsilon and Z within one bin",
          "[task8]") {
    const Known& known = million();
    Analysis analysis(known.sample.events(), known.sample.muons());
    Counts counts(kBins);
    analysis.run(known.sample.view(), counts.data());
    check_counts(counts, known.counts, mistakes_of(known));
    const auto in_range = std::accumulate(counts.begin(), counts.end(), uint64_t(0));
    const auto want = std::accumulate(known.counts.begin(), known.counts.end(), uint64_t(0));
    CHECK_RESULT(in_range, want);
    std::vector<Peak> peaks(kPeaks);
    analysis.peaks(peaks.data());
    check_peak_names(peaks);
    // Only plots/measure_spectrum.py sets this variable.
    if (const char* path = std::getenv("WORKBOOK_SPECTRUM"))
        if (std::FILE* file = std::fopen(path, "w")) {
            write_csv(file, counts.data());
            std::fclose(file);
        }
}

TEST_CASE("task 9: writes the spectrum as text", "[task9]") {
    Counts counts;
    for (const int c : wb::random_ints(kBins, 91, 0, 100000)) counts.push_back(unsigned(c));
    counts[3] = 4'000'000'000u;
    std::string want = "GeV,events\n", line;
    for (int b = 0; b < kBins; ++b) {
        char text[64];
        std::snprintf(text, sizeof text, "%d.%d5,%u\n", b / 10, b % 10, counts[b]);
        want += text;
    }
    const std::string got = csv_of(counts);
    std::istringstream is(got), ws(want);
    std::string a, b;
    int number = 0;
    do {
        a = b = "(no line)";
        ++number;
        std::getline(is, a);
        std::getline(ws, b);
    } while (a == b && ws);
    INFO("line " << number << ": got `" << a << "`, want `" << b << "`");
    const bool the_same_text = got == want;
    CHECK(the_same_text);
}
