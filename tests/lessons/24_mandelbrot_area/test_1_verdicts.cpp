// SPDX-License-Identifier: MIT
// Lesson 24, single samples: each is decided as the header says.
//
// Tolerance: points, steps and verdicts are compared exactly: each rounding is prescribed, and fmaf
// is the same operation everywhere. The shortcut may round in any way: within 1e-4 of its border
// only points where nothing rounds are tested.
#include "lesson_test.h"
#include "reference.h"

namespace {

const char* in_words(Verdict verdict) {
    return verdict == Verdict::kOutside  ? "outside"
           : verdict == Verdict::kInside ? "inside"
                                         : "undecided";
}

void check_floyd(float x, float y, int most, Verdict want) {
    const Verdict got = floyd(make_float2(x, y), most);
    const bool right = got == want;
    INFO("c = (" << x << ", " << y << ") with " << most << " trips at most: got " << in_words(got)
                 << ", want " << in_words(want));
    CHECK(right);
}

void check_shortcut(float x, float y, bool want) {
    const bool got = surely_inside(make_float2(x, y));
    const bool right = got == want;
    INFO("surely_inside of (" << wb::shown(x) << ", " << wb::shown(y) << "): got "
                              << (got ? "true" : "false") << ", want "
                              << (want ? "true" : "false"));
    CHECK(right);
}

void check_float2(const char* of, float2 got, float x, float y) {
    const bool right = got.x == x && got.y == y;
    INFO(of << ": got (" << got.x << ", " << got.y << "), want (" << x << ", " << y << ")");
    CHECK(right);
}

// Verdicts on `points`, in words. slips(slip, eps): the verdicts that a mistake would give.
using Slips = std::function<std::vector<Verdict>(Slip, float)>;
void check_verdicts(const std::vector<Point>& points, const std::vector<Verdict>& got,
                    const std::vector<Verdict>& want, const Slips& slips) {
    const auto numbers = [](const std::vector<Verdict>& verdicts) {
        std::vector<int> out;
        for (const Verdict verdict : verdicts) out.push_back(int(verdict));
        return out;
    };
    std::vector<wb::Mistake<int>> mistakes;
    for (const NamedSlip& named : kOfFloyd)
        mistakes.push_back({named.words, [&] { return numbers(slips(named.slip, named.eps)); }});
    wb::recognize<int>(numbers(got), numbers(want), mistakes);
    size_t wrong = 0, first = 0;
    for (size_t i = want.size(); i-- > 0;)
        if (got[i] != want[i]) {
            ++wrong;
            first = i;
        }
    INFO("c = (" << wb::shown(points[first].x) << ", " << wb::shown(points[first].y) << "): got "
                 << in_words(got[first]) << ", want " << in_words(want[first]) << "; " << wrong
                 << " of " << want.size() << " verdicts are wrong");
    const bool right = wrong == 0;
    CHECK(right);
}

}  // namespace

TEST_CASE("task 1: makes a point of a word", "[task1]") {
    check_float2("point_of(0)", point_of(0), -2.0f, -1.5f);
    const Point corner = true_point(~0ull);
    check_float2("point_of(2^64 - 1)", point_of(~0ull), corner.x, corner.y);
    std::vector<float> x, y, want_x, want_y;
    for (uint64_t i = 0; i < 3000; ++i) {
        const float2 got = point_of(random_word(kSeed, i));
        const Point want = true_point(random_word(kSeed, i));
        x.push_back(got.x);
        y.push_back(got.y);
        want_x.push_back(want.x);
        want_y.push_back(want.y);
    }
    std::vector<float> both = x, want_both = want_x;
    both.insert(both.end(), y.begin(), y.end());
    want_both.insert(want_both.end(), want_y.begin(), want_y.end());
    // x of all words, then y of all words, from these halves and with this side of the box.
    const auto made = [&](int half_of_x, int half_of_y, float side) {
        return [=] {
            std::vector<float> out;
            for (const auto& [half, start] : {std::pair(half_of_x, kLeft), {half_of_y, kBottom}})
                for (uint64_t i = 0; i < 3000; ++i)
                    out.push_back(
                        std::fma(side, unit_float(uint32_t(random_word(kSeed, i) >> half)), start));
            return out;
        };
    };
    wb::recognize<float>(both,
                         want_both,
                         {{"x and y are swapped", made(0, 32, 3)},
                          {"x and y come from the same half of the word", made(32, 32, 3)},
                          {"x and y come from the same half of the word", made(0, 0, 3)},
                          {"a box whose side is 1", made(32, 0, 1)},
                          {"a box whose side is 2", made(32, 0, 2)},
                          {"a box whose side is 4", made(32, 0, 4)}});
    const auto exactly = [](size_t) { return 0.0; };
    CHECK_ARRAYS(x, want_x, exactly, "x of word");
    CHECK_ARRAYS(y, want_y, exactly, "y of word");
}

