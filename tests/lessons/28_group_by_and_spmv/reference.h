// SPDX-License-Identifier: MIT
// Lesson 28 on the host: tables with sorted keys, sparse matrices, their sums with a bound for the
// error, and the results of common mistakes. For the lesson's test only.
#pragma once

#include <climits>
#include <limits>
#include <numeric>

#include "group_by_and_spmv.h"
#include "lesson_test.h"

namespace {

using Ints = std::vector<int>;
using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline double exact(size_t) {
    return 0.0;
}

// The largest error of a sum of `terms` floats in any order. Each addition rounds by at most 2^-24
// of its result, twice that if the terms are products. `magnitude` is the sum of the absolute
// values.
inline double bound_of_sum(double magnitude, size_t terms) {
    return double(terms + 1) * 0x1p-23 * magnitude;
}

// Eighths from 1/8 to most/8, as many different ones as possible: the sum of `terms` of them is
// exact in any order, also if each is multiplied by a number up to 8.
inline Floats eighths(size_t n, uint64_t seed, size_t terms) {
    const uint64_t most = std::max<size_t>((1 << 20) / std::max<size_t>(terms, 1), 1);
    Floats out(n);
    for (size_t i = 0; i < n; ++i) out[i] = float(1 + wb::random_bits(seed, i) % most) / 8;
    return out;
}

// Keys in ascending order; each row begins a new group with a chance of `percent`, and `most` is
// the largest step from a key to the next.
inline Ints sorted_keys(int n, uint64_t seed, int percent, int most = 3, int first = 0) {
    Ints keys(n);
    int key = first;
    for (int i = 0; i < n; ++i) {
        const uint64_t bits = wb::random_bits(seed, i);
        if (i > 0 && int(bits % 100) < percent) key += 1 + int((bits >> 32) % most);
        keys[i] = key;
    }
    return keys;
}

// Steps with a Poisson distribution of mean 0.1: 905 of 1000 are 0, 90 are 1, 5 are more.
inline Ints poisson_keys(int n, uint64_t seed) {
    Ints keys(n);
    int key = 0;
    for (int i = 0; i < n; ++i) {
        const float u = wb::uniform_float(seed, i);
        key += (u > 0.904837f) + (u > 0.995321f) + (u > 0.999845f);
        keys[i] = key;
    }
    return keys;
}

// Groups of these many rows.
inline Ints keys_of_lengths(const Ints& lengths) {
    Ints keys;
    for (size_t g = 0; g < lengths.size(); ++g) keys.insert(keys.end(), lengths[g], int(3 * g) - 8);
    return keys;
}

// Where each group begins, and the number of rows at the end.
inline Ints begins_of(const Ints& keys) {
    Ints begins;
    for (size_t i = 0; i < keys.size(); ++i)
        if (i == 0 || keys[i] != keys[i - 1]) begins.push_back(int(i));
    begins.push_back(int(keys.size()));
    return begins;
}

// The sums of x over [begin(s), end(s)) for each segment s, as differences of sums in double: their
// error is far below that of floats.
template <class Begin, class End>
inline Floats sums_over(const Floats& x, int segments, const Begin& begin, const End& end) {
    const int n = int(x.size());
    std::vector<double> up_to(n + 1, 0.0);
    for (int i = 0; i < n; ++i) up_to[i + 1] = up_to[i] + x[i];
    Floats out(segments);
    for (int s = 0; s < segments; ++s) {
        const int first = std::clamp(begin(s), 0, n);
        out[s] = float(up_to[std::clamp(end(s), first, n)] - up_to[first]);
    }
    return out;
}

// Compares bits: a NaN equals itself.
inline Ints bits_of(const Floats& x) {
    Ints bits(x.size());
    if (!x.empty()) std::memcpy(bits.data(), x.data(), x.size() * sizeof(float));
    return bits;
}

// The sums of the groups if a row adds the carry when `adds(row)` is true, and the next round
// begins with the sum of the last lane, with the old carry or (`loses`) without it.
inline Floats by_rounds(const Ints& begins, const Floats& x, const std::function<bool(int)>& adds,
                        bool loses) {
    const int n = int(x.size()), groups = int(begins.size()) - 1;
    std::vector<double> out(groups, 0.0);
    double open = 0;  // what the tiles before have left of the group
    for (int first = 0, g = 0; first < n; first += kTile) {
        double carry = 0, sum = 0, left = 0;
        bool begun = first == begins[g];  // whether a group begins in the tile up to here
        for (int i = first; i < std::min(first + kTile, n); ++i) {
            if (i == begins[g]) begun = true;
            if (i % 32 == 0 && i > first) carry = loses ? sum : left;
            if (i % 32 == 0 || i == begins[g]) sum = 0;
            sum += x[i];
            left = sum + (adds(i) ? carry : 0);
            if (i + 1 != begins[g + 1]) continue;
            out[g] = left + (begun ? 0 : open);
            open = 0;
            ++g;
        }
        if (g < groups && begins[g] < first + kTile)
            open = (begun ? 0 : open) + (loses ? sum : left);
    }
    return Floats(out.begin(), out.end());
}

// The sums of each column for common mistakes.
inline std::vector<wb::Mistake<float>> mistakes_of_groups(const Ints& keys, const Ints& begins,
                                                          const Floats& x) {
    const int groups = int(begins.size()) - 1;
    const auto with =
        [=, &x](const char* words, std::function<int(int)> begin, std::function<int(int)> end) {
            return wb::Mistake<float>{words, [=, &x] { return sums_over(x, groups, begin, end); }};
        };
    const auto begin = [&begins](int g) { return begins[g]; };
    const auto end = [&begins](int g) { return begins[g + 1]; };
    const auto anew = [&begins](int every, int more) {  // the group's rows since a border
        return [&begins, every, more](int g) {
            return std::max(begins[g], ((begins[g + 1] - 1) / every - more) * every);
        };
    };
    return {with("the last row of each group is missing", begin, [=](int g) { return end(g) - 1; }),
            with(
                "the first row of each group is missing", [=](int g) { return begin(g) + 1; }, end),
            with(
                "each sum is that of all rows up to there: where does the group begin?",
                [](int) { return 0; },
                end),
            with("each round of 32 rows begins anew: where is the carry?", anew(32, 0), end),
            with("each tile begins anew: the open sums of earlier tiles are missing",
                 anew(kTile, 0),
                 end),
            with("of the earlier tiles only the one just before is added", anew(kTile, 1), end),
            with("of the earlier tiles only the 32 just before are added", anew(kTile, 32), end),
            {"each sum is stored at the place of its key, which is not the number of its group",
             [=, &keys, &x] {
                 const Floats sums = sums_over(x, groups, begin, end);
                 Floats out(groups, kNan);
                 for (int g = 0; g < groups; ++g)
                     if (const int key = keys[begins[g]]; key >= 0 && key < groups)
                         out[key] = sums[g];
                 return out;
             }},
            {"every row adds the carry: does it belong to a group that begins in the round?",
             [&begins, &x] {
                 return by_rounds(
                     begins, x, [](int) { return true; }, false);
             }},
            {"every row but the heads adds the carry: only rows before the first head should",
             [&keys, &begins, &x] {
                 const auto follows = [&](int i) { return i > 0 && keys[i] == keys[i - 1]; };
                 return by_rounds(begins, x, follows, false);
             }},
            {"the new carry lacks the old one: sums from two rounds back are lost",
             [&begins, &x] {
                 const auto open = [&](int i) {  // no group begins in the round up to row i
                     const auto after = std::upper_bound(begins.begin(), begins.end(), i);
                     return *(after - 1) < i / 32 * 32;
                 };
                 return by_rounds(begins, x, open, true);
             }},
            {"the last group is missing", [=, &x] {
                 Floats out = sums_over(x, groups, begin, end);
                 out.back() = kNan;
                 return out;
             }}};
}

// A sparse matrix on the host, as the header describes it. Entries before row_begin[0] and after
// the last row belong to other rows.
struct HostMatrix {
    int columns = 0;
    Ints row_begin{0}, column;
    Floats value;
    int rows() const { return int(row_begin.size()) - 1; }
    int entries() const { return row_begin.back() - row_begin[0]; }
};

// Rows of these many entries, in random columns. With `whole`, values are eighths.
inline HostMatrix matrix_of(const Ints& lengths, int columns, uint64_t seed, bool whole = false,
                            int before = 0, int after = 0) {
    HostMatrix m;
    m.columns = columns;
    m.row_begin[0] = before;
    for (const int length : lengths) m.row_begin.push_back(m.row_begin.back() + length);
    const size_t n = m.row_begin.back() + after;
    const int longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
    m.value = whole ? eighths(n, seed, longest) : wb::random_floats(n, seed);
    m.column = wb::random_ints(n, seed + 1, 0, std::max(0, columns - 1));
    return m;
}

// Entries in neighbouring columns, as in a band.
inline HostMatrix band_of(const Ints& lengths, int columns, uint64_t seed) {
    HostMatrix m = matrix_of(lengths, columns, seed, true);
    for (int r = 0; r < m.rows(); ++r)
        for (int i = m.row_begin[r]; i < m.row_begin[r + 1]; ++i)
            m.column[i] = (r + i - m.row_begin[r]) % columns;
    return m;
}

struct Product {
    Floats y;
    std::vector<double> bound;
};

using Term = std::function<double(int row, int entry)>;

// The sums of term(row, entry) over [row_begin[r] + first, row_begin[r + 1] + last).
inline Product product_of(const HostMatrix& m, const Term& term, int first = 0, int last = 0) {
    Product out;
    for (int r = 0; r < m.rows(); ++r) {
        double sum = 0, magnitude = 0;
        const int begin = m.row_begin[r] + first;
        const int end = std::min(m.row_begin[r + 1] + last, int(m.column.size()));
        for (int i = begin; i < end; ++i) {
            sum += term(r, i);
            magnitude += std::fabs(term(r, i));
        }
        out.y.push_back(float(sum));
        out.bound.push_back(bound_of_sum(magnitude, std::max(0, end - begin)));
    }
    return out;
}

inline std::vector<wb::Mistake<float>> mistakes_of_products(const HostMatrix& m, const Floats& x) {
    const auto at = [&x](int i) {
        return i >= 0 && i < int(x.size()) ? double(x[i]) : double(kNan);
    };
    const auto term = [&m, at](int, int i) { return m.value[i] * at(m.column[i]); };
    const auto with = [&m](const char* words, const Term& of, int first = 0, int last = 0) {
        return wb::Mistake<float>{words, [=, &m] { return product_of(m, of, first, last).y; }};
    };
    const auto shifted = [&m, term](int by) {  // row r has the sum of row r + by
        const Floats y = product_of(m, term).y;
        Floats out(y.size(), 0.0f);
        for (int r = 0; r < m.rows(); ++r)
            if (r + by >= 0 && r + by < m.rows()) out[r] = y[r + by];
        return out;
    };
    return {with("the last entry of each row is missing", term, 0, -1),
            with("the first entry of each row is missing", term, 1, 0),
            with("each row has an entry too many, the first of the next row", term, 0, 1),
            with("x is taken at the number of the entry, not at its column",
                 [&m, at](int, int i) { return m.value[i] * at(i); }),
            with("x is taken at the number of the row, not at the column",
                 [&m, at](int r, int i) { return m.value[i] * at(r); }),
            with("x is left out: only the values are added up",
                 [&m](int, int i) { return double(m.value[i]); }),
            with("the values are left out: only x is added up",
                 [&m, at](int, int i) { return at(m.column[i]); }),
            {"each row begins at 0: row_begin[row] is left out",
             [&m, term] {
                 Floats out;
                 double sum = 0;
                 int i = 0;
                 for (int r = 0; r < m.rows(); ++r) {
                     for (; i < m.row_begin[r + 1]; ++i) sum += term(r, i);
                     out.push_back(float(sum));
                 }
                 return out;
             }},
            {"entries are counted from the first row on: row_begin[0] is not 0",
             [&m, term] {
                 HostMatrix from_0 = m;
                 for (int& begin : from_0.row_begin) begin -= m.row_begin[0];
                 return product_of(from_0, term).y;
             }},
            {"each row has the sum of the next row: is row_begin off by one?",
             [shifted] { return shifted(1); }},
            {"each row has the sum of the row before: is row_begin off by one?",
             [shifted] { return shifted(-1); }},
            {"the sums have lost their fractions: an int lies on the way",
             [&m, term] {
                 Floats out;
                 for (int r = 0; r < m.rows(); ++r) {
                     float sum = 0;
                     for (int i = m.row_begin[r]; i < m.row_begin[r + 1]; ++i)
                         sum = std::trunc(sum + float(term(r, i)));
                     out.push_back(sum);
                 }
                 return out;
             }},
            {"only the first 32 entries of each row are added up",
             [&m, term] {
                 return product_of(m,
                                   [&m, term](int r, int i) {
                                       return i - m.row_begin[r] < 32 ? term(r, i) : 0.0;
                                   })
                     .y;
             }},
            {"only the entries of lanes 0 to 15 are added up: the first step is that of 16 lanes",
             [&m, term] {
                 return product_of(m,
                                   [&m, term](int r, int i) {
                                       return (i - m.row_begin[r]) % 32 < 16 ? term(r, i) : 0.0;
                                   })
                     .y;
             }},
            {"only the entries of lane 0 are added up, every 32nd of a row",
             [&m, term] {
                 return product_of(m,
                                   [&m, term](int r, int i) {
                                       return (i - m.row_begin[r]) % 32 == 0 ? term(r, i) : 0.0;
                                   })
                     .y;
             }},
            {"empty rows are not written: their sum is 0", [&m, term] {
                 Floats out = product_of(m, term).y;
                 for (int r = 0; r < m.rows(); ++r)
                     if (m.row_begin[r] == m.row_begin[r + 1]) out[r] = kNan;
                 return out;
             }}};
}

}  // namespace
