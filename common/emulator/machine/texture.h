// SPDX-License-Identifier: MIT
// Texture and surface objects: what memory they show, and how a coordinate becomes texels and
// weights. Formulas: CUDA C++ Programming Guide, appendix "Texture Fetching".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/memory.h"

namespace machine {

// The texels of an object: 1, 2 or 4 channels of the same type.
struct TexelFormat {
    enum class Kind : uint8_t { kSigned, kUnsigned, kFloat } kind = Kind::kFloat;
    uint8_t bits = 32;  // of a channel: 8, 16 or 32
    uint8_t channels = 1;
    unsigned bytes() const { return unsigned(bits) / 8 * channels; }
};

// One mipmap level; the only one of most objects. A dimension that it has not is 0.
struct TextureLevel {
    uint64_t address = 0;
    uint32_t width = 0, height = 0, depth = 0;  // in texels; depth counts layers and faces too
    uint64_t pitch = 0, slice = 0;              // bytes from row to row, from slice to slice
};

enum class AddressMode : uint8_t { kWrap, kClamp, kMirror, kBorder };

struct TextureObject {
    bool is_surface = false;
    bool is_buffer = false;  // linear memory: fetched by index, zero outside
    std::vector<TextureLevel> levels;
    TexelFormat format;
    std::array<AddressMode, 3> address{
        AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
    bool linear_filter = false, linear_mipmaps = false;
    bool normalized_read = false;         // integers become [0, 1] or [-1, 1]
    bool normalized_coordinates = false;  // [0, 1) is the whole texture
    bool srgb = false;                    // 8-bit channels 0 to 2 are decoded
    std::array<float, 4> border{};
    float lod_bias = 0, least_lod = 0, greatest_lod = 0;
};

// All objects of the process, by the handle that kernels get. Handles are never used twice.
class TextureTable {
public:
    uint64_t add(TextureObject object);
    const TextureObject* find(uint64_t handle) const;  // null: destroyed, or never one
    bool remove(uint64_t handle);

private:
    std::vector<std::unique_ptr<TextureObject>> objects_;
};

// PTX ISA "Texture Instructions": .1d, .2d, .3d, .a1d, .a2d, .cube, .acube.
enum class TextureShape : uint8_t { k1d, k2d, k3d, kArray1d, kArray2d, kCube, kArrayCube };

struct TexelQuery {
    TextureShape shape = TextureShape::k2d;
    bool integer = false;  // coordinates are texel indexes
    std::array<float, 3> at{};
    std::array<int32_t, 3> index{};  // when `integer`
    int32_t layer = 0;
    float lod = 0;
};

// The texels that a fetch combines: 1, or up to 2^dimensions for each of two mipmap levels.
struct Taps {
    struct Tap {
        uint64_t address;  // 0: the border
        float weight;
    };
    std::array<Tap, 16> tap;
    unsigned count = 0;
    void add(uint64_t address, float weight) { tap[count++] = {address, weight}; }
};
void find_taps(const TextureObject& object, const TexelQuery& query, Taps& taps);
// tld4: the four texels of a bilinear footprint, in the order that the instruction returns them:
// (i, j+1), (i+1, j+1), (i+1, j), (i, j). Each gets weight 1.
void find_gather_taps(const TextureObject& object, const TexelQuery& query, Taps& taps);

// A texel as four 32-bit words: integers extended, halves and normalized reads as float, absent
// channels 0, 0, 0, 1. `texel` null: the border.
std::array<uint32_t, 4> read_texel(const TextureObject& object, const std::byte* texel);
// Whether those words are floats, which can be weighted.
bool reads_float(const TextureObject& object);

// The level of detail of two gradients in texture coordinates.
float lod_of_gradients(const TextureObject& object, const std::array<float, 3>& dx,
                       const std::array<float, 3>& dy);

}  // namespace machine