TEST_CASE("task 1: takes a step", "[task1]") {
    check_float2("step of (1, 2) with c = (0.5, -0.25)",
                 step(make_float2(1, 2), make_float2(0.5f, -0.25f)),
                 -2.5f,
                 3.75f);
    std::vector<float> x, y, want_x, want_y;
    for (uint64_t i = 0; i < 3000; ++i) {
        const Point z = true_point(random_word(1, i)), c = true_point(random_word(2, i));
        const float2 got = step(make_float2(z.x, z.y), make_float2(c.x, c.y));
        const Point want = next(z, c);
        x.push_back(got.x);
        y.push_back(got.y);
        want_x.push_back(want.x);
        want_y.push_back(want.y);
    }
    // x of all steps, then y of all steps; not those in which a mistake makes little difference.
    const auto made = [](auto slip) {
        std::vector<float> xs, ys;
        for (uint64_t i = 0; i < 3000; ++i) {
            const Point z = true_point(random_word(1, i));
            if (std::fabs(z.x) < 0.1f || std::fabs(z.y) < 0.1f) continue;
            const Point got = slip(z, true_point(random_word(2, i)));
            xs.push_back(got.x);
            ys.push_back(got.y);
        }
        xs.insert(xs.end(), ys.begin(), ys.end());
        return xs;
    };
    const auto later = [&](auto slip) { return [&made, slip] { return made(slip); }; };
    wb::recognize<float>(
        made([](Point z, Point c) {
            const float2 got = step(make_float2(z.x, z.y), make_float2(c.x, c.y));
            return Point{got.x, got.y};
        }),
        made(next),
        {{"y' = x y + c.y: the two of 2 x y is missing", later([](Point z, Point c) {
              return Point{next(z, c).x, std::fma(z.x, z.y, c.y)};
          })},
         {"the square of y is added: its sign is wrong", later([](Point z, Point c) {
              return Point{std::fma(z.x, z.x, std::fma(z.y, z.y, c.x)), next(z, c).y};
          })},
         {"y' is computed from the new x instead of the old one", later([](Point z, Point c) {
              const Point to = next(z, c);
              return Point{to.x, std::fma(2 * to.x, z.y, c.y)};
          })},
         {"c is not added", later([](Point z, Point) {
              return next(z, {0, 0});
          })},
         {"c.x and c.y are swapped", later([](Point z, Point c) {
              return next(z, {c.y, c.x});
          })},
         {"the sign of 2 x y is wrong", later([](Point z, Point c) {
              return Point{next(z, c).x, std::fma(-2 * z.x, z.y, c.y)};
          })}},
        [](size_t) { return 1e-6; });
    // recognize() takes what is so close for right.
    size_t wrong = 0;
    bool only_rounded = true;
    for (size_t i = 0; i < x.size(); ++i) {
        wrong += x[i] != want_x[i] || y[i] != want_y[i];
        only_rounded &=
            std::fabs(x[i] - want_x[i]) <= 1e-6f && std::fabs(y[i] - want_y[i]) <= 1e-6f;
    }
    if (wrong > 0 && only_rounded)
        wb::details::note_mistakes({"right, but for the last bits: each fmaf of the header must be "
                                    "one, and nothing else may be"},
                                   wrong);
    const auto exactly = [](size_t) { return 0.0; };
    CHECK_ARRAYS(x, want_x, exactly, "x of step");
    CHECK_ARRAYS(y, want_y, exactly, "y of step");
}

