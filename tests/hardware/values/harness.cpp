// SPDX-License-Identifier: MIT
// Runs every kernel of the PTX files that generate.py wrote, on a card or on the emulated device,
// and prints `name hash` of all that each kernel wrote. One program for both:
//
//   harness [--loader=driver|runtime] [--optimize=0] [--expected=FILE] [--raw=FILE] MODULE.ptx...
//
// `driver` gives the PTX to libcuda's cuModuleLoadDataEx, with --optimize=0 to be assembled
// plainly; `runtime` wraps it as nvcc wraps what it embeds in a program, and registers it with
// libcudart. --expected: the hashes of another device; kernels that differ from it, and those with
// approximate results, are written whole to --raw.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "inputs.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int,
                            void*, void*, void*, void*, int*);
}

namespace {

constexpr unsigned kBlocks = 2, kBlockThreads = 64, kThreads = kBlocks * kBlockThreads;
constexpr size_t kWords = kThreads * inputs::kSlots, kScratchWords = 1024, kStructBytes = 32;
constexpr size_t kMostRaw = 40;  // differing kernels that one process writes whole

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "harness: %s\n", what.c_str());
    std::exit(1);
}

void check(cudaError_t error, const std::string& what) {
    if (error != cudaSuccess) fail(what + ": " + cudaGetErrorString(error));
}

// Loads modules and launches kernels by name.
class Loader {
public:
    virtual ~Loader() = default;
    virtual void load(const std::string& ptx, const std::vector<std::string>& names) = 0;
    // Returns why it could not be launched, or "".
    virtual std::string launch(const std::string& name, void** arguments) = 0;
};

class DriverLoader final : public Loader {
public:
    explicit DriverLoader(bool optimize) : optimize_(optimize) {
        void* library = dlopen("libcuda.so.1", RTLD_NOW);
        if (!library) fail("libcuda.so.1 cannot be loaded; try --loader=runtime");
        find(library, load_data_, "cuModuleLoadDataEx");
        find(library, unload_, "cuModuleUnload");
        find(library, get_function_, "cuModuleGetFunction");
        find(library, launch_, "cuLaunchKernel");
        check(cudaFree(nullptr), "the device's context");
    }
    void load(const std::string& ptx, const std::vector<std::string>&) override {
        if (module_) unload_(module_);
        module_ = nullptr;
        constexpr int kOptimizationLevel = 7;  // CU_JIT_OPTIMIZATION_LEVEL
        int options[] = {kOptimizationLevel};
        void* values[] = {nullptr};  // level 0
        state_ = load_data_(&module_, ptx.c_str(), optimize_ ? 0 : 1, options, values);
    }
    std::string launch(const std::string& name, void** arguments) override {
        if (state_ != 0) return "the module was refused: error " + std::to_string(state_);
        void* function = nullptr;
        if (const int e = get_function_(&function, module_, name.c_str()))
            return "no such kernel: error " + std::to_string(e);
        const int e =
            launch_(function, kBlocks, 1, 1, kBlockThreads, 1, 1, 0, nullptr, arguments, nullptr);
        return e ? "error " + std::to_string(e) : "";
    }

private:
    template <class Function>
    static void find(void* library, Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(dlsym(library, name));
        if (!function) fail(std::string("libcuda.so.1 has no ") + name);
    }
    int (*load_data_)(void**, const void*, unsigned, int*, void**) = nullptr;
    int (*unload_)(void*) = nullptr;
    int (*get_function_)(void**, void*, const char*) = nullptr;
    int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**) = nullptr;
    bool optimize_;
    void* module_ = nullptr;
    int state_ = 0;
};

