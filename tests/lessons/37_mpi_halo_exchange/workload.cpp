// SPDX-License-Identifier: MIT
// The timed work of lesson 37: steps of a rod on one, two and four cards, with one rank for each
// card. mpirun starts as many ranks as there are cards. Rank 0 is timed and sends commands to the
// other ranks, which only carry these out.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "mpi_halo_exchange.h"
#include "workloads/workload_data.h"

namespace {

constexpr int kSteps = 100;  // steps of one run
constexpr double kRate = 0.25;

// A wave on a ring: it keeps its shape, and shrinks by one factor in each step.
struct Wave {
    explicit Wave(size_t cells)
        : turn(2 * std::numbers::pi * double(std::max<size_t>(cells / 1024, 1)) / double(cells)) {}
    double at(size_t i) const { return std::sin(turn * double(i)); }
    double shrinks_by() const {
        const double half = std::sin(turn / 2);
        return 1 - 4 * kRate * half * half;
    }
    double turn;
};

// The slice of this rank, on the first `ranks` ranks.
class Slab {
public:
    Slab(size_t cells, int rank, int ranks) : wave_(cells) {
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm_);
        if (comm_ == MPI_COMM_NULL) return;
        first_ = cells / ranks * rank + std::min<size_t>(rank, cells % ranks);
        mine_.resize(cells / ranks + (size_t(rank) < cells % ranks));
        wb::in_parallel(mine_.size(), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) mine_[i] = wave_.at(first_ + i);
        });
        rod_.emplace(mine_.data(), int(cells), Ends::kPeriodic, kRate, comm_);
    }
    ~Slab() {
        rod_.reset();
        if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    }
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;

    void run() {
        if (comm_ == MPI_COMM_NULL) return;
        for (int i = 0; i < kSteps; ++i) rod_->step();
        CUDA_CHECK(cudaDeviceSynchronize());
        MPI_Barrier(comm_);
        steps_ += kSteps;
    }
    // The largest difference between a cell of any rank and the theory.
    double error() {
        if (comm_ == MPI_COMM_NULL) return 0;
        rod_->download(mine_.data());
        const double size = std::pow(wave_.shrinks_by(), steps_);
        double mine = 0, all = 0;
        for (size_t i = 0; i < mine_.size(); ++i) {
            const double off = std::abs(mine_[i] - size * wave_.at(first_ + i));
            // No later cell and no other rank hides a NaN.
            mine = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(mine, off);
        }
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, comm_);
        return all;
    }

private:
    Wave wave_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    size_t first_ = 0;
    std::vector<double> mine_;
    std::optional<HeatSlice> rod_;
    int steps_ = 0;
};

// The commands of rank 0 to all ranks. kMake has two numbers, cells and ranks.
enum Order : long long { kMake, kRun, kError, kDrop, kEnd };

class World {
public:
    World() {
        MPI_Init(nullptr, nullptr);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        if (rank_ > 0) wb::helper_main = [this] { return obey(); };
    }
    ~World() {
        if (rank_ == 0) order(kEnd);
        MPI_Finalize();
    }
    int size() const { return size_; }

    // Called on rank 0: makes all ranks, including rank 0, carry out this command.
    double order(Order what, size_t cells = 0, int ranks = 0) {
        std::array<long long, 3> words{what, (long long)cells, ranks};
        MPI_Bcast(words.data(), 3, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
        return act(words);
    }

private:
    double act(const std::array<long long, 3>& words) {
        if (words[0] == kMake) {
            int count = 1;  // on one machine, one card for each rank if there are enough
            CUDA_CHECK(cudaGetDeviceCount(&count));
            CUDA_CHECK(cudaSetDevice(rank_ % count));
            slab_.emplace(size_t(words[1]), rank_, int(words[2]));
        }
        if (words[0] == kRun) slab_->run();
        if (words[0] == kDrop) slab_.reset();
        return words[0] == kError ? slab_->error() : 0;
    }
    int obey() {
        for (std::array<long long, 3> words{};;) {
            MPI_Bcast(words.data(), 3, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
            if (words[0] == kEnd) return 0;
            try {
                act(words);
            } catch (const std::exception&) {
                // Too little memory: HeatSlice has thrown on rank 0 as well, which goes on with
                // fewer cells.
            }
        }
    }
    int rank_ = 0, size_ = 1;
    std::optional<Slab> slab_;
};
World world;

template <int kRanks>
class Steps : public wb::Workload {
public:
    explicit Steps(size_t cells) : cells_(cells) { world.order(kMake, cells, kRanks); }
    ~Steps() override { world.order(kDrop); }
    void run() override { world.order(kRun); }
    void reference() override {}  // the theory
    size_t reference_elements() const override { return cells_; }
    std::string verify() override {
        const double off = world.order(kError);
        return off <= 1e-9 ? "" : "a cell is off by " + wb::shown(off) + ", want at most 1e-9";
    }
    double bytes() const override { return 16.0 * double(cells_) * kSteps; }
    bool on_host() const override { return true; }

private:
    size_t cells_;
};

template <int kRanks>
void register_steps(const char* name) {
    if (world.size() >= kRanks) wb::RegisterWorkload<Steps<kRanks>>(name, 1 << 27, 1003);
}
[[maybe_unused]] const bool registered = [] {
    register_steps<1>("100 steps of a rod on one card");
    register_steps<2>("100 steps of a rod on two cards");
    register_steps<4>("100 steps of a rod on four cards");
    return true;
}();

}  // namespace
