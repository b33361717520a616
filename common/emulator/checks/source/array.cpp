// SPDX-License-Identifier: MIT
// How findings write elements and ranges of an array.
#include "checks/source/names.h"
#include "checks/text/words.h"

namespace checks {

int64_t Array::index(uint64_t address) const {
    const int64_t distance = int64_t(address - base), size = element_bytes;
    return distance >= 0 ? distance / size : -((-distance + size - 1) / size);
}

std::string Array::range(uint64_t first, uint64_t last) const {
    if (element_bytes == 0 || scalar || index(first) == index(last)) return "";
    if (name.empty()) {
        return "elements " + std::to_string(index(first)) + " to " + std::to_string(index(last));
    }
    return element(first) + " to " + element(last);
}

std::string Array::member_at(uint64_t address) const {
    const uint64_t inside = address - base - uint64_t(index(address)) * element_bytes;
    for (const StructText::Member& member : members) {
        if (inside < member.offset || inside >= member.offset + member.bytes) continue;
        const bool array = member.element_bytes < member.bytes;
        return '.' + member.name +
               (array ? '[' + std::to_string((inside - member.offset) / member.element_bytes) + ']'
                      : "");
    }
    return "";
}

std::string Array::indexed(int64_t index) const {
    uint64_t row = 1;
    for (size_t i = 1; i < extents.size(); ++i) row *= extents[i];
    if (extents.size() < 2) return name + '[' + std::to_string(index) + ']';
    if (row == 0 || index < 0) return "";
    std::string text = name;
    uint64_t rest = uint64_t(index);
    for (size_t i = 0; i < extents.size(); ++i) {
        text += '[' + std::to_string(rest / row) + ']';
        rest %= row;
        if (i + 1 < extents.size()) row /= extents[i + 1];
    }
    return text;
}

std::string Array::element(uint64_t address) const {
    const int64_t distance = int64_t(address - base);
    if (scalar && !members.empty() && uint64_t(distance) < bytes)
        return backticked(name + member_at(address));
    if (scalar && distance == 0) return backticked(name);
    if (element_bytes == 0 || scalar) return "byte " + std::to_string(distance) + " of " + subject;
    const int64_t index = this->index(address);
    const std::string place = name.empty() ? "" : indexed(index);
    if (place.empty()) return "element " + std::to_string(index) + " of " + subject;
    return backticked(place + member_at(address));
}

std::string Array::elements_at(uint64_t address, uint32_t access_bytes) const {
    const std::string first = element(address);
    if (element_bytes == 0 || scalar || access_bytes <= element_bytes) return first;
    const std::string last = element(address + access_bytes - element_bytes);
    return first == last ? first : first + " to " + last;
}

std::string Array::extent() const {
    if (element_bytes == 0 || scalar) {
        return again() + " has " + plural(bytes, "byte");
    }
    std::string text = again() + " has " + plural(elements(), "element");
    if (extents.size() >= 2) {
        text = again() + " has ";
        for (size_t i = 0; i < extents.size(); ++i) {
            text += (i ? " x " : "") + std::to_string(extents[i]);
        }
        return text + " elements";
    }
    if (elements() > 1) text += " (0 to " + std::to_string(elements() - 1) + ')';
    return text;
}

}  // namespace checks