class RuntimeLoader final : public Loader {
public:
    void load(const std::string& ptx, const std::vector<std::string>& names) override {
        keys_.clear();
        auto image = std::make_unique<Image>();
        image->fill(ptx);
        void** handle = __cudaRegisterFatBinary(&image->wrapper);
        keys_space_.push_back(std::make_unique<char[]>(names.size()));
        for (size_t i = 0; i < names.size(); ++i) {
            char* key = &keys_space_.back()[i];
            keys_[names[i]] = key;
            image->names.push_back(names[i]);
        }
        for (auto& name : image->names) {
            __cudaRegisterFunction(handle,
                                   keys_[name],
                                   name.data(),
                                   name.c_str(),
                                   -1,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr);
        }
        __cudaRegisterFatBinaryEnd(handle);
        images_.push_back(std::move(image));
    }
    std::string launch(const std::string& name, void** arguments) override {
        const cudaError_t e = cudaLaunchKernel(
            keys_[name], {kBlocks, 1, 1}, {kBlockThreads, 1, 1}, arguments, 0, nullptr);
        return e == cudaSuccess ? "" : cudaGetErrorString(e);
    }

private:
    // The wrapper, container and entry that nvcc puts around uncompressed PTX.
    struct Image {
        struct {
            uint32_t magic = 0x466243b1, version = 1;
            const void* container = nullptr;
            void* extra = nullptr;
        } wrapper;
        std::vector<uint64_t> words;
        std::vector<std::string> names;

