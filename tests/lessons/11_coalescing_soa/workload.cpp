// SPDX-License-Identifier: MIT
// What is timed of lesson 11: numbers from columns, and the change of the layout.
#include "coalescing_soa.h"
#include "workloads/workload_data.h"

namespace {

class FromColumns : public wb::Elementwise<float> {
public:
    explicit FromColumns(size_t n)
        : Elementwise(n), px_(wb::repeated_floats(n, 1)), py_(wb::repeated_floats(n, 2)) {}
    void run() override { pt2_of_columns(px_.get(), py_.get(), d_out_.get(), int(n_)); }
    void fill(size_t begin, size_t end) override {
        for (size_t i = begin; i < end; ++i)
            want_[i] = pt_squared(px_.values()[i], py_.values()[i]);
    }
    double bytes() const override { return 12.0 * double(n_); }

protected:
    wb::Repeated<float> px_, py_;
};
struct FromColumnsWide final : FromColumns {
    using FromColumns::FromColumns;
    void run() override { pt2_of_columns_wide(px_.get(), py_.get(), d_out_.get(), int(n_)); }
};
WORKLOAD(FromColumns, "transverse momenta from columns", 1 << 27, 100003);
WORKLOAD(FromColumnsWide, "transverse momenta from columns, wide", 1 << 27, 100003);

std::vector<Particle> particles(size_t n) {
    return wb::made_of<Particle>(std::min(n, wb::kPeriod), [](size_t i) {
        return Particle{wb::uniform_float(1, i),
                        wb::uniform_float(2, i),
                        wb::uniform_float(3, i),
                        wb::uniform_float(4, i)};
    });
}

// The four columns are one array, of 4 n floats.
class ToColumns final : public wb::Workload {
public:
    explicit ToColumns(size_t n) : n_(n), in_(n, particles(n)), d_out_(4 * n) {}
    void run() override {
        float* out = d_out_.get();
        to_columns(in_.get(), {out, out + n_, out + 2 * n_, out + 3 * n_}, int(n_));
    }
    void reference() override {
        const auto& in = in_.values();
        for (auto& column : want_) column.resize(in.size());
        for (size_t i = 0; i < in.size(); ++i) {
            want_[0][i] = in[i].px;
            want_[1][i] = in[i].py;
            want_[2][i] = in[i].pz;
            want_[3][i] = in[i].e;
        }
    }
    size_t reference_elements() const override { return in_.values().size(); }
    std::string verify() override {
        return wb::device_mismatch<float>(d_out_.get(), 4 * n_, [&](size_t i) {
            return want_[i / n_][i % n_ % want_[0].size()];
        });
    }
    double bytes() const override { return 32.0 * double(n_); }

private:
    size_t n_;
    wb::Repeated<Particle> in_;
    wb::DeviceBuffer<float> d_out_;
    std::vector<float> want_[4];
};
WORKLOAD(ToColumns, "structures to columns", 1 << 26, 100003);

}  // namespace
