// SPDX-License-Identifier: MIT
// emulate PROGRAM ARGS: runs an nvcc-built program with the emulator's libcudart in place of
// NVIDIA's. It inspects the program first, so that it can explain what cannot work, sets the
// environment, and calls exec.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "cudart/options.h"
#include "machine/platform/platform.h"
#include "programs/elf_facts.h"

namespace fs = std::filesystem;

namespace {

using emulator::kExitCannotRun;
constexpr int kExitNotFound = 127;  // as env and the shell use it
// Always loaded: libcudart.so.12 depends on it.
constexpr const char* kCudart = "libcudart.so.13";
constexpr const char* kSupported[] = {kCudart, "libcudart.so.12"};

constexpr const char* kHelp =
    R"(usage: emulate [OPTIONS] PROGRAM [ARGUMENTS]
       emulate [OPTIONS] python3 SCRIPT [ARGUMENTS]

Runs a CUDA program (built with `nvcc -cudart shared`, or one that uses the driver API) on an emulated device, without a GPU, and
reports what is wrong with it: accesses out of bounds, races, divergent barriers, leaks, ...
Runs a Python script that uses Numba, CuPy, PyCUDA or cuda-python in the same way (PYTHON.md).

  --checks=LIST         all or full (default), quick (all but races: a half to a fifth of the time),
                        none, or a comma-separated list of names and finding codes
  --report=FILE         write the findings to FILE as well, as JSON lines
  --counters=FILE       write the counters of every launch and source line to FILE, as JSON
  --trace=FILE          write every access and barrier of the first launches to FILE, as JSON lines
  --timeline=FILE       write when copies and kernels would run on a card to FILE, by a model, for
                        Perfetto and chrome://tracing
  --budget=N            thread-instructions that one launch may use before it counts as hanging
  --devices=N           how many devices the program sees (default 1)
  --memory=BYTES        memory of each device, such as 24G (default 4G); only what the program
                        touches takes memory of this machine
  --arch=N              compute capability of the devices: 75, 80, 90, ... (default: the newest
                        that the program has PTX for)
  --error-exitcode=N    exit with N when there was an error finding (default: the program's code)
  --force               do not inspect the program first; for one that loads CUDA code by itself
  --platform            the processor of this machine, and what cannot be reported on it
  --help                this text

Each option sets the environment variable of its name: --error-exitcode is EMULATOR_ERROR_EXITCODE.
For source lines build with `-lineinfo` (device) and `-g` (host).
Exit code: the program's own, or N. 139: the host touched device memory. 127: no such program.
126: the program cannot run here; the message says why. 3: some of its device code could not be
run, and the program itself ended with 0. 2: wrong options. 70: internal error, a fault of the
emulated device. 71: the program used up this machine's memory.
)";

struct OptionName {
    const char *option, *variable;
};
constexpr std::array<OptionName, 10> kOptions{{{"--checks", "EMULATOR_CHECKS"},
                                               {"--report", "EMULATOR_REPORT"},
                                               {"--counters", "EMULATOR_COUNTERS"},
                                               {"--trace", "EMULATOR_TRACE"},
                                               {"--timeline", "EMULATOR_TIMELINE"},
                                               {"--budget", "EMULATOR_BUDGET"},
                                               {"--devices", "EMULATOR_DEVICES"},
                                               {"--memory", "EMULATOR_MEMORY"},
                                               {"--arch", "EMULATOR_ARCH"},
                                               {"--error-exitcode", "EMULATOR_ERROR_EXITCODE"}}};

[[noreturn]] void fail(int code, const std::string& message) {
    std::fprintf(stderr, "emulate: %s\n", message.c_str());
    std::exit(code);
}

// The file that `name` refers to: the name itself when it has a slash, else the first match in
// PATH.
std::string locate(const std::string& name) {
    if (name.find('/') != std::string::npos || fs::is_directory(name)) return name;
    const char* path = std::getenv("PATH");
    const std::string list = path ? path : "";
    for (size_t start = 0; start <= list.size();) {
        const size_t end = std::min(list.find(':', start), list.size());
        const std::string file = list.substr(start, end - start) + "/" + name;
        if (end > start && access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return file;
        start = end + 1;
    }
    if (access(name.c_str(), F_OK) == 0)
        fail(kExitNotFound,
             name + " is not in PATH; for the one in this directory write ./" + name);
    fail(kExitNotFound, name + ": no such program in PATH");
}

// Finds the libraries of `facts` in the directories that the dynamic linker searches before the
// system's: CUDA code often is in a library of the program. System libraries are skipped.
void collect_libraries(const emulator::ElfFacts& facts, std::set<std::string>& seen,
                       std::vector<emulator::ElfFacts>& found) {
    std::vector<std::string> directories =
        facts.runpath.empty() ? facts.rpath : std::vector<std::string>{};
    const char* variable = std::getenv("LD_LIBRARY_PATH");
    const std::string list = variable ? variable : "";
    for (size_t start = 0; start < list.size();) {
        const size_t end = std::min(list.find_first_of(":;", start), list.size());
        if (end > start) directories.push_back(list.substr(start, end - start));
        start = end + 1;
    }
    directories.insert(directories.end(), facts.runpath.begin(), facts.runpath.end());
    for (const auto& name : facts.needed) {
        if (name.starts_with("libcudart.so")) continue;
        for (const auto& directory : directories) {
            const std::string file = directory + "/" + name;
            if (access(file.c_str(), R_OK) != 0) continue;
            if (!seen.insert(file).second) break;
            if (const auto library = emulator::read_elf(file)) {
                found.push_back(*library);
                collect_libraries(*library, seen, found);
            }
            break;
        }
    }
}

std::string cudart_of(const emulator::ElfFacts& facts) {
    for (const auto& name : facts.needed)
        if (name.starts_with("libcudart.so")) return name;
    return "";
}

// The interpreter in the first line of a script (`#!/usr/bin/env python3`), located; "" for a file
// without such a line.
std::string interpreter_of(const std::string& path) {
    std::ifstream file(path);
    std::string line, word;
    if (!std::getline(file, line) || !line.starts_with("#!")) return "";
    std::istringstream words(line.substr(2));
    words >> word;
    if (fs::path(word).filename() == "env")
        while (words >> word && (word.starts_with("-") || word.find('=') != std::string::npos)) {
        }
    return word.empty() ? "" : locate(word);
}

// Whether a script is called what Python is called: pyenv's `python3` looks for the version to use
// and starts it.
bool starts_python(const std::string& script) {
    const std::string name = fs::path(script).filename().string();
    return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == name.npos;
}

// What a program needs before it can run.
struct Needs {
    std::set<std::string> runtimes;  // the names of libcudart that it is linked with
    bool python = false;             // it is Python, or a script for it
};

// Exits with one message when the program cannot run on the emulator.
Needs check_program(const std::string& path) {
    if (access(path.c_str(), F_OK) != 0) fail(kExitNotFound, path + ": " + std::strerror(errno));
    if (fs::is_directory(path)) fail(kExitCannotRun, path + " is a directory, not a program");
    if (access(path.c_str(), X_OK) != 0)
        fail(kExitCannotRun, path + " is not executable; if it is a program: chmod +x " + path);
    const std::string interpreter = interpreter_of(path);
    const auto facts = emulator::read_elf(interpreter.empty() ? path : interpreter);
    if (facts && facts->is_python) return {{}, true};
    if (!interpreter.empty() && starts_python(path)) return {{}, true};
    if (!facts) fail(kExitCannotRun, path + ": cannot be read: " + std::strerror(errno));
    if (!facts->is_elf || !interpreter.empty())
        fail(kExitCannotRun,
             path + " is not a program for Linux (not an ELF file); give the program "
                    "that nvcc built, not a source file or a script");
    if (facts->is_object)
        fail(kExitCannotRun,
             path + " is an object file, not a program; link it: `nvcc -cudart shared " + path +
                 " -o program`");
    if (!facts->is_for_this_processor)
        fail(kExitCannotRun,
             path + " is not built for " + machine::kHostProcessor +
                 ", the processor of this machine; build it here or for this machine");
    if (!facts->is_dynamic)
        fail(kExitCannotRun,
             path + " is linked statically, or is a library, so no other libcudart can be loaded; "
                    "build it with `nvcc -cudart shared` and without -static");

    std::set<std::string> seen;
    std::vector<emulator::ElfFacts> all{*facts};
    collect_libraries(*facts, seen, all);
    bool device_code = false, static_runtime = false, driver = false;
    std::set<std::string> runtimes;
    for (const auto& file : all) {
        device_code |= file.has_device_code;
        static_runtime |= file.has_static_cudart;
        for (const auto& name : file.needed) driver |= name.starts_with("libcuda.so");
        const std::string cudart = cudart_of(file);
        if (cudart.empty()) continue;
        runtimes.insert(cudart);
        if (std::find(std::begin(kSupported), std::end(kSupported), cudart) == std::end(kSupported))
            fail(kExitCannotRun,
                 path + " needs " + cudart +
                     ", but this emulator replaces libcudart.so.12 and libcudart.so.13; build "
                     "the program with a CUDA toolkit of version 12.4 or newer");
    }
    const bool shared_runtime = !runtimes.empty();
    // nvcc links its runtime into every program, including those that only use the driver API. A
    // program of that kind is accepted; if it calls the runtime, cuGetExportTable reports it.
    if (static_runtime && !shared_runtime && !driver)
        fail(kExitCannotRun,
             path +
                 " contains NVIDIA's runtime (-cudart static, nvcc's default), so the emulated one "
                 "cannot take its place; build it with `nvcc -cudart shared`");
    if (!device_code && !shared_runtime && !driver)
        fail(kExitCannotRun,
             path +
                 " contains no device code (no section .nv_fatbin) and uses "
                 "neither libcudart nor libcuda: it is not a CUDA program. If it loads CUDA code "
                 "later by itself, use --force");
    return {runtimes, false};
}

void prepend(const char* variable, const std::string& value) {
    const char* old = std::getenv(variable);
    const std::string joined = old && *old ? value + ":" + old : value;
    setenv(variable, joined.c_str(), 1);
}

// Inserts the library before those that are already preloaded, but after a sanitizer's library
// (libasan.so), which must come first.
void preload(const std::string& library) {
    const char* old = std::getenv("LD_PRELOAD");
    const std::string names = old ? old : "";
    const size_t end = std::min(names.find_first_of(": "), names.size());
    const size_t sanitizer = names.find("san.so");
    if (sanitizer >= end) return prepend("LD_PRELOAD", library);
    setenv("LD_PRELOAD", (names.substr(0, end) + ":" + library + names.substr(end)).c_str(), 1);
}

// For a process that loads CUDA code while it runs: see process/.
void set_up_python(const fs::path& directory) {
    const fs::path audit = directory / "libemulator_audit.so", hooks = directory / "python";
    for (const fs::path& part : {audit, hooks / "sitecustomize.py"})
        if (!fs::exists(part))
            fail(kExitCannotRun, part.string() + " is missing; build the emulator (cmake --build)");
    prepend("LD_AUDIT", audit.string());
    setenv(emulator::kFolderVariable, directory.c_str(), 1);
    setenv(emulator::kProcessVariable, std::to_string(getpid()).c_str(), 1);
    prepend("PYTHONPATH", hooks.string());
    // CuPy's cache of kernels for a card is no use here, nor is this device's on a card.
    if (!std::getenv("CUPY_CACHE_DIR"))
        if (const char* home = std::getenv("HOME"))
            setenv("CUPY_CACHE_DIR", (fs::path(home) / ".cupy/emulated_device").c_str(), 1);
    // Python frees an object when it likes, and not all of them at its end.
    setenv("EMULATOR_CHECKS", "all,-leak", 0);
    // Asked before there is any PTX to choose by.
    setenv("EMULATOR_ARCH", "90", 0);
    // The size of a grid says nothing about speed here.
    setenv("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0", 0);
}

void set_up_environment(const Needs& needs) {
    std::set<std::string> runtimes = needs.runtimes;
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    const fs::path directory = self.parent_path(), library = directory / kCudart;
    if (error || !fs::exists(library))
        fail(kExitCannotRun, library.string() + " is missing; build the emulator (cmake --build)");
    if (directory.string().find_first_of(":;") != std::string::npos)
        fail(kExitCannotRun,
             "the emulator is in " + directory.string() +
                 ": the dynamic linker takes no path with a colon or semicolon");
    // An RPATH in the program takes precedence over LD_LIBRARY_PATH, and a preloaded library over
    // both. LD_PRELOAD cannot hold a path with blanks, since blanks separate its names: in that
    // case the bare name is preloaded and searched for.
    prepend("LD_LIBRARY_PATH", directory.string());
    const bool blank = library.string().find_first_of(" \t\n") != std::string::npos;
    if (runtimes.empty()) runtimes.insert(kCudart);
    // A copy of either runtime may be in what Python loads: their structs differ in size.
    if (needs.python) runtimes.insert(std::begin(kSupported), std::end(kSupported));
    for (const auto& name : runtimes) preload(blank ? name : (directory / name).string());
    unsetenv(emulator::kSessionVariable);
    if (needs.python) set_up_python(directory);
}

}  // namespace

int main(int argc, char** argv) {
    int next = 1;
    bool force = false;
    emulator::Options options;
    for (; next < argc && argv[next][0] == '-'; ++next) {
        const std::string argument = argv[next];
        if (argument == "--") {
            ++next;
            break;
        }
        if (argument == "--help" || argument == "-h") {
            std::fputs(kHelp, stdout);
            return 0;
        }
        if (argument == "--platform") {
            std::printf("processor: %s\n", machine::kHostProcessor);
            for (const std::string& text : machine::not_watched_here())
                std::printf("not watched here: %s\n", text.c_str());
            return 0;
        }
        if (argument == "--force") {
            force = true;
            continue;
        }
        const size_t equals = argument.find('=');
        const std::string name = argument.substr(0, equals);
        const auto known = std::find_if(kOptions.begin(), kOptions.end(), [&](const OptionName& o) {
            return name == o.option;
        });
        if (known == kOptions.end())
            fail(emulator::kExitBadUsage, "unknown option " + name + "; see emulate --help");
        std::string value;
        if (equals != std::string::npos)
            value = argument.substr(equals + 1);
        else if (next + 1 < argc)
            value = argv[++next];
        else
            fail(emulator::kExitBadUsage, name + " needs a value: " + name + "=...");
        try {
            emulator::set_option(options, known->variable, value);
        } catch (const emulator::BadOption& error) {
            const std::string text = error.what();
            fail(emulator::kExitBadUsage,
                 name + text.substr(std::min(text.size(), std::strlen(known->variable))));
        }
        // File names are relative to the directory in which emulate was started, even if the
        // program changes its own.
        if (name == "--report" || name == "--counters" || name == "--trace" || name == "--timeline")
            value = fs::absolute(value).string();
        setenv(known->variable, value.c_str(), 1);
    }
    if (next >= argc) fail(emulator::kExitBadUsage, "no program given; see emulate --help");
    const std::string program = locate(argv[next]);
    Needs needs;
    if (!force)
        needs = check_program(program);
    else if (const auto facts = emulator::read_elf(program); facts && facts->is_python)
        needs.python = true;
    set_up_environment(needs);
    execv(program.c_str(), argv + next);
    fail(kExitCannotRun, program + " cannot be started: " + std::strerror(errno));
}
