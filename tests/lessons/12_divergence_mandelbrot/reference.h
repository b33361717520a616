// SPDX-License-Identifier: MIT
// Lesson 12 on the host: escape times and pictures, and those that common mistakes make of them, so
// that the grader can name the mistake.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "divergence_mandelbrot.h"

namespace {

// What one step makes of z, and when it is the last: the header's definition, and common mistakes.
enum class Rule {
    kRight,
    kNewX,        // y is made of the new x
    kPlus,        // x^2 + y^2
    kNoTwo,       // y is x y
    kNotSquared,  // |z| > 4
    kLookFirst,   // |z|^2 is looked at before the step
    kFromOne,     // the first step is number 1
    kTwo,         // |z|^2 > 2
    kReaches,     // |z|^2 >= 4
    kNoC,         // c is not added to x
    kOtherC,      // ci is added to x, and cr to y
};

template <class T>
int escape_by(Rule rule, T cr, T ci) {
    T x = cr, y = ci;
    const T limit = rule == Rule::kNotSquared ? 16 : rule == Rule::kTwo ? 2 : 4;
    if (rule == Rule::kOtherC) std::swap(cr, ci);
    for (int k = 0; k < kMostSteps; ++k) {
        const T old = x;
        if (rule == Rule::kLookFirst && x * x + y * y > 4) return k;
        x = (rule == Rule::kPlus ? x * x + y * y : x * x - y * y) + (rule == Rule::kNoC ? 0 : cr);
        y = (rule == Rule::kNoTwo ? 1 : 2) * (rule == Rule::kNewX ? x : old) * y + ci;
        const T size = x * x + y * y;
        if (rule != Rule::kLookFirst && (size > limit || (rule == Rule::kReaches && size >= limit)))
            return k + (rule == Rule::kFromOne);
    }
    return kMostSteps;
}

template <class T>
int true_escape_time(T cr, T ci) {
    return escape_by(Rule::kRight, cr, ci);
}

constexpr std::pair<Rule, const char*> kWrongRules[] = {
    {Rule::kNewX, "the new y is computed from the new x: it needs the old one"},
    {Rule::kPlus, "a sign is wrong in the real part of (x + iy)^2"},
    {Rule::kNoTwo, "a factor is missing in the imaginary part of (x + iy)^2"},
    {Rule::kNotSquared, "|z| is compared with 4, not |z|^2"},
    {Rule::kLookFirst, "one step too late: |z|^2 is tested before the step, or z starts at 0"},
    {Rule::kFromOne, "steps are counted from 1, and the first one is number 0"},
    {Rule::kTwo, "|z|^2 is compared with 2, not with 4"},
    {Rule::kReaches, "|z|^2 = 4 counts as an escape: it must be above 4"},
    {Rule::kNoC, "c is not added to the real part"},
    {Rule::kOtherC, "the two parts of c are swapped in the step"},
};

inline double spaced(double first, double last, int index, int count) {
    return count == 1 ? first : first + index * ((last - first) / (count - 1));
}

// Row and column of pixels of 2000 x 3000 where |z|^2 comes no closer to 4 than 1e-5, and where a
// single number on the way that is a float changes the answer.
constexpr std::pair<int, int> kTooCoarseForFloat[] = {{18, 2907},
                                                      {43, 2833},
                                                      {211, 2852},
                                                      {611, 1988},
                                                      {1147, 431},
                                                      {1237, 465},
                                                      {1242, 499},
                                                      {1252, 978},
                                                      {1320, 894},
                                                      {1326, 896},
                                                      {1351, 496},
                                                      {1419, 769},
                                                      {1421, 593},
                                                      {1599, 553},
                                                      {1675, 506},
                                                      {1685, 153}};

// How row and column become c.
enum class Grid {
    kRight,
    kFromOtherIndex,
    kSwapped,
    kRanges,
    kTurned,
    kStepsOfN,
    kMoreSteps,
    kMoreColumns,
    kPitch,
    kWidthForBoth,
    kHeightForBoth
};

inline std::vector<int> picture_by(Rule rule, Grid grid, int height, int width, int pitch = 0) {
    const auto at = [&](double first, int index, int count) {
        if (grid == Grid::kStepsOfN) return first - first * index / count;
        if (grid == Grid::kMoreSteps) return first - first * index / (count + 1);
        return spaced(first, 0, index, count);
    };
    std::vector<int> out;
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column) {
            const int from_top = grid == Grid::kTurned ? height - 1 - row : row;
            const int columns = grid == Grid::kHeightForBoth ? height
                                : grid == Grid::kMoreColumns ? width + 1
                                : grid == Grid::kPitch       ? pitch
                                                             : width;
            if (grid == Grid::kFromOtherIndex) {
                out.push_back(escape_by(rule, at(-1.5, row, height), at(-1, column, width)));
                continue;
            }
            const bool ranges = grid == Grid::kRanges;
            const double cr = at(ranges ? -1 : -1.5, column, columns);
            const double ci =
                at(ranges ? -1.5 : -1, from_top, grid == Grid::kWidthForBoth ? width : height);
            out.push_back(grid == Grid::kSwapped ? escape_by(rule, ci, cr)
                                                 : escape_by(rule, cr, ci));
        }
    return out;
}

inline std::vector<int> true_picture(int height, int width) {
    return picture_by(Rule::kRight, Grid::kRight, height, width);
}

constexpr std::pair<Grid, const char*> kWrongGrids[] = {
    {Grid::kSwapped, "real and imaginary part of c are swapped"},
    {Grid::kFromOtherIndex, "cr follows the row and ci the column: the other way round"},
    {Grid::kRanges, "cr has the range of ci, and ci that of cr"},
    {Grid::kTurned, "row 0 has the ci of the last row: from where to where do they go?"},
    {Grid::kStepsOfN, "n points have n steps between them: count the gaps"},
    {Grid::kMoreSteps, "n points have n + 1 steps between them: count the gaps"},
    {Grid::kMoreColumns, "the steps from column to column are too small: count the gaps"},
    {Grid::kPitch, "the steps from column to column follow the pitch, not the width"},
    {Grid::kWidthForBoth, "the steps from row to row follow the width"},
    {Grid::kHeightForBoth, "the steps from column to column follow the height"},
};

// Rows of `pitch` pixels, with a mark in the columns past the picture.
inline std::vector<int> padded(const std::vector<int>& picture, int height, int width, int pitch) {
    std::vector<int> out(size_t(height) * pitch, -7);
    for (int row = 0; row < height; ++row)
        std::copy_n(
            picture.begin() + size_t(row) * width, width, out.begin() + size_t(row) * pitch);
    return out;
}

}  // namespace
