# Decompressors for the fat binaries that nvcc embeds. Debian names the packages in the messages.
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
if(NOT ZSTD_LIBRARY OR NOT ZSTD_INCLUDE_DIR)
    message(FATAL_ERROR "zstd was not found. On Debian and Ubuntu: apt install libzstd-dev")
endif()

find_path(LZ4_INCLUDE_DIR lz4.h)
find_library(LZ4_LIBRARY lz4)
if(NOT LZ4_LIBRARY OR NOT LZ4_INCLUDE_DIR)
    message(FATAL_ERROR "lz4 was not found. On Debian and Ubuntu: apt install liblz4-dev")
endif()

mark_as_advanced(ZSTD_INCLUDE_DIR ZSTD_LIBRARY LZ4_INCLUDE_DIR LZ4_LIBRARY)
target_include_directories(emulator_ptx PRIVATE ${ZSTD_INCLUDE_DIR} ${LZ4_INCLUDE_DIR})
target_link_libraries(emulator_ptx PUBLIC ${ZSTD_LIBRARY} ${LZ4_LIBRARY})
