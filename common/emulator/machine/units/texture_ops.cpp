// SPDX-License-Identifier: MIT
// tex, tld4, txq, suld, sust, sured, suq: finds the object of each lane's handle, notifies the
// observers of the texels, and moves them.
#include "machine/units/texture_ops.h"

#include <algorithm>
#include <cstring>

#include "machine/state/launch_state.h"

namespace machine {
namespace {

using TextureKind = TextureOp::Kind;
using ptx::Mod;

// The object of a lane; reports invalid handles, once for each instruction.
class Objects {
public:
    explicit Objects(LaunchState& ex) : ex_(ex) {}
    const TextureObject* at(uint64_t handle, uint32_t lane, bool surface) {
        if (handle == last_handle_ && last_) return last_;
        const TextureObject* found = ex_.textures ? ex_.textures->find(handle) : nullptr;
        if (!found || found->is_surface != surface) {
            bad_ |= 1u << lane;
            return nullptr;
        }
        last_handle_ = handle;
        return last_ = found;
    }
    void report(bool surface) {
        if (!bad_) return;
        ex_.fault(FaultKind::kBadObject,
                  bad_,
                  std::string(surface ? "a surface" : "a texture") +
                      " access through a handle that "
                      "is no live " +
                      (surface ? "surface" : "texture") + " object of this device");
        ex_.fail(LaunchStatus::kIllegalAddress);
    }

private:
    LaunchState& ex_;
    uint64_t last_handle_ = 0;
    const TextureObject* last_ = nullptr;
    uint32_t bad_ = 0;
};

// Fires an access event for one texel of every lane in `mask`. Returns the lanes whose texel
// exists.
uint32_t touch(LaunchState& ex, AccessKind kind, uint32_t mask, const uint64_t* address,
               unsigned bytes, unsigned element, const std::byte* values, std::byte** host) {
    uint32_t bad = 0;
    const Allocation* common = nullptr;
    bool same = true;
    for_lanes(mask, [&](uint32_t i) {
        Allocation* found = ex.memory.find(address[i]);
        const bool good = found && found->live && found->contains(address[i], bytes);
        host[i] = good ? found->host + (address[i] - found->address) : nullptr;
        bad |= uint32_t(!good) << i;
        if (!common) common = found;
        same = same && found == common;
    });
    if (bad) ex.fail(LaunchStatus::kIllegalAddress);
    if (!mask || (ex.observers.global.empty() && !(bad && !ex.observers.bad.empty())))
        return mask & ~bad;
    AccessEvent event{};
    event.warp = &ex.warp->info;
    event.site = LaunchState::blamed(ex.frame, *ex.current);
    event.space = ptx::Space::kGlobal;
    event.kind = kind;
    event.bytes = uint8_t(bytes);
    event.element_bytes = uint8_t(element);
    event.mask = mask;
    event.address = address;
    event.allocation = same && !bad ? common : nullptr;
    event.bad_lanes = bad;
    event.values = values;
    event.value_stride = values ? 16 : 0;
    event.texture = true;
    for (Observer* o : ex.observers.global) o->on_access(event);
    if (bad)
        for (Observer* o : ex.observers.bad) o->on_access(event);
    return mask & ~bad;
}

TexelQuery query_of(LaunchState& ex, const TextureOp& op, const TextureObject& object, uint32_t i) {
    TexelQuery query;
    query.shape = op.shape;
    query.integer = op.integer;
    for (unsigned axis = 0; axis < 3; ++axis) {
        if (op.coordinate[axis] == kNoRow) continue;
        if (op.integer)
            query.index[axis] = ex.row<int32_t>(op.coordinate[axis])[i];
        else
            query.at[axis] = ex.row<float>(op.coordinate[axis])[i];
    }
    if (op.layer != kNoRow) query.layer = ex.row<int32_t>(op.layer)[i];
    if (op.lod == TextureOp::Lod::kLevel) {
        query.lod = op.integer ? float(ex.row<int32_t>(op.level)[i]) : ex.row<float>(op.level)[i];
    } else if (op.lod == TextureOp::Lod::kGradients) {
        std::array<float, 3> d[2]{};
        for (unsigned which = 0; which < 2; ++which)
            for (unsigned axis = 0; axis < 3; ++axis)
                if (op.gradient[which][axis] != kNoRow)
                    d[which][axis] = ex.row<float>(op.gradient[which][axis])[i];
        query.lod = lod_of_gradients(object, d[0], d[1]);
    }
    return query;
}

void put(LaunchState& ex, const TextureOp& op, uint32_t lane,
         const std::array<uint32_t, 4>& words) {
    for (unsigned c = 0; c < op.vector; ++c)
        if (op.rows[c] != kNoRow) ex.row<uint32_t>(op.rows[c])[lane] = words[c];
}

constexpr std::array<uint32_t, 4> kPoisonWords{~0u, ~0u, ~0u, ~0u};

// The lanes' taps, after the observers were notified; where[t][lane] is null for the border.
struct Fetch {
    const TextureObject* object[kWarpSize] = {};
    Taps taps[kWarpSize];
    std::byte* where[16][kWarpSize] = {};
    uint32_t lanes = 0;  // with an object and live memory
};

void prepare(LaunchState& ex, const TextureOp& op, Fetch& fetch, bool gather) {
    Objects objects(ex);
    unsigned most = 0;
    for_lanes(ex.mask, [&](uint32_t i) {
        const TextureObject* object = objects.at(ex.row<uint64_t>(op.handle)[i], i, false);
        if (!object) return put(ex, op, i, kPoisonWords);
        fetch.object[i] = object;
        const TexelQuery query = query_of(ex, op, *object, i);
        if (gather)
            find_gather_taps(*object, query, fetch.taps[i]);
        else
            find_taps(*object, query, fetch.taps[i]);
        fetch.lanes |= 1u << i;
        most = std::max(most, fetch.taps[i].count);
    });
    objects.report(false);
    const uint32_t wanted = fetch.lanes;
    for (unsigned t = 0; t < most; ++t) {
        alignas(64) uint64_t address[kWarpSize] = {};
        // Lanes whose objects have other texel sizes get an event of their own.
        for (uint32_t left = wanted; left;) {
            const unsigned bytes = fetch.object[std::countr_zero(left)]->format.bytes();
            const unsigned element = fetch.object[std::countr_zero(left)]->format.bits / 8;
            uint32_t same = 0, mask = 0;
            for_lanes(left, [&](uint32_t i) {
                if (fetch.object[i]->format.bytes() != bytes) return;
                same |= 1u << i;
                if (t >= fetch.taps[i].count || !fetch.taps[i].tap[t].address) return;
                address[i] = fetch.taps[i].tap[t].address;
                mask |= 1u << i;
            });
            left &= ~same;
            const uint32_t good = touch(
                ex, AccessKind::kLoad, mask, address, bytes, element, nullptr, fetch.where[t]);
            fetch.lanes &= ~(mask & ~good);
        }
    }
    for_lanes(wanted & ~fetch.lanes, [&](uint32_t i) { put(ex, op, i, kPoisonWords); });
}

void set_resident(LaunchState& ex, const TextureOp& op) {
    if (op.resident != kNoRow) ex.predicate(op.resident) |= ex.mask;
}

// Describes an invalid surface coordinate: bytes along x, rows, slices.
std::string outside_text(const TextureOp& op, const TextureLevel& level, int64_t x, int64_t y,
                         int64_t z, unsigned texel) {
    const bool flat = op.shape == TextureShape::k1d || op.shape == TextureShape::kArray1d;
    const bool deep = op.shape != TextureShape::k1d && op.shape != TextureShape::k2d;
    std::string at = std::to_string(x),
                size = std::to_string(uint64_t(level.width) * texel) + " bytes";
    std::string text = std::string("a surface is ") +
                       (op.kind == TextureKind::kLoad ? "read" : "written") + " at byte " + at;
    if (!flat) {
        text += " of row " + std::to_string(y);
        size = std::to_string(std::max(level.height, 1u)) + " rows of " + size;
    }
    if (deep) {
        text += " in layer " + std::to_string(z);
        size = std::to_string(std::max(level.depth, 1u)) + " layers of " + size;
    }
    return text + ", but it has " + size;
}

template <class T>
T reduced(Mod how, T old, T value) {
    switch (how) {
    case Mod::k_add:
        return T(old + value);
    case Mod::k_min:
        return std::min(old, value);
    case Mod::k_max:
        return std::max(old, value);
    case Mod::k_and:
        return T(old & value);
    default:
        return T(old | value);
    }
}

void reduce(const TextureOp& op, std::byte* where, const std::byte* value) {
    const auto apply = [&](auto zero) {
        decltype(zero) old, given;
        std::memcpy(&old, where, sizeof old);
        std::memcpy(&given, value, sizeof given);
        // Addition wraps, as unsigned.
        old = op.reduction == Mod::k_add
                  ? decltype(zero)(std::make_unsigned_t<decltype(zero)>(old) +
                                   std::make_unsigned_t<decltype(zero)>(given))
                  : reduced(op.reduction, old, given);
        std::memcpy(where, &old, sizeof old);
    };
    if (op.element_bytes == 8)
        op.is_signed ? apply(int64_t(0)) : apply(uint64_t(0));
    else
        op.is_signed ? apply(int32_t(0)) : apply(uint32_t(0));
}

}  // namespace

void fetch_texture(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    const TextureOp& op = in.as<TextureOp>();
    auto fetch = std::make_unique<Fetch>();
    prepare(ex, op, *fetch, false);
    for_lanes(fetch->lanes, [&](uint32_t i) {
        const TextureObject& object = *fetch->object[i];
        const Taps& taps = fetch->taps[i];
        if (taps.count == 1) return put(ex, op, i, read_texel(object, fetch->where[0][i]));
        std::array<float, 4> sum{};
        for (unsigned t = 0; t < taps.count; ++t) {
            const auto words = read_texel(object, fetch->where[t][i]);
            for (unsigned c = 0; c < 4; ++c)
                sum[c] += taps.tap[t].weight * std::bit_cast<float>(words[c]);
        }
        std::array<uint32_t, 4> out;
        for (unsigned c = 0; c < 4; ++c) out[c] = std::bit_cast<uint32_t>(sum[c]);
        put(ex, op, i, out);
    });
    set_resident(ex, op);
}

void gather_texture(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    const TextureOp& op = in.as<TextureOp>();
    auto fetch = std::make_unique<Fetch>();
    prepare(ex, op, *fetch, true);
    for_lanes(fetch->lanes, [&](uint32_t i) {
        std::array<uint32_t, 4> out;
        for (unsigned t = 0; t < 4; ++t)
            out[t] = read_texel(*fetch->object[i], fetch->where[t][i])[op.component];
        put(ex, op, i, out);
    });
    set_resident(ex, op);
}

void query_texture(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    const TextureOp& op = in.as<TextureOp>();
    for_lanes(ex.mask, [&](uint32_t i) {
        const uint64_t handle = ex.row<uint64_t>(op.handle)[i];
        const TextureObject* object = ex.textures ? ex.textures->find(handle) : nullptr;
        uint32_t value = 0;
        if (object) {
            const TextureLevel& level = object->levels[0];
            switch (op.query) {
            case Mod::k_width:
                value = level.width;
                break;
            case Mod::k_height:
                value = level.height;
                break;
            case Mod::k_depth:
            case Mod::k_array_size:
                value = level.depth;
                break;
            case Mod::k_num_mipmap_levels:
                value = uint32_t(object->levels.size());
                break;
            default:
                value = object->normalized_coordinates;
                break;
            }
        } else {
            ex.fail(LaunchStatus::kIllegalAddress);
        }
        ex.row<uint32_t>(op.rows[0])[i] = value;
    });
}

// Where a lane's access to a surface goes.
struct SurfacePlace {
    enum class Kind : uint8_t {
        kInside,   // at `address`
        kNowhere,  // outside, where a load gives zero and a store does nothing
        kFault,    // `problem` says why the launch ends
    } kind = Kind::kNowhere;
    uint64_t address = 0;
    std::string problem;
};

SurfacePlace place_on_surface(LaunchState& ex, const TextureOp& op, const TextureObject& object,
                              uint32_t lane) {
    const unsigned bytes = unsigned(op.element_bytes) * op.vector;
    const TextureLevel& level = object.levels[0];
    const auto coordinate = [&](uint32_t row) {
        return row == kNoRow ? int64_t(0) : int64_t(ex.row<int32_t>(row)[lane]);
    };
    int64_t x = coordinate(op.coordinate[0]), y = coordinate(op.coordinate[1]);
    int64_t z = coordinate(op.shape == TextureShape::k3d ? op.coordinate[2] : op.layer);
    const int64_t room = int64_t(level.width) * object.format.bytes() - bytes;
    const int64_t rows = std::max(level.height, 1u), slices = std::max(level.depth, 1u);
    if (op.outside == TextureOp::Outside::kClamp) {
        x = std::clamp<int64_t>(x, 0, std::max<int64_t>(room, 0));
        y = std::clamp<int64_t>(y, 0, rows - 1);
        z = std::clamp<int64_t>(z, 0, slices - 1);
    }
    if (x < 0 || x > room || y < 0 || y >= rows || z < 0 || z >= slices || x % bytes) {
        if (op.outside != TextureOp::Outside::kTrap && room >= 0 && x % bytes == 0) return {};
        return {SurfacePlace::Kind::kFault,
                0,
                x % bytes && x >= 0 && x <= room
                    ? "a surface access of " + std::to_string(bytes) + " bytes at byte " +
                          std::to_string(x) +
                          " of a row, which is not a multiple of that (x counts bytes)"
                    : outside_text(op, level, x, y, z, object.format.bytes())};
    }
    return {SurfacePlace::Kind::kInside,
            level.address + uint64_t(z) * level.slice + uint64_t(y) * level.pitch + uint64_t(x),
            {}};
}

void access_surface(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    const TextureOp& op = in.as<TextureOp>();
    const unsigned bytes = unsigned(op.element_bytes) * op.vector;
    const bool load = op.kind == TextureKind::kLoad;
    alignas(64) uint64_t address[kWarpSize] = {};
    alignas(16) std::byte values[kWarpSize][16] = {};
    std::byte* where[kWarpSize] = {};
    uint32_t mask = 0, outside = 0, poisoned = 0;
    std::string problem;
    Objects objects(ex);
    for_lanes(ex.mask, [&](uint32_t i) {
        const TextureObject* object = objects.at(ex.row<uint64_t>(op.handle)[i], i, true);
        if (!object) {
            poisoned |= 1u << i;
            return;
        }
        const SurfacePlace place = place_on_surface(ex, op, *object, i);
        if (place.kind == SurfacePlace::Kind::kFault) {
            if (!outside) problem = place.problem;
            outside |= 1u << i;
            poisoned |= 1u << i;
        }
        if (place.kind != SurfacePlace::Kind::kInside) return;
        address[i] = place.address;
        mask |= 1u << i;
        if (load) return;
        for (unsigned e = 0; e < op.vector; ++e)
            std::memcpy(values[i] + e * op.element_bytes,
                        ex.rows + op.rows[e] + i * op.row_bytes,
                        op.element_bytes);
    });
    objects.report(true);
    if (outside) {
        ex.fault(FaultKind::kSurface, outside, problem);
        ex.fail(LaunchStatus::kTrap);
    }
    const AccessKind kind = load                             ? AccessKind::kLoad
                            : op.kind == TextureKind::kStore ? AccessKind::kStore
                                                             : AccessKind::kReduction;
    const uint32_t good =
        touch(ex, kind, mask, address, bytes, op.element_bytes, load ? nullptr : values[0], where);
    poisoned |= mask & ~good;
    if (!load) {
        if (good) ++ex.changes;
        for_lanes(good, [&](uint32_t i) {
            if (op.kind == TextureKind::kReduce)
                reduce(op, where[i], values[i]);
            else
                std::memcpy(where[i], values[i], bytes);
        });
        return;
    }
    for_lanes(ex.mask, [&](uint32_t i) {
        for (unsigned e = 0; e < op.vector; ++e) {
            std::byte* to = ex.rows + op.rows[e] + i * op.row_bytes;
            std::memset(to, poisoned >> i & 1 ? 0xff : 0, op.row_bytes);
            if (good >> i & 1) std::memcpy(to, where[i] + e * op.element_bytes, op.element_bytes);
        }
    });
}

}  // namespace machine
