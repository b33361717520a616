// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ptx/source_map.h"
#include "ptx_text.h"

namespace {

const std::string kFiles = R"(
.file 1 "/nowhere/kernel.cu"
.file 2 "/usr/local/cuda-13.0/targets/x86_64-linux/include/sm_60_atomic_functions.hpp"
.file 3 "/nowhere/my_math.h"
.section .debug_str
{
$L__info_string0:
.b8 95,90,51,102
.b8 111,111,118,0
$L__info_string1:
.b8 98,97,114,0
}
)";

ptx::SourceLine line_of(const ptx::Module& module, const ptx::Function& function, size_t i) {
    return module.user_line(function.body.at(i).location);
}

// A directory that is gone when the test ends.
struct Scratch {
    Scratch() {
        char name[] = "/tmp/user_files_XXXXXX";
        path = mkdtemp(name);
    }
    ~Scratch() { std::filesystem::remove_all(path); }
    std::string file(const std::string& name) const {
        const std::filesystem::path whole = std::filesystem::path(path) / name;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream(whole) << "\n";
        return whole.string();
    }
    std::string path;
};

}  // namespace

TEST_CASE("source map: an instruction has the place before it", "[ptx][source]") {
    const auto module =
        open_kernel("trap;\n.loc 1 10 3\nbar.sync 0;\nbar.sync 1;\n.loc 1 12 7\nret;", kFiles);
    const auto& k = *module->function("k");
    CHECK(k.body[0].location == 0);
    CHECK(module->inline_chain(0).empty());
    CHECK(line_of(*module, k, 0).line == 0);
    CHECK(line_of(*module, k, 1).line == 10);
    CHECK(k.body[1].location == k.body[2].location);
    CHECK(line_of(*module, k, 3).line == 12);
    CHECK(line_of(*module, k, 3).column == 7);
    CHECK(line_of(*module, k, 3).file == "/nowhere/kernel.cu");
    CHECK(line_of(*module, k, 3).function == "k");
}

TEST_CASE("source map: what stands without a line at the front of a block has the next one",
          "[ptx][source]") {
    const auto module = open_kernel(".loc 1 10 3\nbar.sync 0;\nbra $next;\n$next:\n.loc 1 0 3\n"
                                    "bar.sync 1;\nbar.sync 2;\n.loc 1 12 7\nbar.sync 3;\n"
                                    ".loc 1 0 7\nbar.sync 4;\n$last:\n.loc 1 0 3\nbar.sync 5;\n"
                                    "bra $end;\n.loc 1 14 1\nbar.sync 6;\n$end:\nret;",
                                    kFiles);
    const auto& k = *module->function("k");
    std::vector<uint32_t> lines;
    for (size_t i = 0; i < 9; ++i) lines.push_back(line_of(*module, k, i).line);
    // In the middle of a block, and where a branch ends it, the line before it stays.
    CHECK(lines == std::vector<uint32_t>{10, 10, 12, 12, 12, 12, 12, 12, 14});
}

TEST_CASE("source map: blame walks inlined_at to the user's line", "[ptx][source]") {
    const auto module = open_kernel(R"(.loc 1 20 5
.loc 3 7 9, function_name $L__info_string1, inlined_at 1 20 5
.loc 2 300 1, function_name $L__info_string0, inlined_at 3 7 9
trap;
.loc 1 21 5
.loc 2 300 1, function_name $L__info_string0+2, inlined_at 1 21 5
trap;)",
                                    kFiles);
    const auto& k = *module->function("k");
    const auto chain = module->inline_chain(k.body[0].location);
    REQUIRE(chain.size() == 3);
    CHECK(chain[0].line == 300);
    CHECK(chain[0].function == "foo");  // _Z3foov
    CHECK(chain[1].function == "bar");
    CHECK(chain[2].function == "k");
    CHECK(chain[2].line == 20);
    CHECK(line_of(*module, k, 0).file == "/nowhere/my_math.h");
    CHECK(line_of(*module, k, 0).line == 7);
    CHECK(line_of(*module, k, 1).line == 21);
    CHECK(module->inline_chain(k.body[1].location).size() == 2);
}

