// SPDX-License-Identifier: MIT
// cuSPARSE's product of a sparse matrix and a vector, y = alpha op(A) x + beta y.
#include "sparse/descriptors.h"

namespace sparse {
namespace {

using stand_in::Operand;
using stand_in::Scalar;

int64_t index_at(cusparseIndexType_t type, const std::byte* at, int64_t i) {
    return type == CUSPARSE_INDEX_32I ? reinterpret_cast<const int32_t*>(at)[i]
                                      : reinterpret_cast<const int64_t*>(at)[i];
}
uint64_t index_bytes(cusparseIndexType_t type) {
    return type == CUSPARSE_INDEX_32I ? 4 : 8;
}

Operand bytes_of(const char* name, const void* address, int64_t count, uint64_t bytes) {
    Operand operand{name, address};
    operand.row_bytes = uint64_t(count) * bytes;
    return operand;
}

// Adds op(A) x to `sum`, entry by entry. False, with a finding, if A is not a valid CSR matrix.
template <class T>
bool add_product(const char* name, const cusparseSpMatDescr& a, bool transposed,
                 const std::byte* offsets, const std::byte* indexes, const T* values, const T* x,
                 std::vector<double>& sum) {
    const auto misuse = [&](const std::string& what) {
        emulatorLibraryMisuse(name, "indexes", '`' + std::string(name) + "`: " + what);
        return false;
    };
    for (int64_t row = 0; row < a.rows; ++row) {
        const int64_t begin = index_at(a.offset_type, offsets, row) - a.base;
        const int64_t end = index_at(a.offset_type, offsets, row + 1) - a.base;
        if (begin < 0 || end < begin || end > a.nonzeros)
            return misuse("row " + std::to_string(row) + " has the entries from " +
                          std::to_string(begin) + " to " + std::to_string(end) +
                          " of a matrix with " + std::to_string(a.nonzeros) +
                          " entries: row offsets must increase from 0 to that number");
        for (int64_t k = begin; k < end; ++k) {
            const int64_t column = index_at(a.index_type, indexes, k) - a.base;
            if (column < 0 || column >= a.columns)
                return misuse("entry " + std::to_string(k) + ", in row " + std::to_string(row) +
                              ", is in column " + std::to_string(column) + " of a matrix with " +
                              std::to_string(a.columns) + " columns");
            const double value = values[k];
            sum[size_t(transposed ? column : row)] += value * x[transposed ? row : column];
        }
    }
    return true;
}

template <class T>
cusparseStatus_t multiply(const char* name, const cusparseContext& context, bool transposed,
                          const T* alpha, const cusparseSpMatDescr& a, const cusparseDnVecDescr& x,
                          const T* beta, const cusparseDnVecDescr& y) {
    const bool on_device = context.pointer_mode == CUSPARSE_POINTER_MODE_DEVICE;
    const Scalar<T> factor(alpha, on_device), old(beta, on_device);
    Operand out = stand_in::updated(bytes_of("vecY", y.values, y.size, sizeof(T)));
    out.reads_if = [=](std::byte* const* at) { return old.value(at[6]) != T(0); };
    const cudaError_t error = emulatorRunLibraryKernel(
        {name,
         context.stream,
         {bytes_of("csrRowOffsets", a.offsets, a.rows + 1, index_bytes(a.offset_type)),
          bytes_of("csrColInd", a.indexes, a.nonzeros, index_bytes(a.index_type)),
          bytes_of("csrValues", a.values, a.nonzeros, sizeof(T)),
          bytes_of("vecX", x.values, x.size, sizeof(T)),
          out,
          factor.operand("alpha"),
          old.operand("beta")},
         [=](std::byte* const* at) {
             std::vector<double> sum(size_t(y.size));
             if (!add_product(name,
                              a,
                              transposed,
                              at[0],
                              at[1],
                              reinterpret_cast<const T*>(at[2]),
                              reinterpret_cast<const T*>(at[3]),
                              sum))
                 return;
             T* const to = reinterpret_cast<T*>(at[4]);
             const T scale = factor.value(at[5]), keep = old.value(at[6]);
             for (int64_t i = 0; i < y.size; ++i)
                 to[i] = T(scale * sum[size_t(i)] + (keep == T(0) ? 0.0 : double(keep) * to[i]));
         }});
    return error == cudaSuccess ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}

// The errors that cuSPARSE detects before it starts.
cusparseStatus_t check(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                       const cusparseSpMatDescr* a, const cusparseDnVecDescr* x, const void* beta,
                       const cusparseDnVecDescr* y, cudaDataType type) {
    if (!handles().has(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!alpha || !beta || !matrices().has(a) || !vectors().has(x) || !vectors().has(y))
        return CUSPARSE_STATUS_INVALID_VALUE;
    const bool transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (x->size != (transposed ? a->rows : a->columns) ||
        y->size != (transposed ? a->columns : a->rows))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if ((type != CUDA_R_32F && type != CUDA_R_64F) || a->value_type != type ||
        x->value_type != type || y->value_type != type)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace
}  // namespace sparse

using namespace sparse;

STAND_IN_API cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle,
                                                      cusparseOperation_t op, const void* alpha,
                                                      cusparseConstSpMatDescr_t matrix,
                                                      cusparseConstDnVecDescr_t x, const void* beta,
                                                      cusparseDnVecDescr_t y, cudaDataType type,
                                                      cusparseSpMVAlg_t, size_t* bytes) {
    const char* name = "cusparseSpMV_bufferSize";
    const cusparseStatus_t status = check(handle, op, alpha, matrix, x, beta, y, type);
    if (status != CUSPARSE_STATUS_SUCCESS) return finish(name, status);
    if (!bytes) return finish(name, CUSPARSE_STATUS_INVALID_VALUE);
    *bytes = 8;  // unused here, but a program that allocates nothing would fail on a card
    return CUSPARSE_STATUS_SUCCESS;
}

STAND_IN_API cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle,
                                                      cusparseOperation_t op, const void* alpha,
                                                      cusparseConstSpMatDescr_t matrix,
                                                      cusparseConstDnVecDescr_t x, const void* beta,
                                                      cusparseDnVecDescr_t y, cudaDataType type,
                                                      cusparseSpMVAlg_t, void*) {
    return finish("cusparseSpMV_preprocess", check(handle, op, alpha, matrix, x, beta, y, type));
}

STAND_IN_API cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op,
                                           const void* alpha, cusparseConstSpMatDescr_t matrix,
                                           cusparseConstDnVecDescr_t x, const void* beta,
                                           cusparseDnVecDescr_t y, cudaDataType type,
                                           cusparseSpMVAlg_t, void*) {
    const char* name = "cusparseSpMV";
    const cusparseStatus_t status = check(handle, op, alpha, matrix, x, beta, y, type);
    if (status != CUSPARSE_STATUS_SUCCESS) return finish(name, status);
    const bool transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        return multiply<T>(name,
                           *handle,
                           transposed,
                           static_cast<const T*>(alpha),
                           *matrix,
                           *x,
                           static_cast<const T*>(beta),
                           *y);
    };
    return finish(name, type == CUDA_R_32F ? run(float()) : run(double()));
}
