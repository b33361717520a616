// SPDX-License-Identifier: MIT
// The work of sorting: random keys, with or without values, and a check of the whole result that
// needs no sorting of its own. Lesson 27 and the libraries differ in run() alone.
#pragma once

#include <atomic>
#include <type_traits>

#include "workload_data.h"

namespace wb {

// Floats of [-1, 1), or doubles of [5, 10). Values are the numbers of the elements.
template <class Key, bool kValues>
class Sorting : public Workload {
public:
    explicit Sorting(size_t n)
        : in_(n), out_(n), in_values_(kValues ? n : 0), out_values_(kValues ? n : 0) {
        by_pieces(n, [&](size_t first, size_t size) {
            const auto keys = made_of<Key>(size, [&](size_t i) { return key(first + i); });
            copy_to(in_.get() + first, keys);
            if (!kValues) return;
            const auto values =
                made_of<unsigned>(size, [&](size_t i) { return unsigned(first + i); });
            copy_to(in_values_.get() + first, values);
        });
    }
    void reference() override {  // of the first ones
        std::vector<std::pair<Key, unsigned>> some(reference_elements());
        for (size_t i = 0; i < some.size(); ++i) some[i] = {key(i), unsigned(i)};
        std::stable_sort(some.begin(), some.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
        sorted_ = std::move(some);
    }
    size_t reference_elements() const override { return std::min(in_.size(), kPeriod); }

    // In order, and as many of each key as before. With values, each key is the one that its value
    // names, and equal keys have ascending values: there is only one such order. Without, the sums
    // of the keys' hashes are equal.
    std::string verify() override {
        const size_t n = in_.size();
        uint64_t hashes = 0;
        std::string text;
        Key last{};
        unsigned last_value = 0;
        by_pieces(n, [&](size_t first, size_t size) {
            if (!text.empty()) return;
            const auto keys = copied(out_.get() + first, size);
            const auto values = copied(out_values_.get() + first, kValues ? size : 0);
            std::atomic<size_t> wrong{size};  // the first wrong place, or nearly
            std::atomic<uint64_t> sum{0};
            in_parallel(size, [&](size_t begin, size_t end) {
                uint64_t mine = 0;
                for (size_t i = begin; i < end; ++i) {
                    mine += hash(keys[i]) - hash(key(first + i));
                    const Key before = i ? keys[i - 1] : last;
                    bool right = first + i == 0 || before <= keys[i];
                    if constexpr (kValues) {
                        const unsigned value_before = i ? values[i - 1] : last_value;
                        right = right && values[i] < n && key(values[i]) == keys[i];
                        if (first + i > 0 && before == keys[i])
                            right = right && value_before < values[i];
                    }
                    if (!right && i < wrong) wrong = i;
                }
                sum += mine;
            });
            if (wrong < size) {
                text = "element " + std::to_string(first + wrong) + ": got " + shown(keys[wrong]);
                if constexpr (kValues) text += " with the value " + shown(values[wrong]);
                text += first + wrong < sorted_.size() && n <= sorted_.size()
                            ? ", want " + shown(sorted_[first + wrong].first)
                            : ", which does not follow what is before it";
            }
            hashes += sum;
            last = keys.back();
            if constexpr (kValues) last_value = values.back();
        });
        if (text.empty() && hashes != 0) text = "not all keys are there as often as before";
        return text;
    }
    double bytes() const override {
        return 2.0 * (sizeof(Key) + (kValues ? sizeof(unsigned) : 0)) * double(in_.size());
    }
    const char* unit() const override { return "keys"; }

protected:
    unsigned* values_or_null(DeviceBuffer<unsigned>& values) {
        return kValues ? values.get() : nullptr;
    }
    DeviceBuffer<Key> in_, out_;
    DeviceBuffer<unsigned> in_values_, out_values_;

private:
    static Key key(size_t i) {
        if constexpr (std::is_same_v<Key, double>)
            return 5 + 5 * (double(random_bits(1, i) >> 11) * 0x1p-53);
        else
            return 2 * uniform_float(1, i) - 1;
    }
    static uint64_t hash(Key key) {
        uint64_t bits = 0;
        std::memcpy(&bits, &key, sizeof key);
        return splitmix64(bits);
    }
    template <class Work>
    static void by_pieces(size_t n, const Work& work) {
        constexpr size_t kPiece = size_t(1) << 24;
        for (size_t first = 0; first < n; first += kPiece) work(first, std::min(kPiece, n - first));
    }
    template <class T>
    static void copy_to(T* device, const std::vector<T>& host) {
        CUDA_CHECK(
            cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    template <class T>
    static std::vector<T> copied(const T* device, size_t size) {
        std::vector<T> host(size);
        if (size)
            CUDA_CHECK(cudaMemcpy(host.data(), device, size * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
    std::vector<std::pair<Key, unsigned>> sorted_;
};

}  // namespace wb