TEST_CASE("source map: the same line inlined twice keeps two callers", "[ptx][source]") {
    const auto module = open_kernel(R"(.loc 1 1 1
.loc 3 5 5, function_name $L__info_string1, inlined_at 1 1 1
.loc 3 9 9, function_name $L__info_string0, inlined_at 3 5 5
trap;
.loc 1 2 1
.loc 3 5 5, function_name $L__info_string1, inlined_at 1 2 1
.loc 3 9 9, function_name $L__info_string0, inlined_at 3 5 5
trap;)",
                                    kFiles);
    const auto& k = *module->function("k");
    CHECK(module->inline_chain(k.body[0].location).back().line == 1);
    CHECK(module->inline_chain(k.body[1].location).back().line == 2);
    CHECK(module->inline_chain(k.body[1].location).size() == 3);
}

TEST_CASE("source map: line 0 takes the line before it", "[ptx][source]") {
    const auto module =
        open_kernel(".loc 1 0 0\ntrap;\n.loc 1 10 3\ntrap;\n.loc 1 0 3\ntrap;\n"
                    ".loc 2 9 1, function_name $L__info_string0, inlined_at 1 0 3\ntrap;",
                    kFiles);
    const auto& k = *module->function("k");
    CHECK(line_of(*module, k, 0).line == 10);  // or, at the very start, the next one
    CHECK(line_of(*module, k, 1).line == 10);
    CHECK(line_of(*module, k, 2).line == 10);
    CHECK(line_of(*module, k, 3).line == 10);
}

TEST_CASE("source map: inlined places that were not announced, or have no name", "[ptx][source]") {
    const auto module = open_kernel(R"(.loc 2 1 1, function_name $L__nothing, inlined_at 1 44 1
trap;
.loc 2 2 1, inlined_at 1 45 1
trap;
.loc 7 3 1
trap;)",
                                    kFiles);
    const auto& k = *module->function("k");
    CHECK(line_of(*module, k, 0).line == 44);
    CHECK(line_of(*module, k, 1).line == 45);
    CHECK(line_of(*module, k, 2).file.empty());
    CHECK(module->inline_chain(k.body[0].location)[0].function.empty());
    CHECK(module->inline_chain(12345).empty());
}

TEST_CASE("user files: by the words of the path where the file is gone", "[ptx][source]") {
    ptx::UserFiles files;
    for (const char* path :
         {"/usr/include/c++/12/cmath",
          "/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h",
          "/gone/cuda/include/cub/block/block_reduce.cuh",
          "/gone/cuda-12.4/include/cuda_fp16.hpp",
          "/gone/targets/x86_64-linux/include/crt/sm_70_rt.hpp",
          "<built-in>",
          "",
          "/gone/venv/lib/python3.11/site-packages/nvidia/cu13/include/curand_kernel.h",
          "/gone/toolkit/include/thrust/system/cuda/detail/core/util.h",
          "/gone/toolkit/include/cooperative_groups.h"}) {
        CAPTURE(path);
        CHECK_FALSE(files.is_user_file(path));
    }
    for (const char* path : {"/gone/student/kernel.cu",
                             "kernel.cu",
                             "/gone/project/include/matrix.h",
                             "/gone/cuda-course/include/helpers.cuh",
                             "/gone/cuda/lesson/cub_like.cuh",
                             "/gone/project/cuda/reduce.cuh",
                             "/gone/my_cuda_samples/common/inc/thing.h"}) {
        CAPTURE(path);
        CHECK(files.is_user_file(path));
    }
}

TEST_CASE("user files: the disk decides where the file exists", "[ptx][source]") {
    const Scratch scratch;
    scratch.file("kit/include/cuda_runtime.h");
    scratch.file("kit/include/driver_types.h");
    const std::string toolkit = scratch.file("kit/include/cccl/some/deep.cuh");
    scratch.file("clone/cub/version.cuh");
    const std::string library = scratch.file("clone/cub/block/scan.cuh");
    const std::string beside = scratch.file("clone/main.cu");
    const std::string user = scratch.file("student/include/cuda/include/crt/mine.h");
    const std::string stub = scratch.file("stub/cuda_runtime.h");
    ptx::UserFiles files;
    CHECK_FALSE(files.is_user_file(toolkit));
    CHECK_FALSE(files.is_user_file(library));
    CHECK(files.is_user_file(beside));
    CHECK(files.is_user_file(user));
    CHECK(files.is_user_file(stub));
}

TEST_CASE("source map: a path outside of ASCII is read from its octal escapes", "[ptx][source]") {
    const auto module = open_kernel(".loc 1 10 3\nret;",
                                    ".file 1 \"/nowhere/\\303\\274bung \\\"1\\\"/kernel.cu\"\n");
    CHECK(line_of(*module, *module->function("k"), 0).file == "/nowhere/\xC3\xBC"
                                                              "bung \"1\"/kernel.cu");
}
