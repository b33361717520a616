// SPDX-License-Identifier: MIT
// The timed workloads of lesson 26: selections of half and of few of the elements, rows of a table,
// and a partition. Each call waits for the number that it returns.
#include "compaction.h"
#include "workloads/selection.h"

namespace {

using Call = int (*)(const float*, int, float, float*, void*);

template <Call kCall, int kPercent, bool kOthersToo>
class Selection : public wb::Selection<kPercent, kOthersToo> {
public:
    explicit Selection(size_t n)
        : wb::Selection<kPercent, kOthersToo>(n),
          d_scratch_(scratch_bytes(int(n)) / sizeof(uint64_t)) {}
    void run() override {
        this->got_ = kCall(this->x_.get(),
                           int(this->x_.size()),
                           this->kLimit,
                           this->d_out_.get(),
                           d_scratch_.get());
    }

private:
    wb::DeviceBuffer<uint64_t> d_scratch_;
};

struct Half final : Selection<select_above, 50, false> {
    using Selection::Selection;
};
WORKLOAD(Half, "keeps half of the floats", 1 << 28, 100003);

struct Few final : Selection<select_above, 5, false> {
    using Selection::Selection;
};
WORKLOAD(Few, "keeps 5 of 100 floats", 1 << 28, 100003);

struct Both final : Selection<partition_above, 50, true> {
    using Selection::Selection;
};
WORKLOAD(Both, "partitions floats", 1 << 27, 100003);

class Rows final : public wb::Workload {
public:
    explicit Rows(size_t n)
        : mask_(n, mask_of(std::min(n, wb::kPeriod))), energy_(wb::repeated_floats(n, 2)),
          eta_(wb::repeated_floats(n, 3)), phi_(wb::repeated_floats(n, 4)),
          charge_(wb::repeated_ints(n, 5, -1, 1)), out_energy_(n), out_eta_(n), out_phi_(n),
          out_charge_(n), d_scratch_(scratch_bytes(int(n)) / sizeof(uint64_t)) {
        for (size_t i = 0; i < mask_.values().size(); ++i)
            if (mask_.values()[i]) kept_ += mask_.count(i);
    }
    void run() override {
        got_ = select_rows(mask_.get(),
                           {energy_.get(), eta_.get(), phi_.get(), charge_.get()},
                           int(mask_.size()),
                           {out_energy_.get(), out_eta_.get(), out_phi_.get(), out_charge_.get()},
                           d_scratch_.get());
    }
    void reference() override {
        for (size_t i = 0; i < mask_.values().size(); ++i) {
            if (!mask_.values()[i]) continue;
            want_energy_.push_back(energy_.values()[i]);
            want_eta_.push_back(eta_.values()[i]);
            want_phi_.push_back(phi_.values()[i]);
            want_charge_.push_back(charge_.values()[i]);
        }
    }
    size_t reference_elements() const override { return mask_.values().size(); }
    std::string verify() override {
        if (uint64_t(got_) != kept_)
            return "got " + std::to_string(got_) + " rows, want " + std::to_string(kept_);
        std::string text = column(out_energy_, want_energy_);
        if (text.empty()) text = column(out_eta_, want_eta_);
        if (text.empty()) text = column(out_phi_, want_phi_);
        if (text.empty()) text = column(out_charge_, want_charge_);
        return text;
    }
    double bytes() const override { return double(mask_.size()) + 32.0 * double(kept_); }

private:
    static std::vector<unsigned char> mask_of(size_t n) {  // one row of ten
        return wb::made_of<unsigned char>(
            n, [](size_t i) { return wb::splitmix64(i) % 10 == 0 ? 1 : 0; });
    }
    template <class T>
    std::string column(const wb::DeviceBuffer<T>& got, const std::vector<T>& want) {
        return wb::device_mismatch<T>(
            got.get(), kept_, [&](size_t i) { return want[i % want.size()]; });
    }
    wb::Repeated<unsigned char> mask_;
    wb::Repeated<float> energy_, eta_, phi_;
    wb::Repeated<int> charge_;
    wb::DeviceBuffer<float> out_energy_, out_eta_, out_phi_;
    wb::DeviceBuffer<int> out_charge_;
    wb::DeviceBuffer<uint64_t> d_scratch_;
    uint64_t kept_ = 0;
    int got_ = 0;
    std::vector<float> want_energy_, want_eta_, want_phi_;
    std::vector<int> want_charge_;
};
WORKLOAD(Rows, "keeps rows of a table", 1 << 27, 100003);

}  // namespace
