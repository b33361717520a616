// SPDX-License-Identifier: MIT
#include "ptx/container/fatbin.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <random>

#include <sys/mman.h>
#include <unistd.h>

#include "ptx_text.h"

namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes& bytes, size_t at, T value) {
    if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

Bytes compress(const std::string& text, ptx::Compression how) {
    Bytes out(text.size() * 2 + 256);
    size_t size = text.size();
    if (how == ptx::Compression::kNone) {
        std::memcpy(out.data(), text.data(), size);
    } else if (how == ptx::Compression::kZstd) {
        size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
    } else {
        size = size_t(LZ4_compress_default(
            text.data(), reinterpret_cast<char*>(out.data()), int(text.size()), int(out.size())));
    }
    out.resize(size);
    return out;
}

// One entry as nvcc lays it out: header of 0x58 bytes with the name "a.cu" and options "-x".
Bytes entry(uint16_t kind, uint32_t arch, const std::string& text, ptx::Compression how) {
    const Bytes payload = compress(text, how);
    const bool packed = how != ptx::Compression::kNone;
    Bytes out(0x58);
    put<uint16_t>(out, 0x00, kind);
    put<uint16_t>(out, 0x02, 0x0101);
    put<uint32_t>(out, 0x04, 0x58);
    put<uint64_t>(out, 0x08, (payload.size() + 7) / 8 * 8);
    put<uint32_t>(out, 0x10, packed ? uint32_t(payload.size()) : 0);
    put<uint32_t>(out, 0x14, 0x48);
    put<uint16_t>(out, 0x18, 0);
    put<uint16_t>(out, 0x1a, 9);
    put<uint32_t>(out, 0x1c, arch);
    put<uint32_t>(out, 0x20, 0x40);
    put<uint32_t>(out, 0x24, 4);
    put<uint64_t>(out, 0x28, how == ptx::Compression::kZstd ? 0x8011 : packed ? 0x2011 : 0x11);
    put<uint64_t>(out, 0x38, packed ? text.size() : 0);
    std::memcpy(out.data() + 0x40, "a.cu", 4);
    put<uint32_t>(out, 0x48, 0x50);
    put<uint32_t>(out, 0x4c, 4);
    std::memcpy(out.data() + 0x50, " -x ", 4);
    out.insert(out.end(), payload.begin(), payload.end());
    out.resize((out.size() + 7) / 8 * 8);
    return out;
}

Bytes container(const std::vector<Bytes>& entries) {
    Bytes out;
    put<uint32_t>(out, 0, 0xba55ed50);
    put<uint16_t>(out, 4, 1);
    put<uint16_t>(out, 6, 16);
    put<uint64_t>(out, 8, 0);
    for (const Bytes& each : entries) out.insert(out.end(), each.begin(), each.end());
    put<uint64_t>(out, 8, out.size() - 16);
    return out;
}

struct Wrapper {
    uint32_t magic = 0x466243b1, version = 1;
    const void* container = nullptr;
    const void* objects = nullptr;
};

const std::string kText = std::string("\n\n.version 9.0\n.target sm_75\n") + std::string(500, ' ');
constexpr auto kNone = ptx::Compression::kNone, kLz4 = ptx::Compression::kLz4,
               kZstd = ptx::Compression::kZstd;

std::string failure(const Bytes& bytes) {
    try {
        ptx::read_container(bytes, true);
    } catch (const ptx::FatbinError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("fatbin: plain, LZ4 and zstd entries give the same text", "[ptx][fatbin]") {
    const auto how =
        GENERATE(ptx::Compression::kNone, ptx::Compression::kLz4, ptx::Compression::kZstd);
    const auto images = ptx::read_container(container({entry(1, 75, kText + '\0', how)}));
    REQUIRE(images.size() == 1);
    CHECK(images[0].text == kText);
    CHECK(images[0].arch == 75);
    CHECK(images[0].isa_major == 9);
    CHECK(images[0].isa_minor == 0);
    CHECK(images[0].compression == how);
    CHECK(images[0].name == "a.cu");
    CHECK(images[0].options == "-x");
}

TEST_CASE("fatbin: machine code is skipped, and alone it is refused with advice", "[ptx][fatbin]") {
    const auto elf = entry(2, 75, "ELF", kNone);
    const auto images = ptx::read_container(container({elf, entry(1, 80, kText, kZstd), elf}));
    REQUIRE(images.size() == 1);
    CHECK(images[0].arch == 80);
    CHECK(ptx::read_container(container({elf})).empty());
    CHECK(contains(failure(container({elf})), "-gencode arch=compute_75,code=compute_75"));
    CHECK(failure(container({})).empty());
}

TEST_CASE("fatbin: the best image is the newest that the device can run", "[ptx][fatbin]") {
    const auto images = ptx::read_container(container(
        {entry(1, 90, kText, kNone), entry(1, 70, kText, kNone), entry(1, 75, kText, kNone)}));
    CHECK(ptx::best_image(images, 75)->arch == 75);
    CHECK(ptx::best_image(images, 80)->arch == 75);
    CHECK(ptx::best_image(images, 0)->arch == 90);
    CHECK(ptx::best_image(images, 50)->arch == 70);
    CHECK(ptx::best_image({}, 75) == nullptr);
}

TEST_CASE("fatbin: wrappers of version 1 and 2", "[ptx][fatbin]") {
    const auto one = container({entry(1, 75, kText, kZstd)});
    const auto elf = container({entry(2, 75, "ELF", kNone)});
    const auto two = container({entry(1, 75, kText + "// two", kLz4)});
    Wrapper wrapper;
    wrapper.container = one.data();
    CHECK(ptx::read_wrapper(&wrapper, 75).size() == 1);

    const void* objects[] = {elf.data(), one.data(), two.data(), nullptr};
    Wrapper linked;
    linked.version = 2;
    linked.container = container({}).data();
    const auto empty = container({});
    linked.container = empty.data();
    linked.objects = objects;
    const auto images = ptx::read_wrapper(&linked, 75);
    REQUIRE(images.size() == 2);
    CHECK(contains(images[1].text, "// two"));

    wrapper.container = elf.data();
    CHECK_THROWS_AS(ptx::read_wrapper(&wrapper), ptx::FatbinError);
    wrapper.magic = 1;
    CHECK_THROWS_AS(ptx::read_wrapper(&wrapper), ptx::FatbinError);
    wrapper = {};
    wrapper.version = 3;
    CHECK_THROWS_AS(ptx::read_wrapper(&wrapper), ptx::FatbinError);
    CHECK_THROWS_AS(ptx::read_wrapper(nullptr), ptx::FatbinError);
}

TEST_CASE("fatbin: damage is named", "[ptx][fatbin]") {
    auto bytes = container({entry(1, 75, kText, kZstd)});
    const size_t at = 16;  // the entry
    SECTION("magic") {
        bytes[0] = std::byte{0};
        CHECK(contains(failure(bytes), "magic number"));
    }
    SECTION("truncated") {
        for (size_t size = 0; size < bytes.size(); ++size) {
            CHECK_FALSE(failure(Bytes(bytes.begin(), bytes.begin() + long(size))).empty());
        }
    }
    SECTION("size of the text") {
        put<uint64_t>(bytes, at + 0x38, uint64_t(2) << 30);
        CHECK(contains(failure(bytes), "not plausible"));
    }
    SECTION("another size of the text") {
        put<uint64_t>(bytes, at + 0x38, kText.size() + 1);
        CHECK(contains(failure(bytes), "damaged"));
    }
    SECTION("compression") {
        put<uint64_t>(bytes, at + 0x28, 0x11);
        CHECK(contains(failure(bytes), "neither zstd nor LZ4"));
    }
    SECTION("payload") {
        bytes[at + 0x58 + 20] ^= std::byte{0xff};
        CHECK_NOTHROW(failure(bytes));
    }
    SECTION("entry behind the end") {
        put<uint64_t>(bytes, at + 0x08, UINT64_MAX - 7);
        CHECK(contains(failure(bytes), "truncated"));
    }
}

TEST_CASE("fatbin: a small file cannot ask for much memory", "[ptx][fatbin]") {
    const std::string text(100000, 'x');
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    Bytes frame(text.size());
    frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), text.data(), text.size()));
    ZSTD_freeCCtx(context);
    const auto asking_for = [&](uint64_t bytes) {
        Bytes one = entry(1, 75, text, ptx::Compression::kZstd);
        one.resize(0x58);
        put<uint64_t>(one, 0x08, (frame.size() + 7) / 8 * 8);
        put<uint32_t>(one, 0x10, uint32_t(frame.size()));
        put<uint64_t>(one, 0x38, bytes);
        one.insert(one.end(), frame.begin(), frame.end());
        one.resize((one.size() + 7) / 8 * 8);
        return container({one});
    };
    CHECK(ptx::read_container(asking_for(text.size())).at(0).text == text);
    CHECK(contains(failure(asking_for(1 << 30)), "cannot hold 1073741824 bytes"));
}

