// SPDX-License-Identifier: MIT
// Lesson 40, the dimuon analysis: what capstone_dimuon.cu implements and the test calls.
//
// A d_ prefix marks a pointer to device memory. The arrays of one call do not overlap, and no
// function changes its inputs. Every function that takes a stream puts its work there and returns
// without waiting. A CUDA call that fails throws wb::CudaError; only destructors and write_csv may
// fail silently.
#pragma once

#include <cmath>
#include <cstdio>
#include <memory>

#include "cuda_check.h"
#include "range.h"

// The muons of all events, one event after the other, in host or in device memory. Limits: 0 <=
// events <= 2^28 and 0 <= muons <= 2^30.
struct Events {
    int events, muons;
    const int* counts;            // of muons, for each event: 0 to 1024; their sum is `muons`
    const float *pt, *eta, *phi;  // for each muon: GeV, no unit, radians
    const int* charge;            // +1 or -1
};

// The invariant mass of two muons, in GeV (lesson 10). At least 0, never NaN.
__host__ __device__ inline float pair_mass(float pt1, float eta1, float phi1, float pt2, float eta2,
                                           float phi2) {
    const float a = std::sinh(0.5f * (eta1 - eta2)), b = std::sin(0.5f * (phi1 - phi2));
    return 2 * std::sqrt(pt1 * pt2 * (a * a + b * b));
}

inline constexpr int kThreads = 256;  // in a block of every kernel of this lesson
inline constexpr int kTile = 2048;    // elements that a block scans

// The number of tiles in a scan of n elements. The last tile also has the place n, after the last
// element.
constexpr int tiles_of(int n) {
    return n / kTile + 1;
}

// Task 1: d_out[i] = d_in[0] + ... + d_in[i - 1] for i in [0, n], so that d_out[0] = 0, and
// d_out[n] is the sum of all. d_in: n ints, each at least 0, with a sum below 2^31; d_out: n + 1
// ints; d_sums: tiles_of(n) ints whose contents do not matter.
void scan(const int* d_in, int n, int* d_out, int* d_sums, cudaStream_t stream);

// Task 2: for each event e, d_valid[e] = 1 if it has two muons of opposite charge, else 0, and
// d_mass[e] = the largest mass of such a pair, 0 if there is none. The muons of event e are
// [d_offsets[e], d_offsets[e + 1]). `d_events` is in device memory; its counts are not used. For 0
// events, launches nothing.
void pair_masses(Events d_events, const int* d_offsets, float* d_mass, int* d_valid,
                 cudaStream_t stream);

// Task 3: stores those d_mass[e] with d_valid[e] = 1 side by side and in order from d_kept[0] on,
// and nothing else. d_places: events + 1 ints; d_places[events] becomes the number of kept masses.
// d_kept has room for exactly the kept masses; d_sums is as in task 1. Flags are 0 or 1.
void compact(const float* d_mass, const int* d_valid, int events, int* d_places, float* d_kept,
             int* d_sums, cudaStream_t stream);

// The spectrum: bin b counts masses from b / 10 GeV up to (b + 1) / 10 GeV. A mass from 0 to below
// 120 GeV belongs to bin int(mass * 10.0f), which is in [0, kBins). Other masses and NaN belong to
// no bin.
inline constexpr int kBins = 1200;
inline constexpr float kLimit = 120.0f;

// Task 4: d_counts[b] = the number of elements among the first *d_number of d_mass that belong to
// bin b, for all kBins bins. The old contents of d_counts are overwritten. *d_number is in [0,
// most] and in device memory: the host does not know it.
void histogram(const float* d_mass, const int* d_number, int most, unsigned* d_counts,
               cudaStream_t stream);

// A window with a peak: bins [first, last).
struct Window {
    int first, last;
    const char* name;
};
inline constexpr Window kWindows[] = {{26, 37, "J/psi"}, {88, 101, "Upsilon"}, {811, 1012, "Z"}};
inline constexpr int kPeaks = 3;

// The base of a window is the larger of the counts of its first and its last bin. `above` of a bin
// is its count minus the base, or 0 if that is negative. `events`: the sum of all `above`. `bin`:
// the rounded mean of the window's bin numbers b with the weights `above`: (sum of above * b +
// events / 2) / events in whole numbers of 64 bits. If `events` is 0, `bin` is the first bin.
struct Peak {
    int bin;
    unsigned events;
};

// Task 5: d_peaks[w] = the peak in kWindows[w], for all kPeaks windows. The sum of all counts of a
// window is below 2^32.
void find_peaks(const unsigned* d_counts, Peak* d_peaks, cudaStream_t stream);

// Device memory, owned by the caller, for everything between the events and the peaks.
struct Workspace {
    int* offsets;      // events + 1
    float* mass;       // events
    int* valid;        // events
    int* places;       // events + 1
    float* kept;       // events
    int* sums;         // tiles_of(events)
    unsigned* counts;  // kBins: a result
    Peak* peaks;       // kPeaks: a result
};

// The stages of the analysis, and the names of their ranges.
inline constexpr const char* kStages[] = {"offsets", "masses", "compaction", "histogram", "peaks"};

// Task 6: puts all five stages into `stream`, each inside a wb::Range with its name, one after the
// other. Afterwards d.counts and d.peaks hold the results. d_events is in device memory.
void analyse(Events d_events, Workspace d, cudaStream_t stream);

// The analysis of samples of one size, recorded once. It owns all device memory that it needs.
class Analysis {
public:
    // Task 7: records `analyse` without running it.
    Analysis(int events, int muons);
    ~Analysis();

    // Puts the copy of a sample of this size, from host or device memory, into the stream. The host
    // may change its arrays after the stream has finished the copy.
    void upload(Events from, cudaStream_t stream);

    // Analyses the last uploaded sample, by one launch.
    void replay(cudaStream_t stream);

    // Task 8: uploads `from`, analyses it, and stores the kBins counts of the spectrum at `counts`,
    // in host memory (pinned or not). The counts are complete when it returns. Only inputs and
    // counts cross the bus, and nothing is allocated.
    void run(Events from, unsigned* counts);

    // Stores the kPeaks peaks of the last analysis at `to`. Waits for the device.
    void peaks(Peak* to) const;

private:
    struct Parts;  // its members are defined in capstone_dimuon.cu
    std::unique_ptr<Parts> parts_;
};

// Task 9: writes a spectrum as text: a line `GeV,events`, then a line for each bin with its middle
// in two decimals and its count, such as `0.05,17` and `0.15,4`. Lines end with '\n'.
void write_csv(std::FILE* file, const unsigned* counts);
