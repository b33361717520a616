# SPDX-License-Identifier: MIT
# In make test MORE=1: large headers are compiled three times.
"""Answers that are unusual and good: the grader's search for forged ones refuses none of them."""

from __future__ import annotations

import unittest

import test_forged
from workbook.answers import catalog
from workbook.base.project import find_lesson
from workbook.build import programs, refusals

# Unusual and good: none of it is refused.
GOOD = """
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
#include <cuda_runtime.h>
#include "common/host/device_buffer.h"
#include "common/host/data.h"
using namespace std;
struct Global { Global() { cout << "made" << endl; } ~Global() { cerr << "gone\\n"; } } global;
static thread_local map<string, int> counted;
namespace { int counter = 0; }
template <class T> T twice(T x) { return x + x; }
inline int mismatch(const vector<float>& a) { return int(a.size()); }
namespace wb { inline int mine() { return 3; } }
string all(int n) {
    ostringstream out;
    out << setw(3) << twice(n) << twice(string("x")) << mismatch(wb::random_floats(3, 1));
    wb::DeviceBuffer<float> buffer(vector<float>(3));
    wb::GuardedBuffer<int> guarded(3, 1);
    thread other([&] { counted["x"] = ++counter; });
    other.join();
    auto later = async([] { return 3; });
    regex pattern("a+b");
    out << later.get() << regex_search(string("aab"), pattern) << wb::mine();
    function<int(int)> f = [&](int k) { return k + n; };
    try { throw runtime_error(to_string(f(3))); } catch (const exception& e) { out << e.what(); }
    mt19937 engine(3);
    out << uniform_real_distribution<>()(engine) << buffer.download()[0] << guarded.intact();
    ifstream in("/dev/null");
    string line;
    while (getline(in, line)) out << line;
    return out.str();
}
"""


class Good(test_forged.Objects):
    def test_what_is_unusual_and_good_is_not_refused(self) -> None:
        for level in ("-O0", "-O3"):
            made = self.made(GOOD, level)
            with self.subTest(level):
                self.assertEqual(refusals.of_object(made, "double_all.cu", self.judge), [])

    def test_the_address_of_the_interfaces_constant_is_not(self) -> None:
        lesson = find_lesson("21")
        judge = refusals.Judge(
            test_forged.BUILD, programs.linked_with(test_forged.BUILD, lesson)[1]
        )
        self.assertIn("kMaxBlocks", judge.weak)
        text = '#include "histogram_shared.h"\nconst int* most() { return &kMaxBlocks; }\n'
        source = catalog.write_as_student(self.root / "with_constant", lesson, text)
        made, _ = programs.object_of(test_forged.BUILD, lesson, source)
        self.assertEqual(refusals.of_object(made, source.name, judge), [])
        # Another one of that name, which no other file could share, is.
        source.write_text("extern const int kMaxBlocks = 1;\n")
        made, _ = programs.object_of(test_forged.BUILD, lesson, source)
        self.assertIn("kMaxBlocks", refusals.of_object(made, source.name, judge)[0])

    def test_cub_is_not(self) -> None:
        source = self.root / "with_cub" / "double_all.cu"
        source.parent.mkdir()
        text = test_forged.LESSON.solution_file.read_text()
        source.write_text("#include <cub/cub.cuh>\n" + text)
        made, _ = programs.object_of(test_forged.BUILD, test_forged.LESSON, source)
        self.assertEqual(refusals.of_object(made, "double_all.cu", self.judge), [])


if __name__ == "__main__":
    unittest.main()
