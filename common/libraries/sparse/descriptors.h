// SPDX-License-Identifier: MIT
// cuSPARSE's handle and descriptors.
#pragma once

#include "cusparse.h"
#include "stand_in.h"

struct cusparseContext {
    cudaStream_t stream = nullptr;
    cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;
};

// A matrix in compressed sparse rows.
struct cusparseSpMatDescr {
    int64_t rows, columns, nonzeros;
    const void *offsets, *indexes, *values;
    cusparseIndexType_t offset_type, index_type;
    cusparseIndexBase_t base;
    cudaDataType value_type;
};

struct cusparseDnVecDescr {
    int64_t size;
    void* values;
    cudaDataType value_type;
};

namespace sparse {

stand_in::Handles<cusparseContext>& handles();
stand_in::Handles<const cusparseSpMatDescr>& matrices();
stand_in::Handles<const cusparseDnVecDescr>& vectors();

cusparseStatus_t finish(const char* name, cusparseStatus_t status);
const char* status_name(cusparseStatus_t status);

}  // namespace sparse
