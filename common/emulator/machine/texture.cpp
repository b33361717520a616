// SPDX-License-Identifier: MIT
// Address modes, filtering weights and texel formats.
#include "machine/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "machine/lanes/numeric.h"

namespace machine {
namespace {

constexpr int64_t kBorder = -1;

// One axis of a fetch: one texel, or two with the weight of the second.
struct Axis {
    int64_t index[2] = {0, 0};
    float second = 0;
    unsigned count = 1;
};

int64_t resolve(int64_t i, int64_t size, AddressMode mode) {
    switch (mode) {
    case AddressMode::kBorder:
        return i < 0 || i >= size ? kBorder : i;
    case AddressMode::kWrap:
        i %= size;
        return i < 0 ? i + size : i;
    case AddressMode::kMirror:
        i %= 2 * size;
        if (i < 0) i += 2 * size;
        return i < size ? i : 2 * size - 1 - i;
    default:
        return std::clamp<int64_t>(i, 0, size - 1);
    }
}

// "Linear filtering ... are stored in 9-bit fixed point format with 8 bits of fractional value."
float fixed_weight(float fraction) {
    return std::floor(fraction * 256.0f + 0.5f) / 256.0f;
}

// Wrapping and mirroring are for normalized coordinates; others are clamped instead.
AddressMode mode_of(const TextureObject& object, unsigned axis, bool integer) {
    const AddressMode mode = object.address[axis];
    const bool periodic = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
    return periodic && (integer || !object.normalized_coordinates) ? AddressMode::kClamp : mode;
}

Axis point(int64_t i, int64_t size, AddressMode mode) {
    Axis out;
    out.index[0] = resolve(i, size, mode);
    return out;
}

Axis find_axis(float x, uint32_t texels, AddressMode mode, bool normalized, bool linear) {
    const int64_t size = std::max<uint32_t>(texels, 1);
    float u = std::isnan(x) ? 0.0f : x;
    if (normalized) {
        if (mode == AddressMode::kWrap) {
            u -= std::floor(u);
        } else if (mode == AddressMode::kMirror) {
            const float whole = std::floor(u);
            u -= whole;
            if (std::fmod(whole, 2.0f) != 0) u = 1 - u;
        }
        u *= float(size);
    }
    constexpr float kFar = 1 << 30;
    u = std::clamp(u, -kFar, kFar);
    if (!linear) return point(int64_t(std::floor(u)), size, mode);
    const float v = u - 0.5f;
    const float whole = std::floor(v);
    Axis out;
    out.count = 2;
    out.second = fixed_weight(v - whole);
    out.index[0] = resolve(int64_t(whole), size, mode);
    out.index[1] = resolve(int64_t(whole) + 1, size, mode);
    return out;
}

// The texels of up to three axes in one level, each times `scale`. Those without weight are left
// out, unless `all` are asked for: what is not looked at need not be there.
void add_taps(const TextureObject& object, const TextureLevel& level, const Axis& x, const Axis& y,
              const Axis& z, float scale, Taps& taps, bool all = false) {
    for (unsigned k = 0; k < z.count; ++k) {
        for (unsigned j = 0; j < y.count; ++j) {
            for (unsigned i = 0; i < x.count; ++i) {
                const auto part = [](const Axis& axis, unsigned which) {
                    return axis.count == 1 ? 1.0f : which ? axis.second : 1 - axis.second;
                };
                const float weight = scale * part(x, i) * part(y, j) * part(z, k);
                if (weight == 0 && !all) continue;
                const bool border =
                    x.index[i] == kBorder || y.index[j] == kBorder || z.index[k] == kBorder;
                const uint64_t address = level.address + uint64_t(z.index[k]) * level.slice +
                                         uint64_t(y.index[j]) * level.pitch +
                                         uint64_t(x.index[i]) * object.format.bytes();
                taps.add(border ? 0 : address, weight);
            }
        }
    }
}

bool is_array(TextureShape shape) {
    return shape == TextureShape::kArray1d || shape == TextureShape::kArray2d ||
           shape == TextureShape::kArrayCube;
}
bool is_cube(TextureShape shape) {
    return shape == TextureShape::kCube || shape == TextureShape::kArrayCube;
}
bool is_1d(TextureShape shape) {
    return shape == TextureShape::k1d || shape == TextureShape::kArray1d;
}

// Programming guide, "Cubemap Textures": face, and coordinates in it.
int64_t cube_face(const std::array<float, 3>& at, float& s, float& t) {
    const float x = at[0], y = at[1], z = at[2];
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    int64_t face = 0;
    float m = 1;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1;
        m = ax;
        s = x >= 0 ? -z : z;
        t = -y;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3;
        m = ay;
        s = x;
        t = y >= 0 ? z : -z;
    } else {
        face = z >= 0 ? 4 : 5;
        m = az;
        s = z >= 0 ? x : -x;
        t = -y;
    }
    if (m == 0) m = 1;
    s = (s / m + 1) / 2;
    t = (t / m + 1) / 2;
    return face;
}

// What lies along the axes of one level; x and y filtered when `linear`.
void locate(const TextureObject& object, const TexelQuery& query, const TextureLevel& level,
            bool linear, Axis& x, Axis& y, Axis& z) {
    const int64_t layers = std::max<uint32_t>(level.depth, 1);
    const bool normalized = object.normalized_coordinates;
    if (is_cube(query.shape)) {
        float s = 0, t = 0;
        const int64_t face = cube_face(query.at, s, t);
        const int64_t cubes = std::max<int64_t>(layers / 6, 1);
        const int64_t cube =
            is_array(query.shape) ? std::clamp<int64_t>(query.layer, 0, cubes - 1) : 0;
        x = find_axis(s, level.width, AddressMode::kClamp, true, linear);
        y = find_axis(t, level.height, AddressMode::kClamp, true, linear);
        z.index[0] = cube * 6 + face;
        return;
    }
    const auto axis = [&](unsigned which, uint32_t size) {
        const AddressMode mode = mode_of(object, which, query.integer);
        if (query.integer) return point(query.index[which], std::max<uint32_t>(size, 1), mode);
        return find_axis(query.at[which], size, mode, normalized, linear);
    };
    x = axis(0, level.width);
    if (!is_1d(query.shape)) y = axis(1, level.height);
    if (query.shape == TextureShape::k3d) z = axis(2, level.depth);
    if (is_array(query.shape)) z.index[0] = std::clamp<int64_t>(query.layer, 0, layers - 1);
}

void add_level(const TextureObject& object, const TexelQuery& query, size_t number, float scale,
               Taps& taps) {
    const TextureLevel& level = object.levels[number];
    Axis x, y, z;
    locate(object, query, level, object.linear_filter && !query.integer, x, y, z);
    add_taps(object, level, x, y, z, scale, taps);
}

float decode_srgb(float value) {
    return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

}  // namespace

uint64_t TextureTable::add(TextureObject object) {
    objects_.push_back(std::make_unique<TextureObject>(std::move(object)));
    return objects_.size();  // 0 is never a handle
}
const TextureObject* TextureTable::find(uint64_t handle) const {
    return handle && handle <= objects_.size() ? objects_[handle - 1].get() : nullptr;
}
bool TextureTable::remove(uint64_t handle) {
    if (!find(handle)) return false;
    objects_[handle - 1].reset();
    return true;
}

void find_taps(const TextureObject& object, const TexelQuery& query, Taps& taps) {
    taps.count = 0;
    const TextureLevel& base = object.levels[0];
    if (object.is_buffer) {  // tex1Dfetch: zero outside
        const int64_t i = query.integer ? query.index[0] : int64_t(std::floor(query.at[0]));
        const bool inside = i >= 0 && i < int64_t(base.width);
        taps.add(inside ? base.address + uint64_t(i) * object.format.bytes() : 0, 1);
        return;
    }
    const float last = float(object.levels.size() - 1);
    if (last == 0) return add_level(object, query, 0, 1, taps);
    const float wanted = std::isnan(query.lod) ? 0 : query.lod + object.lod_bias;
    const float lod =
        std::clamp(std::min(std::max(wanted, object.least_lod), object.greatest_lod), 0.0f, last);
    if (!object.linear_mipmaps) return add_level(object, query, size_t(lod + 0.5f), 1, taps);
    const size_t lower = size_t(lod);
    const float second = fixed_weight(lod - float(lower));
    add_level(object, query, lower, 1 - second, taps);
    if (second > 0) add_level(object, query, std::min(lower + 1, size_t(last)), second, taps);
}

void find_gather_taps(const TextureObject& object, const TexelQuery& query, Taps& taps) {
    taps.count = 0;
    Taps found;
    Axis x, y, z;
    locate(object, query, object.levels[0], true, x, y, z);
    add_taps(object, object.levels[0], x, y, z, 1, found, true);
    for (const unsigned which : {2, 3, 1, 0})
        taps.add(found.tap[found.count == 4 ? which : 0].address, 1);
}

bool reads_float(const TextureObject& object) {
    return object.format.kind == TexelFormat::Kind::kFloat || object.normalized_read;
}

std::array<uint32_t, 4> read_texel(const TextureObject& object, const std::byte* texel) {
    const TexelFormat& format = object.format;
    const bool floats = reads_float(object);
    std::array<uint32_t, 4> out{0, 0, 0, floats ? std::bit_cast<uint32_t>(1.0f) : 1u};
    if (!texel) {
        for (unsigned c = 0; c < 4; ++c)
            out[c] = object.is_buffer ? 0
                     : floats         ? std::bit_cast<uint32_t>(object.border[c])
                                      : uint32_t(int32_t(object.border[c]));
        return out;
    }
    for (unsigned c = 0; c < format.channels; ++c) {
        uint32_t bits = 0;
        std::memcpy(&bits, texel + c * format.bits / 8, format.bits / 8);
        if (format.kind == TexelFormat::Kind::kFloat) {
            out[c] = format.bits == 16 ? std::bit_cast<uint32_t>(half_to_float(bits)) : bits;
            continue;
        }
        const bool is_signed = format.kind == TexelFormat::Kind::kSigned;
        const unsigned shift = 32 - format.bits;
        const int32_t value = is_signed ? int32_t(bits << shift) >> shift : int32_t(bits);
        out[c] = uint32_t(value);
        if (!object.normalized_read) continue;
        const float most = float((1u << (format.bits - (is_signed ? 1 : 0))) - 1);
        float unit = std::max(float(value) / most, -1.0f);
        if (object.srgb && format.bits == 8 && c < 3) unit = decode_srgb(unit);
        out[c] = std::bit_cast<uint32_t>(unit);
    }
    return out;
}

float lod_of_gradients(const TextureObject& object, const std::array<float, 3>& dx,
                       const std::array<float, 3>& dy) {
    const TextureLevel& base = object.levels[0];
    const float size[3] = {float(base.width), float(base.height), float(base.depth)};
    const auto length = [&](const std::array<float, 3>& d) {
        float sum = 0;
        for (unsigned i = 0; i < 3; ++i) {
            const float step = d[i] * (object.normalized_coordinates ? size[i] : 1.0f);
            sum += step * step;
        }
        return std::sqrt(sum);
    };
    const float longest = std::max(length(dx), length(dy));
    return longest > 0 ? std::log2(longest) : -128.0f;
}

}  // namespace machine
