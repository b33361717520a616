// SPDX-License-Identifier: MIT
// A device for hostile kernels: beside what they may write lies what they may not, filled with a
// known byte, and addresses are chosen where mistakes hurt. test_hostile.cpp and fuzz_loader.cpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "machine/program/code.h"
#include "machine/texture.h"

namespace hostile {

using namespace machine;

constexpr uint8_t kCanary = 0xA7;

// A device whose memory is surrounded by bytes that must not change.
class Target {
public:
    static constexpr uint64_t kBudget = 1 << 20;  // thread-instructions of one launch

    Target() {
        for (int i = 0; i < 6; ++i) {
            canaries_.push_back(std::make_unique<std::vector<uint8_t>>(512 + 256 * i, kCanary));
            const uint64_t bytes = i == 5 ? (2u << 20) : 100 + 256u * i;
            mine_.push_back(memory.allocate(MemoryKind::kDevice, bytes, 0, 0));
        }
        constant_ = memory.allocate(MemoryKind::kConst, 256, 0, 0);
        foreign_ = memory.allocate(MemoryKind::kDevice, 256, 1, 0);
        std::memset(constant_->host, kCanary, 256);
        std::memset(foreign_->host, kCanary, 256);
        Allocation* const freed = memory.allocate(MemoryKind::kDevice, 256, 0, 0);
        freed_ = freed->address;
        memory.release(*freed, 0);
        TextureObject object;
        object.levels.push_back({mine_[4]->address, 8, 4, 2, 64, 256});
        textures_.add(object);
        object.is_surface = true;
        textures_.add(object);
        object.levels[0].width = 1 << 20;  // says that it is larger than its memory
        textures_.add(object);
        renew();
    }

    // A machine without modules, on the same memory.
    void renew() {
        modules_.clear();
        device_ = Machine::create(memory, observers);
        device_->set_peers(1);
        device_->set_budget(kBudget);
        device_->set_printf_sink([](const char*, size_t) {});
        device_->set_textures(&textures_);
    }

    uint64_t address(std::mt19937_64& random) {
        const auto pick = [&](const auto& list) -> const auto& {
            return list[random() % std::size(list)];
        };
        const Allocation& near = *pick(mine_);
        const uint64_t edges[] = {0, near.bytes, near.bytes / 2, uint64_t(0) - 32};
        const uint64_t steps[] = {0, 1, 4, 8, 15, 16, 31, 64};
        uint64_t base = 0;
        switch (random() % 12) {
        case 0:  // the host's own memory
            base = uint64_t(uintptr_t(pick(canaries_)->data()));
            break;
        case 1:
            base = uint64_t(uintptr_t(near.host));
            break;
        case 2:
            base = constant_->address;
            break;
        case 3:
            base = foreign_->address;
            break;
        case 4:
            base = freed_;
            break;
        case 5:  // a small number: local, parameter or shared space, a surface, or null
            base = random() % 4096;
            break;
        case 6:  // a window of shared memory, its neighbours, and what is after all of them
            base = (1 + random() % 6) << kSharedWindowBits;
            break;
        case 7:
            base = random();
            break;
        default:
            base = near.address + pick(edges);
            break;
        }
        base += (random() & 1 ? pick(steps) : uint64_t(0) - pick(steps));
        if (random() % 4 == 0) {  // a tag: of each space, or of none
            const uint64_t tags[] = {kSharedTag, kLocalTag, kParamTag, kCodeTag, 0x80, 0xff};
            base = (base & 0xffffffffu) | pick(tags) << 56;
        }
        return base;
    }

    // Eight address registers for 32 lanes: all alike, neighbours, one astray, or all astray.
    void aim(uint64_t seed) {
        std::mt19937_64 random(seed);
        auto* const words = reinterpret_cast<uint64_t*>(mine_[5]->host);
        for (unsigned k = 0; k < 8; ++k) {
            const uint64_t base = address(random), step = uint64_t(1) << random() % 6;
            const unsigned pattern = random() % 4, astray = random() % 32;
            for (unsigned lane = 0; lane < 32; ++lane) {
                uint64_t at = base + (pattern ? lane * step : 0);
                if (pattern == 3 || (pattern == 2 && lane == astray)) at = address(random);
                words[k * 32 + lane] = at;
            }
        }
        for (unsigned i = 256; i < 512; ++i) words[i] = random();
    }

    // False when the text, or its kernel, is refused.
    bool run(const std::string& text, const std::string& kernel_name, LaunchRequest request) {
        std::unique_ptr<LoadedModule> module;
        try {
            module = device_->load(text, "hostile", 0);
        } catch (const ptx::ParseError&) {
            return false;
        } catch (const UnsupportedPtx&) {
            return false;
        }
        modules_.push_back(std::move(module));
        return run(*modules_.back(), kernel_name, request);
    }
    bool run(LoadedModule& module, const std::string& kernel_name, LaunchRequest request) {
        try {
            request.kernel = module.kernel(kernel_name);
            // Pointers for whatever reads its parameters as such.
            request.arguments.resize(request.kernel->parameter_bytes());
            for (size_t at = 0, k = 0; at + 8 <= request.arguments.size(); at += 8, ++k)
                std::memcpy(&request.arguments[at], &mine_[(5 + k) % mine_.size()]->address, 8);
            device_->launch(request);
        } catch (const ptx::ParseError&) {
            return false;
        } catch (const UnsupportedPtx&) {
            return false;
        }
        return true;
    }

    Machine& device() { return *device_; }

    // Declared first: the rest refers to them.
    Memory memory;
    Observers observers;

    // What has changed that must not; "" is nothing.
    std::string damage() const {
        const auto whole = [](const void* at, size_t bytes) {
            const auto* p = static_cast<const uint8_t*>(at);
            return std::all_of(p, p + bytes, [](uint8_t b) { return b == kCanary; });
        };
        for (const auto& canary : canaries_)
            if (!whole(canary->data(), canary->size())) return "host memory";
        if (!whole(constant_->host, 256)) return "constant memory";
        if (!whole(foreign_->host, 256)) return "memory of a device without peer access";
        return "";
    }

private:
    TextureTable textures_;
    std::vector<std::unique_ptr<std::vector<uint8_t>>> canaries_;
    std::vector<Allocation*> mine_;
    Allocation *constant_ = nullptr, *foreign_ = nullptr;
    uint64_t freed_ = 0;
    std::vector<std::unique_ptr<LoadedModule>> modules_;
    std::unique_ptr<Machine> device_;
};

}  // namespace hostile