        void fill(const std::string& ptx) {
            const size_t text = (ptx.size() + 1 + 7) / 8 * 8;
            words.assign((16 + 0x48 + text) / 8, 0);
            auto* bytes = reinterpret_cast<char*>(words.data());
            const auto put = [&](size_t at, auto value) {
                std::memcpy(bytes + at, &value, sizeof value);
            };
            put(0, uint32_t(0xba55ed50));
            put(4, uint16_t(1));
            put(6, uint16_t(16));
            put(8, uint64_t(0x48 + text));
            const size_t entry = 16;
            put(entry, uint16_t(1));
            put(entry + 2, uint16_t(0x0101));
            put(entry + 4, uint32_t(0x48));
            put(entry + 8, uint64_t(text));
            put(entry + 0x18, uint16_t(1));
            put(entry + 0x1a, uint16_t(8));
            const size_t target = ptx.find(".target sm_");
            put(entry + 0x1c, uint32_t(std::atoi(ptx.c_str() + target + 11)));
            put(entry + 0x28, uint64_t(0x11));
            std::memcpy(bytes + entry + 0x48, ptx.data(), ptx.size());
            wrapper.container = bytes;
        }
    };
    std::vector<std::unique_ptr<Image>> images_;
    std::vector<std::unique_ptr<char[]>> keys_space_;
    std::map<std::string, char*> keys_;
};

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) fail("cannot read " + path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::string> kernel_names(const std::string& ptx) {
    constexpr std::string_view kEntry = ".visible .entry ";
    std::vector<std::string> names;
    for (size_t at = ptx.find(kEntry); at != std::string::npos; at = ptx.find(kEntry, at + 1)) {
        const size_t start = at + kEntry.size();
        names.push_back(ptx.substr(start, ptx.find('(', start) - start));
    }
    return names;
}

// The buffers of one launch, on the host and the device.
class Buffers {
public:
    Buffers() : in_(kWords), out_(kWords), scratch_(kScratchWords) {
        check(cudaMalloc(&d_in_, in_.size() * 8), "cudaMalloc");
        check(cudaMalloc(&d_out_, out_.size() * 8), "cudaMalloc");
        check(cudaMalloc(&d_scratch_, scratch_.size() * 8), "cudaMalloc");
    }
    ~Buffers() {
        cudaFree(d_in_);
        cudaFree(d_out_);
        cudaFree(d_scratch_);
    }
    void start(const std::string& name) {
        inputs::SplitMix random(inputs::hash_of(name) ^ 0x5eed);
        for (size_t i = 0; i < kWords; ++i) in_[i] = inputs::word(random, i % inputs::kSlots);
        for (auto& word : scratch_) word = inputs::word(random, 9 + random.below(7));
        for (size_t i = 0; i < kStructBytes; ++i) block_[i] = uint8_t(random.bits());
        std::memset(out_.data(), 0xff, out_.size() * 8);
        check(cudaMemcpy(d_in_, in_.data(), in_.size() * 8, cudaMemcpyHostToDevice), "copy in");
        check(cudaMemcpy(d_out_, out_.data(), out_.size() * 8, cudaMemcpyHostToDevice), "copy out");
        check(cudaMemcpy(d_scratch_, scratch_.data(), scratch_.size() * 8, cudaMemcpyHostToDevice),
              "copy");
    }
    void** arguments() {
        static void* list[4];
        list[0] = &d_in_, list[1] = &d_out_, list[2] = &d_scratch_, list[3] = block_;
        return list;
    }
    uint64_t finish(const std::string& name) {
        check(cudaDeviceSynchronize(), "kernel " + name);
        check(cudaMemcpy(out_.data(), d_out_, out_.size() * 8, cudaMemcpyDeviceToHost),
              "copy back");
        check(cudaMemcpy(scratch_.data(), d_scratch_, scratch_.size() * 8, cudaMemcpyDeviceToHost),
              "copy back");
        const auto text = [](const auto& words) {
            return std::string_view(reinterpret_cast<const char*>(words.data()), words.size() * 8);
        };
        return inputs::hash_of(text(scratch_), inputs::hash_of(text(out_)));
    }
    // 64 bytes of name, then `out`, then `scratch`.
    void write(std::FILE* file, const std::string& name) const {
        char head[64] = {};
        name.copy(head, sizeof head - 1);
        std::fwrite(head, 1, sizeof head, file);
        std::fwrite(out_.data(), 8, out_.size(), file);
        std::fwrite(scratch_.data(), 8, scratch_.size(), file);
    }

private:
    std::vector<uint64_t> in_, out_, scratch_;
    alignas(8) uint8_t block_[kStructBytes] = {};
    void *d_in_ = nullptr, *d_out_ = nullptr, *d_scratch_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    std::string loader_name = "runtime", optimize = "4", expected_file, raw_file;
    std::vector<std::string> modules;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto option = [&](const char* name, std::string& value) {
            const bool is_it = word.rfind(name, 0) == 0;
            if (is_it) value = word.substr(std::strlen(name));
            return is_it;
        };
        if (!option("--loader=", loader_name) && !option("--expected=", expected_file) &&
            !option("--raw=", raw_file) && !option("--optimize=", optimize))
            modules.push_back(word);
    }
    std::map<std::string, std::string> expected;
    if (!expected_file.empty()) {
        std::istringstream lines(read_file(expected_file));
        std::string name, hash;
        while (lines >> name >> hash) expected[name] = hash;
    }
    std::FILE* raw = raw_file.empty() ? nullptr : std::fopen(raw_file.c_str(), "wb");
    std::unique_ptr<Loader> loader;
    if (loader_name == "driver")
        loader = std::make_unique<DriverLoader>(optimize != "0");
    else
        loader = std::make_unique<RuntimeLoader>();
    Buffers buffers;
    size_t written = 0;
    for (const std::string& module : modules) {
        const std::string ptx = read_file(module);
        const std::vector<std::string> names = kernel_names(ptx);
        loader->load(ptx, names);
        for (const std::string& name : names) {
            buffers.start(name);
            const std::string trouble = loader->launch(name, buffers.arguments());
            if (!trouble.empty()) {
                std::printf("%s refused # %s\n", name.c_str(), trouble.c_str());
                cudaGetLastError();
                continue;
            }
            char hash[17];
            std::snprintf(hash,
                          sizeof hash,
                          "%016llx",
                          static_cast<unsigned long long>(buffers.finish(name)));
            std::printf("%s %s\n", name.c_str(), hash);
            const auto other = expected.find(name);
            const bool differs = other != expected.end() && other->second != hash;
            if (raw && (name[0] == 'a' || (differs && written < kMostRaw))) {
                written += name[0] != 'a';
                buffers.write(raw, name);
            }
        }
        std::fflush(stdout);
    }
    if (raw) std::fclose(raw);
}
