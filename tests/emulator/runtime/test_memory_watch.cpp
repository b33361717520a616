// SPDX-License-Identifier: MIT
// A program that uses up the machine's memory is told, and ended.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

#include <sys/wait.h>

#include "catch/catch.h"
#include "runtime/host_watch/memory_levels.h"
#include "runtime/host_watch/memory_watch.h"

namespace fs = std::filesystem;
using runtime::MemoryLevels;

namespace {

// A folder that looks like the root of a machine.
class Root {
public:
    Root() {
        char name[] = "/tmp/memory_levels_XXXXXX";
        REQUIRE(mkdtemp(name));
        path_ = name;
        write("proc/meminfo", "MemTotal:  8000 kB\nMemFree: 100 kB\nMemAvailable:   3000 kB\n");
        write("proc/self/statm", "900 12 3 4 5 6 7\n");
    }
    ~Root() { fs::remove_all(path_); }
    const std::string& path() const { return path_; }
    void write(const std::string& name, const std::string& text) const {
        const fs::path file = fs::path(path_) / name;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }

private:
    std::string path_;
};

// How a child process ends that watches with this source.
int ending_of(runtime::MemoryNow (*source)(), void (*prepare)()) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        runtime::abandon_memory_watch();
        runtime::set_memory_source(source);
        prepare();
        runtime::watch_memory(1ull << 40);
        runtime::use_device_memory();
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        runtime::watch_memory(1ull << 40);  // it watches already
        std::this_thread::sleep_for(std::chrono::seconds(source().available ? 0 : 5));
        _exit(17);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

runtime::MemoryNow nothing_left() {
    return {0, 64ull << 30};
}
runtime::MemoryNow used_by_others() {
    return {0, 1 << 20};
}
runtime::MemoryNow plenty() {
    return {64ull << 30, 64ull << 30};
}

void take_signal() {
    std::signal(SIGBUS, [](int) { _exit(runtime::memory_used_up() ? 42 : 43); });
}
void block_signal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGBUS);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    runtime::set_memory_hook([] {
        const std::string text = runtime::describe_memory_use();
        const bool told =
            text.find("64.0 GiB") != text.npos && text.find("allocated 1024.0 GiB") != text.npos;
        _exit(told ? 44 : 45);
    });
}

}  // namespace

TEST_CASE("memory levels: without control groups they are the machine's", "[memory_watch]") {
    const Root root;
    const MemoryLevels levels(root.path());
    CHECK(levels.limit() == 8000ull << 10);
    CHECK(levels.available() == 3000ull << 10);
    CHECK(levels.resident() == 12 * uint64_t(sysconf(_SC_PAGESIZE)));
}

TEST_CASE("memory levels: the narrowest control group counts, of either version",
          "[memory_watch]") {
    const Root root;
    const std::string groups = "sys/fs/cgroup/";
    SECTION("version 2, a limit further out") {
        root.write("proc/self/cgroup", "0::/batch/job\n");
        root.write(groups + "batch/memory.max", "2048000\n");
        root.write(groups + "batch/memory.current", "1500000\n");
        root.write(groups + "batch/memory.stat",
                   "anon 1\ninactive_file 200000\nactive_file 100000\n");
        root.write(groups + "batch/job/memory.max", "max\n");
        root.write(groups + "batch/job/memory.current", "5\n");
        const MemoryLevels levels(root.path());
        CHECK(levels.limit() == 2048000);
        CHECK(levels.available() == 848000);  // files in memory make room
    }
    SECTION("version 1, in a container that sees its own group as the outermost") {
        root.write("proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/0123\n0::/\n");
        root.write(groups + "memory/memory.limit_in_bytes", "1000000\n");
        root.write(groups + "memory/memory.usage_in_bytes", "1200000\n");
        root.write(groups + "memory/memory.stat",
                   "inactive_file 1\ntotal_inactive_file 300000\ntotal_active_file 0\n");
        const MemoryLevels levels(root.path());
        CHECK(levels.limit() == 1000000);
        CHECK(levels.available() == 100000);
    }
    SECTION("none with a limit") {
        root.write("proc/self/cgroup", "0::/\n");
        root.write(groups + "memory.max", "max\n");
        CHECK(MemoryLevels(root.path()).available() == 3000ull << 10);
    }
}

TEST_CASE("memory levels: nothing is known without /proc", "[memory_watch]") {
    const MemoryLevels levels("/no/such/folder");
    CHECK(levels.limit() == ~0ull);
    CHECK(levels.available() == ~0ull);
    CHECK(levels.resident() == 0);
}

// These start a thread in a forked process, which qemu 7.2's user emulation cannot.
TEST_CASE("memory watch: the thread that uses device memory gets a SIGBUS",
          "[memory_watch][forks]") {
    CHECK(ending_of(nothing_left, take_signal) == 42);
}

TEST_CASE("memory watch: a program that blocks the signal is ended all the same",
          "[memory_watch][forks]") {
    CHECK(ending_of(nothing_left, block_signal) == 44);
}

TEST_CASE("memory watch: goes on while there is memory, or where others have used it up",
          "[memory_watch][forks]") {
    CHECK(ending_of(plenty, take_signal) == 17);
    CHECK(ending_of(used_by_others, take_signal) == 17);
}
