// SPDX-License-Identifier: MIT
// The timed work of lesson 37: steps of a rod on all ranks, each with a card of its own. mpirun
// starts as many ranks as cards are to be used. Rank 0 is timed and sends commands to the other
// ranks, which only carry these out.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <numbers>
#include <optional>

#include "mpi_halo_exchange.h"
#include "workloads/workload_data.h"

namespace {

constexpr int kSteps = 100;  // steps of one run
constexpr double kRate = 0.25;

// A wave on a ring: it keeps its shape, and shrinks by one factor in each step.
struct Wave {
    explicit Wave(size_t cells) : cells(cells), periods(std::max<size_t>(cells / 1024, 1)) {}
    // The phase is reduced as an integer, so it is as exact in the last cell as in the first.
    double at(size_t i) const {
        return std::sin(2 * std::numbers::pi * double(periods * i % cells) / double(cells));
    }
    double shrinks_by() const {
        const double half = std::sin(std::numbers::pi * double(periods) / double(cells));
        return 1 - 4 * kRate * half * half;
    }
    size_t cells, periods;
};

// What all ranks have found together.
struct Found {
    double off = 0;       // the largest difference of a cell from the theory
    uint64_t digest = 0;  // of the bits of all cells, the same for any number of ranks
};

// The slice of this rank.
class Slab {
public:
    explicit Slab(size_t cells) : wave_(cells) {
        int rank = 0, ranks = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        first_ = cells / ranks * rank + std::min<size_t>(rank, cells % ranks);
        mine_.resize(cells / ranks + (size_t(rank) < cells % ranks));
        begin();
    }
    void run() {
        for (int i = 0; i < kSteps; ++i) rod_->step();
        CUDA_CHECK(cudaDeviceSynchronize());
        MPI_Barrier(MPI_COMM_WORLD);
        steps_ += kSteps;
    }
    // The error after all steps, and the digest of a new rod after kSteps: how many steps were
    // made depends on the clock.
    Found check() {
        Found found;
        found.off = error();
        begin();
        run();
        found.digest = digest();
        return found;
    }

private:
    void begin() {
        wb::in_parallel(mine_.size(), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) mine_[i] = wave_.at(first_ + i);
        });
        rod_.reset();
        rod_.emplace(mine_.data(), int(wave_.cells), Ends::kPeriodic, kRate, MPI_COMM_WORLD);
        steps_ = 0;
    }
    double error() {
        rod_->download(mine_.data());
        const double size = std::pow(wave_.shrinks_by(), steps_);
        double mine = 0, all = 0;
        std::mutex mutex;
        wb::in_parallel(mine_.size(), [&](size_t begin, size_t end) {
            double largest = 0;
            for (size_t i = begin; i < end; ++i) {
                const double off = std::abs(mine_[i] - size * wave_.at(first_ + i));
                // No later cell and no other rank hides a NaN.
                largest = std::isnan(off) ? std::numeric_limits<double>::infinity()
                                          : std::max(largest, off);
            }
            const std::lock_guard lock(mutex);
            mine = std::max(mine, largest);
        });
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return all;
    }
    // A sum over the cells, so it does not depend on who adds which of them.
    uint64_t digest() {
        rod_->download(mine_.data());
        uint64_t mine = 0, all = 0;
        std::mutex mutex;
        wb::in_parallel(mine_.size(), [&](size_t begin, size_t end) {
            uint64_t sum = 0;
            for (size_t i = begin; i < end; ++i) {
                uint64_t bits = 0;
                std::memcpy(&bits, &mine_[i], sizeof bits);
                sum += wb::random_bits(bits, first_ + i);
            }
            const std::lock_guard lock(mutex);
            mine += sum;
        });
        MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        return all;
    }

    Wave wave_;
    size_t first_ = 0;
    std::vector<double> mine_;
    std::optional<HeatSlice> rod_;
    int steps_ = 0;
};

// The commands of rank 0 to all ranks. kMake has the number of cells.
enum Order : long long { kMake, kRun, kCheck, kDrop, kEnd };

class World {
public:
    World() {
        MPI_Init(nullptr, nullptr);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        if (rank_ > 0) wb::helper_main = [this] { return obey(); };
    }
    ~World() {
        if (rank_ == 0) order(kEnd);
        MPI_Finalize();
    }
    // Called on rank 0: makes all ranks, including rank 0, carry out this command.
    Found order(Order what, size_t cells = 0) {
        std::array<long long, 2> words{what, (long long)cells};
        MPI_Bcast(words.data(), 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
        return act(words);
    }

private:
    Found act(const std::array<long long, 2>& words) {
        if (words[0] == kMake) {
            int count = 1;  // on one machine, one card for each rank if there are enough
            CUDA_CHECK(cudaGetDeviceCount(&count));
            CUDA_CHECK(cudaSetDevice(rank_ % count));
            slab_.emplace(size_t(words[1]));
        }
        if (words[0] == kRun) slab_->run();
        if (words[0] == kDrop) slab_.reset();
        return words[0] == kCheck ? slab_->check() : Found{};
    }
    int obey() {
        for (std::array<long long, 2> words{};;) {
            MPI_Bcast(words.data(), 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
            if (words[0] == kEnd) return 0;
            try {
                act(words);
            } catch (const std::exception&) {
                // Too little memory: HeatSlice has thrown on rank 0 as well, which goes on with
                // fewer cells.
            }
        }
    }
    int rank_ = 0;
    std::optional<Slab> slab_;
};
World world;

class Steps : public wb::Workload {
public:
    explicit Steps(size_t cells) : cells_(cells) { world.order(kMake, cells); }
    ~Steps() override { world.order(kDrop); }
    void run() override { world.order(kRun); }
    void reference() override {}  // the theory
    size_t reference_elements() const override { return cells_; }
    std::string verify() override {
        found_ = world.order(kCheck);
        return found_.off <= 1e-9
                   ? ""
                   : "a cell is off by " + wb::shown(found_.off) + ", want at most 1e-9";
    }
    uint64_t digest() override { return found_.digest; }
    double bytes() const override { return 16.0 * double(cells_) * kSteps; }
    bool on_host() const override { return true; }
    std::string library() const override {
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
        int length = 0;
        MPI_Get_library_version(text, &length);
        const std::string name(text);
        return name.substr(0, name.find(',')) +
               (MPIX_Query_cuda_support() == 1 ? " with CUDA" : "");
    }

private:
    size_t cells_;
    Found found_;
};
WORKLOAD(Steps, "100 steps of a rod", 1 << 27, 1003);

}  // namespace
