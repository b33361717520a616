// SPDX-License-Identifier: MIT
// Reads ELF files defensively: every offset is checked, since the file may be damaged or hostile.
#include "programs/elf_facts.h"

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/platform/platform.h"

namespace emulator {
namespace {

// A file in memory, read-only.
class Image {
public:
    explicit Image(const std::string& path) {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) return;
        struct stat status {};
        if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
            size_ = size_t(status.st_size);
            opened_ = true;
            if (size_ > 0) {
                void* base = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
                if (base == MAP_FAILED)
                    opened_ = false;
                else
                    base_ = static_cast<const char*>(base);
            }
        } else if (errno == 0) {
            errno = EINVAL;
        }
        close(file);
    }
    ~Image() {
        if (base_) munmap(const_cast<char*>(base_), size_);
    }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    bool opened() const { return opened_; }
    // A copy of T at `offset`; false when it is not wholly inside.
    template <class T>
    bool get(uint64_t offset, T& value) const {
        if (offset > size_ || size_ - offset < sizeof(T)) return false;
        std::memcpy(&value, base_ + offset, sizeof(T));
        return true;
    }
    std::string text(uint64_t offset) const {
        if (offset >= size_) return "";
        return {base_ + offset, strnlen(base_ + offset, size_ - offset)};
    }
    bool contains(const char* needle, size_t length) const {
        return base_ && memmem(base_, size_, needle, length) != nullptr;
    }

private:
    const char* base_ = nullptr;
    size_t size_ = 0;
    bool opened_ = false;
};

void split_path(const std::string& list, const std::string& origin, std::vector<std::string>& out) {
    for (size_t start = 0; start <= list.size();) {
        const size_t end = std::min(list.find(':', start), list.size());
        std::string entry = list.substr(start, end - start);
        for (const char* token : {"${ORIGIN}", "$ORIGIN"})
            for (size_t at; (at = entry.find(token)) != std::string::npos;)
                entry.replace(at, std::strlen(token), origin);
        if (!entry.empty()) out.push_back(entry);
        start = end + 1;
    }
}

void read_dynamic(const Image& image, const std::vector<Elf64_Phdr>& segments,
                  const Elf64_Phdr& dynamic, const std::string& origin, ElfFacts& facts) {
    std::vector<Elf64_Dyn> entries;
    uint64_t strings = 0;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry{};
        if (!image.get(dynamic.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
        entries.push_back(entry);
    }
    // The string table is given as an address: find the segment that it is loaded from.
    uint64_t table = 0;
    for (const auto& segment : segments)
        if (segment.p_type == PT_LOAD && strings >= segment.p_vaddr &&
            strings - segment.p_vaddr < segment.p_filesz)
            table = strings - segment.p_vaddr + segment.p_offset;
    if (table == 0) return;
    for (const auto& entry : entries) {
        const std::string text = image.text(table + entry.d_un.d_val);
        if (entry.d_tag == DT_NEEDED) facts.needed.push_back(text);
        if (entry.d_tag == DT_RPATH) split_path(text, origin, facts.rpath);
        if (entry.d_tag == DT_RUNPATH) split_path(text, origin, facts.runpath);
    }
}

void read_sections(const Image& image, const Elf64_Ehdr& header, ElfFacts& facts) {
    Elf64_Shdr names{};
    if (!image.get(header.e_shoff + uint64_t(header.e_shstrndx) * sizeof names, names)) return;
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section{};
        if (!image.get(header.e_shoff + uint64_t(i) * sizeof section, section)) return;
        const std::string name = image.text(names.sh_offset + section.sh_name);
        if (name == ".nv_fatbin" || name == ".nvFatBinSegment") facts.has_device_code = true;
    }
}

}  // namespace

std::optional<ElfFacts> read_elf(const std::string& path) {
    errno = 0;
    const Image image(path);
    if (!image.opened()) return std::nullopt;
    ElfFacts facts;
    Elf64_Ehdr header{};
    if (!image.get(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return facts;
    facts.is_elf = true;
    facts.is_object = header.e_type == ET_REL;
    facts.is_for_this_processor = header.e_ident[EI_CLASS] == ELFCLASS64 &&
                                  header.e_ident[EI_DATA] == ELFDATA2LSB &&
                                  header.e_machine == machine::kElfMachine &&
                                  (header.e_type == ET_EXEC || header.e_type == ET_DYN);
    if (!facts.is_for_this_processor) return facts;
    std::vector<Elf64_Phdr> segments;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        if (!image.get(header.e_phoff + uint64_t(i) * sizeof segment, segment)) break;
        segments.push_back(segment);
        facts.is_dynamic |= segment.p_type == PT_INTERP;
    }
    std::error_code ignored;
    const auto absolute = std::filesystem::weakly_canonical(path, ignored);
    for (const auto& segment : segments)
        if (segment.p_type == PT_DYNAMIC)
            read_dynamic(image, segments, segment, absolute.parent_path().string(), facts);
    read_sections(image, header, facts);
    // The runtime loads the driver by this name with dlopen; a program that only uses the runtime
    // is not linked with it.
    constexpr char kPython[] = "Py_BytesMain";  // what the interpreter's main() calls
    facts.is_python = facts.is_dynamic && image.contains(kPython, sizeof kPython);
    constexpr char kDriver[] = "libcuda.so.1";
    bool shared_runtime = false;
    for (const auto& name : facts.needed) shared_runtime |= name.starts_with("libcudart.so");
    facts.has_static_cudart =
        facts.has_device_code && !shared_runtime && image.contains(kDriver, sizeof kDriver);
    return facts;
}

}  // namespace emulator
