// SPDX-License-Identifier: MIT
#include "checks/source/names.h"

#include <algorithm>
#include <cstring>

#include "checks/source/python.h"
#include "checks/source/resolvers.h"
#include "checks/source/source.h"
#include "checks/text/words.h"

namespace checks {
namespace {

// ns::kernel<int> -> kernel; (anonymous namespace)::kernel -> kernel
std::string last_component(const std::string& name) {
    std::string plain = name.substr(0, name.find('<'));
    const size_t colon = plain.rfind("::");
    return colon == plain.npos ? plain : plain.substr(colon + 2);
}

// As the source declares them, one per PTX parameter; empty when text and PTX do not agree.
std::vector<ParameterText> declared_parameters(const machine::LaunchInfo& launch) {
    if (!launch.parameters || launch.declared.file.empty()) return {};
    if (auto found = python_parameters(launch); !found.empty()) return found;  // else a RawKernel
    auto found =
        find_kernel(launch.declared.file, last_component(launch.kernel), launch.declared.line);
    if (!found) return {};
    const bool pack = !found->empty() && found->back().pack;
    if (pack) found->pop_back();  // all arguments of the pack have the same name
    if (pack ? found->size() > launch.parameters->size()
             : found->size() != launch.parameters->size()) {
        return {};
    }
    found->resize(launch.parameters->size());
    return *found;
}

size_t position_of(const ParameterText& text, size_t index) {
    return text.position ? text.position : index + 1;
}

uint64_t argument_word(const machine::LaunchInfo& launch, size_t offset) {
    uint64_t value = 0;
    if (offset + 8 <= launch.arguments.size()) {
        std::memcpy(&value, launch.arguments.data() + offset, 8);
    }
    return value;
}

// "1000 floats", "1000 elements of type uint8_t", or bytes where the type is unknown.
std::string amount(const Array& array) {
    if (array.type.empty() || array.element_bytes == 0) return plural(array.bytes, "byte");
    const bool simple = array.type.find_first_of(" <*:") == std::string::npos &&
                        (array.type.size() < 2 || array.type.substr(array.type.size() - 2) != "_t");
    if (simple) return plural(array.elements(), array.type);
    return plural(array.elements(), "element") + " of type " + array.type;
}

struct Candidate {
    size_t index = 0;
    uint64_t value = 0;
    uint32_t offset = 0;  // in the argument
    bool inside_struct = false;
    int rank = 0;  // higher is better
};

std::optional<Candidate> find_argument(const machine::LaunchInfo& launch,
                                       const machine::Allocation& allocation, bool written,
                                       uint64_t address, const std::vector<ParameterText>& texts) {
    std::optional<Candidate> best;
    // Part of an array that was passed by itself.
    const auto nearer = [&](const Candidate& a, const Candidate& b) {
        const bool comparable = address && !a.inside_struct && !b.inside_struct &&
                                a.value != b.value && a.value <= address &&
                                a.value != allocation.address + allocation.bytes;
        return comparable && (b.value > address || a.value > b.value);
    };
    for (size_t i = 0; i < launch.parameters->size(); ++i) {
        const ptx::Parameter& parameter = (*launch.parameters)[i];
        const bool plain = parameter.bytes == 8 && !parameter.is_array;
        for (uint32_t at = 0; at + 8 <= parameter.bytes; at += 8) {
            const uint64_t value = argument_word(launch, parameter.offset + at);
            // A pointer to the end of an array (an iterator) still belongs to it.
            const bool inside =
                value >= allocation.address && value - allocation.address <= allocation.bytes;
            if (!inside) continue;
            Candidate candidate{i, value, at, !plain, 0};
            candidate.rank += value == allocation.address ? 4 : 0;
            candidate.rank += plain ? 2 : 0;
            candidate.rank += i < texts.size() && texts[i].pointer && texts[i].is_const != written;
            if (!best || nearer(candidate, *best) ||
                (candidate.rank > best->rank && !nearer(*best, candidate)))
                best = candidate;
        }
    }
    return best;
}

// The pointer at `offset` bytes in a struct of this type, also within a nested struct: {".x",
// "float"}.
std::optional<ParameterText> pointer_member(const std::string& file, const std::string& type,
                                            uint64_t offset, int depth = 0) {
    const auto layout = depth < 4 ? struct_text(file, type) : std::nullopt;
    if (!layout) return std::nullopt;
    for (const StructText::Member& member : layout->members) {
        if (offset < member.offset || offset >= member.offset + member.bytes) continue;
        const uint64_t inside = offset - member.offset, element = member.element_bytes;
        ParameterText found;
        found.name = '.' + member.name;
        if (element < member.bytes) found.name += '[' + std::to_string(inside / element) + ']';
        found.type = member.type;
        found.pointer = !found.type.empty() && found.type.back() == '*';
        if (found.pointer) {
            found.type.pop_back();
            return found;
        }
        const auto deeper = pointer_member(file, member.type, inside % element, depth + 1);
        if (!deeper) return std::nullopt;
        found.name += deeper->name;
        found.type = deeper->type;
        found.pointer = true;
        return found;
    }
    return std::nullopt;
}

void set_element(Array& array, const std::string& file, uint32_t access_bytes, bool opaque) {
    if (!array.type.empty()) array.element_bytes = type_bytes(file, array.type);
    if (array.element_bytes == 0) {
        // A template parameter or no type at all: the access shows the width. For a struct, nothing
        // does.
        const auto layout = struct_text(file, array.type);
        if (layout && layout->bytes <= UINT32_MAX) {
            array.element_bytes = uint32_t(layout->bytes);
            array.members = layout->members;
            return;
        }
        const bool parameter = array.type.size() <= 2;  // T, U, T1
        array.element_bytes = array.type.empty() || (parameter && !opaque) ? access_bytes : 0;
        if (parameter) array.type.clear();
    }
}

// An array that a parameter of the kernel points to, by itself or as a member of a struct.
Array name_argument(const machine::LaunchInfo& launch, const machine::Allocation& allocation,
                    uint32_t access_bytes, const Candidate& found, ParameterText text) {
    const std::string& file = launch.declared.file;
    const std::string number = "argument " + std::to_string(position_of(text, found.index));
    const auto member = found.inside_struct && !text.pointer && !text.name.empty()
                            ? pointer_member(file, text.type, found.offset)
                            : std::nullopt;
    if (member) {
        text.name += member->name;
        text.type = member->type;
    }
    Array array;
    array.base = found.value;
    array.bytes = allocation.bytes - (found.value - allocation.address);
    if (member || (!found.inside_struct && text.pointer && !text.name.empty())) {
        array.name = text.name;
        array.type = text.type;
        set_element(array, file, access_bytes, false);
        array.subject = backticked(array.name);
        array.description = array.subject + ", " + number + ", " + amount(array);
        return array;
    }
    array.element_bytes = access_bytes;
    const std::string holder = text.name.empty() ? number : backticked(text.name);
    array.subject = found.inside_struct ? "the array in " + holder : holder;
    array.description = (found.inside_struct ? "a pointer in " : "") + holder +
                        (text.name.empty() ? "" : ", " + number) + ", " +
                        plural(array.bytes, "byte");
    return array;
}

void name_variable(Array& array, const machine::Allocation& allocation, const std::string& file,
                   uint32_t access_bytes) {
    array.name = last_component(allocation.name);
    const char* const qualifier = allocation.kind == machine::MemoryKind::kConst ? "__constant__"
                                  : allocation.kind == machine::MemoryKind::kManaged ? "__managed__"
                                                                                     : "__device__";
    if (const auto text = find_variable(file, qualifier, array.name)) {
        array.type = text->type;
        array.extents = text->extents;
        array.scalar = !text->array;
    }
    set_element(array, file, access_bytes, true);
    if (array.extents.size() < 2 || std::count(array.extents.begin() + 1, array.extents.end(), 0)) {
        array.extents.clear();
    }
    array.subject = backticked(array.name);
    array.description = array.subject + ", " + qualifier + " variable, " + amount(array);
}

void name_by_call(Array& array, const machine::Allocation& allocation) {
    const ptx::SourceLine line = resolve_host(allocation.allocated_at);
    const std::string at = base_name(line.file) + ':' + std::to_string(line.line);
    const bool heap = allocation.kind == machine::MemoryKind::kHeap;
    if (heap) {
        array.subject = "an array from `malloc` in a kernel";
    } else if (allocation.imported) {
        array.subject = "the array of another process";
        if (line.line) array.subject += " opened at " + at;
    } else if (line.line) {
        array.subject = "the array allocated at " + at;
    } else {
        array.subject = "an array of " + plural(allocation.bytes, "byte");
    }
    array.description = array.subject;
    if (line.line || heap) array.description += " (" + plural(allocation.bytes, "byte") + ')';
}

}  // namespace

Array name_global(const machine::LaunchInfo* launch, const machine::Allocation& allocation,
                  uint32_t access_bytes, bool written, uint64_t address) {
    const bool module_variable = allocation.kind == machine::MemoryKind::kModule ||
                                 allocation.kind == machine::MemoryKind::kConst;
    if (launch && launch->parameters && !module_variable) {
        const std::vector<ParameterText> texts = declared_parameters(*launch);
        if (const auto found = find_argument(*launch, allocation, written, address, texts))
            return name_argument(*launch,
                                 allocation,
                                 access_bytes,
                                 *found,
                                 found->index < texts.size() ? texts[found->index]
                                                             : ParameterText{});
    }
    Array array;
    array.base = allocation.address;
    array.bytes = allocation.bytes;
    if (!allocation.name.empty()) {
        name_variable(
            array, allocation, launch ? launch->declared.file : std::string(), access_bytes);
        return array;
    }
    array.element_bytes = access_bytes;
    name_by_call(array, allocation);
    return array;
}

namespace {

// One of the variables into which the compiler has split an array whose indexes are all constants.
// If there are as many variables as elements, each is one element; otherwise the element is
// unknown.
void place_part(Array& array, const machine::LaunchInfo& launch,
                const machine::SharedVariable& variable) {
    const auto parts = std::count_if(
        launch.shared->begin(), launch.shared->end(), [&](const machine::SharedVariable& other) {
            return other.part >= 0 && other.name == variable.name &&
                   other.function == variable.function;
        });
    uint64_t declared = 1;
    for (const uint64_t extent : array.extents) declared *= extent;
    if (uint64_t(parts) == declared && array.element_bytes == variable.bytes) {
        array.base -= uint64_t(variable.part) * variable.bytes;
        array.bytes *= declared;
    } else {
        array.extents.clear();
        array.scalar = true;
    }
}

}  // namespace

Array name_shared(const machine::LaunchInfo& launch, const machine::SharedVariable& variable,
                  uint32_t access_bytes) {
    Array array;
    array.name = last_component(variable.name);
    if (const std::string name = python_shared_name(launch, variable.name); !name.empty())
        array.name = name;
    array.base = variable.address;
    array.bytes = variable.bytes;
    const std::string& file = launch.declared.file;
    if (const auto text = find_variable(file,
                                        "__shared__",
                                        array.name,
                                        variable.function.empty() ? last_component(launch.kernel)
                                                                  : variable.function)) {
        array.type = text->type;
        array.extents = text->extents;
        array.scalar = !text->array;
    }
    set_element(array, file, access_bytes, false);
    if (variable.part >= 0) place_part(array, launch, variable);
    if (array.element_bytes == 0 && !variable.dynamic && !array.scalar && !array.extents.empty()) {
        // The size of such a type follows from the size of the array.
        uint64_t count = 1;
        for (const uint64_t extent : array.extents) count *= extent;
        if (count && array.bytes % count == 0) array.element_bytes = uint32_t(array.bytes / count);
    }
    if (array.element_bytes && array.elements() == 0) array.scalar = false;
    // One unknown dimension (a template's, the launch's) follows from the size.
    if (std::count(array.extents.begin(), array.extents.end(), 0) == 1 && array.element_bytes) {
        uint64_t known = 1;
        for (const uint64_t extent : array.extents) known *= extent ? extent : 1;
        if (array.elements() % known == 0) {
            std::replace(array.extents.begin(),
                         array.extents.end(),
                         uint64_t(0),
                         std::max<uint64_t>(array.elements() / known, 1));
        }
    }
    uint64_t product = 1;
    for (const uint64_t extent : array.extents) product *= extent;
    // A different size means another variable of that name, or another value of a constant.
    if (array.extents.size() < 2 || (product != array.elements() && !variable.dynamic) ||
        product == 0) {
        array.extents.clear();
    }
    array.subject = backticked(array.name);
    array.description = array.subject + ", shared, " + amount(array);
    if (variable.dynamic) {
        array.description += ", sized by the launch (" + plural(variable.bytes, "byte") + ')';
    }
    return array;
}

std::optional<Array> name_local(const std::string& file, uint32_t line, uint64_t begin,
                                uint64_t end) {
    std::optional<Array> only;
    for (LocalArrayText& text : local_arrays(file, line)) {
        uint64_t count = 1;
        for (const uint64_t extent : text.declared.extents) count *= extent;
        if (count == 0) continue;
        Array array;
        array.name = text.name;
        array.type = text.declared.type;
        array.extents = text.declared.extents;
        array.base = begin;
        set_element(array, file, 0, true);
        if (array.element_bytes == 0 && (end - begin) % count == 0)
            array.element_bytes = uint32_t((end - begin) / count);
        array.bytes = count * array.element_bytes;
        // If it does not fit, apart from padding after it, the line means another array.
        if (array.bytes == 0 || array.bytes > end - begin || end - begin - array.bytes >= 16)
            continue;
        if (only) return std::nullopt;
        if (array.extents.size() < 2) array.extents.clear();
        array.subject = backticked(array.name);
        array.description = array.subject + ", a local array, " + amount(array);
        only = std::move(array);
    }
    return only;
}

std::optional<PointerArgument> pointer_argument(const machine::LaunchInfo& launch, uint64_t address,
                                                uint64_t reach) {
    if (!launch.parameters) return std::nullopt;
    const std::vector<ParameterText> texts = declared_parameters(launch);
    std::optional<PointerArgument> best;
    for (size_t i = 0; i < launch.parameters->size(); ++i) {
        const ptx::Parameter& parameter = (*launch.parameters)[i];
        if (parameter.bytes != 8 || parameter.is_array) continue;
        const uint64_t value = argument_word(launch, parameter.offset);
        if (value > address || address - value > reach) continue;
        if (i < texts.size() && !texts[i].type.empty() && !texts[i].pointer) continue;
        if (value == 0 && i >= texts.size()) continue;  // a number 0 is as likely as a null pointer
        if (best && best->value >= value) continue;
        PointerArgument found;
        found.index = uint32_t(i + 1);
        found.value = value;
        found.text = "argument " +
                     std::to_string(position_of(i < texts.size() ? texts[i] : ParameterText{}, i));
        if (i < texts.size() && !texts[i].name.empty()) {
            found.name = texts[i].name;
            found.text = backticked(found.name) + ", " + found.text;
            found.element_bytes = type_bytes(launch.declared.file, texts[i].type);
        }
        best = found;
    }
    return best;
}

}  // namespace checks