TEST_CASE("task 2: hare and tortoise stay on the same track", "[task2]") {
    std::vector<float> hare_x, tortoise_x, tortoise_y, want_hare_x, want_x, want_y;
    std::vector<Point> points;
    std::vector<Verdict> got, want;
    for (uint64_t i = 0; i < 200; ++i) {
        const Point c = true_point(random_word(3, i));
        float2 hare = make_float2(0, 0), tortoise = hare;
        Point true_hare{0, 0}, true_tortoise{0, 0};
        for (int trips = 1; trips <= 50; ++trips) {
            got.push_back(trip(hare, tortoise, make_float2(c.x, c.y)));
            want.push_back(true_floyd(c, trips));
            points.push_back(c);
            if (want.back() == Verdict::kOutside) break;  // then both may be anything
            true_hare = next(next(true_hare, c), c);
            hare_x.push_back(hare.x);
            want_hare_x.push_back(true_hare.x);
            true_tortoise = next(true_tortoise, c);
            tortoise_x.push_back(tortoise.x);
            tortoise_y.push_back(tortoise.y);
            want_x.push_back(true_tortoise.x);
            want_y.push_back(true_tortoise.y);
            if (want.back() == Verdict::kInside) break;
        }
    }
    check_verdicts(points, got, want, [&](Slip slip, float eps) {
        std::vector<Verdict> out;
        Point hare{0, 0}, tortoise{0, 0};
        for (size_t i = 0; i < points.size(); ++i) {
            const bool is_new = i == 0 || points[i].x != points[i - 1].x;
            if (is_new) hare = tortoise = {0, 0};
            out.push_back(slip_trip(hare, tortoise, points[i], slip, eps));
        }
        return out;
    });
    const auto exactly = [](size_t) { return 0.0; };
    CHECK_ARRAYS(hare_x, want_hare_x, exactly, "x of the hare in trip");
    CHECK_ARRAYS(tortoise_x, want_x, exactly, "x of the tortoise in trip");
    CHECK_ARRAYS(tortoise_y, want_y, exactly, "y of the tortoise in trip");
}

TEST_CASE("task 2: decides well-known points", "[task2]") {
    for (const auto& [x, y] : {std::pair(0.0f, 0.0f), {-1.0f, 0.0f}, {-2.0f, 0.0f}, {0.0f, 1.0f}}) {
        check_floyd(x, y, 100, Verdict::kInside);
    }
    for (const auto& [x, y] :
         {std::pair(0.26f, 0.0f), {1.0f, 1.0f}, {-2.01f, 0.0f}, {-2.0f, 1.5f}}) {
        check_floyd(x, y, 100, Verdict::kOutside);
    }
}

TEST_CASE("task 2: stops after exactly the allowed trips", "[task2]") {
    check_floyd(0, 0, 0, Verdict::kUndecided);
    check_floyd(0, 0, 1, Verdict::kInside);
    check_floyd(1, 1, 0, Verdict::kUndecided);
    check_floyd(1, 1, 1, Verdict::kOutside);
    // c = -3/4 + e i takes about pi / e steps to leave: 3141 here, half as many trips.
    check_floyd(-0.75f, 0.001f, 1500, Verdict::kUndecided);
    check_floyd(-0.75f, 0.001f, 1600, Verdict::kOutside);
    const int most = GENERATE(0, 1, 2, 3, 10, 100, 1000);
    CAPTURE(most);
    std::vector<Point> points;
    std::vector<Verdict> got, want;
    for (uint64_t i = 0; i < 2000; ++i) {
        const Point c = true_point(random_word(4, i));
        points.push_back(c);
        got.push_back(floyd(make_float2(c.x, c.y), most));
        want.push_back(true_floyd(c, most));
    }
    check_verdicts(points, got, want, [&](Slip slip, float eps) {
        std::vector<Verdict> out;
        for (const Point c : points) out.push_back(slip_floyd(c, most, slip, eps));
        return out;
    });
}

TEST_CASE("task 3: finds the cardioid and the disc", "[task3]") {
    for (const auto& [x, y] : {std::pair(0.0f, 0.0f),
                               {0.249f, 0.0f},
                               {-0.74f, 0.0f},
                               {0.25f, 0.45f},
                               {-1.0f, 0.0f},
                               {-1.249f, 0.0f},
                               {-1.0f, -0.249f},
                               {-0.76f, 0.0f}}) {
        check_shortcut(x, y, true);
    }
    for (const auto& [x, y] : {std::pair(0.26f, 0.0f),
                               {-0.75f, 0.01f},
                               {-1.26f, 0.0f},
                               {-2.0f, 0.0f},
                               {0.0f, 1.0f},
                               {-0.125f, 0.745f},
                               {-1.0f, 0.26f}}) {
        check_shortcut(x, y, false);
    }
    for (uint64_t i = 0; i < 20000; ++i) {
        const Point c = true_point(random_word(5, i));
        const double s = shortcut(c.x, c.y);
        if (std::fabs(s) >= 1e-4 && surely_inside(make_float2(c.x, c.y)) != (s < 0)) {
            check_shortcut(c.x, c.y, s < 0);
            break;
        }
    }
}

TEST_CASE("task 3: the border belongs to the cardioid and the disc", "[task3]") {
    for (const auto& [x, y] : {std::pair(0.25f, 0.0f),
                               {0.25f, 0.5f},
                               {0.25f, -0.5f},
                               {-0.75f, 0.0f},
                               {-1.25f, 0.0f},
                               {-1.0f, 0.25f},
                               {-1.0f, -0.25f}})
        check_shortcut(x, y, true);
}