TEST_CASE("fatbin: a container whose length exceeds its memory", "[ptx][fatbin]") {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    auto* const memory = static_cast<std::byte*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    REQUIRE(mprotect(memory + page, page, PROT_NONE) == 0);
    Bytes bytes = container({entry(1, 75, "text", ptx::Compression::kNone)});
    const auto at_the_end = [&] {
        std::byte* const start = memory + page - bytes.size();
        std::memcpy(start, bytes.data(), bytes.size());
        return start;
    };
    CHECK(ptx::read_container(at_the_end()).at(0).text == "text");
    put<uint64_t>(bytes, 8, 1 << 30);       // the container
    put<uint64_t>(bytes, 16 + 8, 1 << 29);  // and its entry
    CHECK_THROWS_AS(ptx::read_container(at_the_end()), ptx::FatbinError);
    bytes.resize(12);  // not even a whole header
    CHECK_THROWS_AS(ptx::read_container(at_the_end()), ptx::FatbinError);
    munmap(memory, 2 * page);
}

TEST_CASE("fatbin: random damage never reads outside", "[ptx][fatbin]") {
    const auto good = container({entry(2, 75, "ELF", kNone),
                                 entry(1, 75, kText, kZstd),
                                 entry(1, 80, kText, kLz4),
                                 entry(1, 90, kText, kNone)});
    std::mt19937 random(1);
    for (int round = 0; round < 3000; ++round) {
        Bytes bytes = good;
        for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = std::byte(random());
        bytes.resize(random() % 4 ? bytes.size() : random() % bytes.size());
        failure(bytes);  // an error or a text; the sanitizers watch the rest
    }
    SUCCEED();
}
