// SPDX-License-Identifier: MIT
// Made-up dimuon events, the same on every machine, and their analysis on the host.
//
// An event has 0 to 6 muons. Most of its pairs come from a falling background, the others from
// J/psi, Upsilon and Z. Masses are computed here in double. No counted mass lies within 3e-6 of the
// edge of a bin, relative to the mass, so an answer whose masses are right to 1e-6 has exactly the
// counts that are computed here.
#pragma once

#include "capstone_dimuon.h"
#include "common/host/data.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dimuon {

using Ints = std::vector<int>;
using Floats = std::vector<float>;

struct Sample {
    Ints counts, charge;
    Floats pt, eta, phi;
    int events() const { return int(counts.size()); }
    int muons() const { return int(pt.size()); }
    Events view() const {
        return {events(), muons(), counts.data(), pt.data(), eta.data(), phi.data(), charge.data()};
    }
    void add(double new_pt, double new_eta, double new_phi, int new_charge) {
        pt.push_back(float(new_pt));
        eta.push_back(float(new_eta));
        phi.push_back(float(std::remainder(new_phi, 2 * 3.14159265358979)));
        charge.push_back(new_charge);
    }
};

// Random numbers of one event: uniform in (0, 1).
class Dice {
public:
    Dice(uint64_t seed, uint64_t event) : first_(wb::splitmix64(wb::random_bits(seed, event))) {}
    double operator()() { return (double(wb::splitmix64(first_ + next_++) >> 11) + 0.5) * 0x1p-53; }
    double operator()(double low, double high) { return low + (high - low) * (*this)(); }

private:
    uint64_t first_, next_ = 0;
};

// The mass in GeV that the pair of an event should have.
inline double mass_of_pair(Dice& dice) {
    const double pi = 3.14159265358979;
    const double from = dice(), u = dice(), v = dice();
    const double gauss = std::sqrt(-2 * std::log(u)) * std::cos(2 * pi * v);
    if (from < 0.12) return 3.097 + 0.035 * gauss;
    if (from < 0.20) return 9.460 + 0.09 * gauss;
    if (from < 0.45) return std::fabs(91.19 + 1.25 * std::tan(pi * (u - 0.5)));
    return 0.3 - 25 * std::log(v);
}

inline double mass_on_host(const Sample& s, int i, int j) {
    const double a = std::sinh((double(s.eta[i]) - s.eta[j]) / 2);
    const double b = std::sin((double(s.phi[i]) - s.phi[j]) / 2);
    return 2 * std::sqrt(double(s.pt[i]) * s.pt[j] * (a * a + b * b));
}

struct Found {
    double mass = 0;
    int valid = 0;
};

// The heaviest pair among the muons [first, last).
inline Found heaviest(const Sample& s, int first, int last) {
    Found best;
    for (int i = first; i < last; ++i)
        for (int j = i + 1; j < last; ++j)
            if (s.charge[i] != s.charge[j]) best = {std::max(best.mass, mass_on_host(s, i, j)), 1};
    return best;
}

inline bool near_an_edge(double mass) {
    const double edge = std::round(mass * 10) / 10;
    return edge > 0 && std::fabs(mass - edge) < 3e-6 * edge;
}

// Adds an event with two muons of the pair's mass, with fewer muons, or with additional muons of
// low momentum. Returns its heaviest pair.
inline Found add_event(Sample& s, uint64_t seed, uint64_t event) {
    Dice dice(seed, event);
    const int first = s.muons();
    const double kind = dice();
    if (kind < 0.12) {
        s.counts.push_back(0);
        return {};
    }
    const double mass = mass_of_pair(dice);
    // Opposite directions for heavy pairs, neighbouring ones for light ones.
    const double deta = dice(-0.5, 0.5), turn = mass > 20 ? dice(2.4, 3.8) : dice(0.2, 0.7);
    const double eta = dice(-1.8, 1.8), phi = dice(-3.1, 3.1), share = std::exp(dice(-0.4, 0.4));
    const double pt = mass / std::sqrt(2 * (std::cosh(deta) - std::cos(turn)));
    const int charge = dice() < 0.5 ? 1 : -1;
    s.add(pt * share, eta, phi, charge);
    // A tenth has one muon, another tenth two of the same charge; in a few both have one direction.
    if (kind >= 0.22) s.add(pt / share, eta + deta, phi + turn, kind < 0.32 ? charge : -charge);
    if (kind > 0.998) {
        s.eta.back() = s.eta[first];
        s.phi.back() = s.phi[first];
    }
    if (kind > 0.8)
        for (int more = int(dice(1, 5)); more > 0; --more)
            s.add(0.3 - std::log(dice()), dice(-2.4, 2.4), dice(-3.1, 3.1), dice() < 0.5 ? 1 : -1);
    s.counts.push_back(s.muons() - first);
    Found best = heaviest(s, first, s.muons());
    while (near_an_edge(best.mass)) {
        for (int i = first; i < s.muons(); ++i) s.pt[i] *= 1.0001f;
        best = heaviest(s, first, s.muons());
    }
    return best;
}

// Events, and the right results of their analysis.
struct Known {
    Sample sample;
    Floats mass;  // of each event
    Ints valid;
    std::vector<unsigned> counts = std::vector<unsigned>(kBins);
};

inline void count(std::vector<unsigned>& counts, float mass) {
    if (mass >= 0 && mass < kLimit) ++counts[size_t(mass * 10.0f)];
}

inline Known make_events(int events, uint64_t seed) {
    Known known;
    for (int e = 0; e < events; ++e) {
        const Found best = add_event(known.sample, seed, e);
        known.mass.push_back(float(best.mass));
        known.valid.push_back(best.valid);
        if (best.valid) count(known.counts, float(best.mass));
    }
    return known;
}

inline Ints scanned(const Ints& in) {
    Ints out{0};
    for (const int value : in) out.push_back(out.back() + value);
    return out;
}

// The peaks of a spectrum, by the header's definition.
inline std::vector<Peak> peaks_of(const std::vector<unsigned>& counts) {
    std::vector<Peak> peaks;
    for (const Window& window : kWindows) {
        const unsigned base = std::max(counts[window.first], counts[window.last - 1]);
        uint64_t events = 0, weighted = 0;
        for (int b = window.first; b < window.last; ++b) {
            const uint64_t above = counts[b] > base ? counts[b] - base : 0;
            events += above;
            weighted += above * b;
        }
        peaks.push_back(
            {events ? int((weighted + events / 2) / events) : window.first, unsigned(events)});
    }
    return peaks;
}

}  // namespace dimuon
