# SPDX-License-Identifier: MIT
"""What CuPy takes from cuBLAS, cuSOLVER, cuFFT and cuRAND, through their stand-ins."""

import cupy as cp
import numpy as np

random = np.random.default_rng(5)
a, b = random.random((20, 20)), random.random((20, 30))
A, B = cp.asarray(a), cp.asarray(b)


def check(name, got, want):
    assert np.allclose(cp.asnumpy(got), want), f"{name}: {got} instead of {want}"


check("matmul", A @ B, a @ b)
check("matmul in float", A.astype("f") @ B.astype("f"), (a @ b).astype("f"))
check("dot", A[0].dot(A[1]), a[0].dot(a[1]))
check("solve", cp.linalg.solve(A, B), np.linalg.solve(a, b))
check("inv", cp.linalg.inv(A), np.linalg.inv(a))
check("svd", cp.linalg.svd(A)[1], np.linalg.svd(a)[1])
check("cholesky", cp.linalg.cholesky(A @ A.T), np.linalg.cholesky(a @ a.T))
check("norm", cp.linalg.norm(A), np.linalg.norm(a))
symmetric = a + a.T
values, vectors = cp.linalg.eigh(cp.asarray(symmetric))
check("eigh", values, np.linalg.eigvalsh(symmetric))
check("eigenvectors", cp.asarray(symmetric) @ vectors, cp.asnumpy(vectors * values))
q, r = cp.linalg.qr(A)
check("qr", q @ r, a)
tall, wide = cp.asarray(b.T), cp.asarray(b)
for name, matrix in (("tall", tall), ("wide", wide)):
    for mode in ("reduced", "complete"):
        q, r = cp.linalg.qr(matrix, mode)
        check(f"{mode} qr of a {name} matrix", q @ r, cp.asnumpy(matrix))
    check(f"pinv, {name}", cp.linalg.pinv(matrix), np.linalg.pinv(cp.asnumpy(matrix)))
check("slogdet", cp.stack(cp.linalg.slogdet(A)), np.stack(np.linalg.slogdet(a)))
for power in (5, -2):
    check("matrix_power", cp.linalg.matrix_power(A, power), np.linalg.matrix_power(a, power))
for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    check(f"norm {order}", cp.linalg.norm(A, order), np.linalg.norm(a, order))
check("matrix_rank", cp.linalg.matrix_rank(A), 20)
check("cond", cp.linalg.cond(A), np.linalg.cond(a))
check("eigvalsh", cp.linalg.eigvalsh(cp.asarray(symmetric)), np.linalg.eigvalsh(symmetric))
check("det", cp.linalg.det(A), np.linalg.det(a))
check("lstsq", cp.linalg.lstsq(A, B)[0], np.linalg.lstsq(a, b, rcond=None)[0])
check("pinv", cp.linalg.pinv(A), np.linalg.pinv(a))
check("einsum", cp.einsum("ij,jk->ik", A, B), np.einsum("ij,jk->ik", a, b))
c = a + 1j * a.T
C = cp.asarray(c)
check("complex matmul", C @ C, c @ c)
check("complex solve", cp.linalg.solve(C, C), np.eye(20))
check("eigh of a Hermitian matrix", cp.linalg.eigh(C @ C.conj().T)[0],
      np.linalg.eigvalsh(c @ c.conj().T))  # fmt: skip
batch = random.random((5, 8, 8)) + 8 * np.eye(8)
D = cp.asarray(batch)
check("matmul of a batch", D @ D, batch @ batch)
check("solve of a batch", cp.linalg.solve(D, D), np.broadcast_to(np.eye(8), batch.shape))
check("inv of a batch", cp.linalg.inv(D), np.linalg.inv(batch))
both = batch + batch.transpose(0, 2, 1)
check("cholesky of a batch", cp.linalg.cholesky(cp.asarray(both)), np.linalg.cholesky(both))
for many in (both, both + 1j * (batch - batch.transpose(0, 2, 1))):
    values, vectors = cp.linalg.eigh(cp.asarray(many))
    check("eigh of a batch", values, np.linalg.eigvalsh(many))
    check("its vectors", cp.asarray(many) @ vectors, cp.asnumpy(vectors * values[:, None, :]))


def in_order(values):
    """Eigenvalues, which come in any order."""
    return np.sort_complex(np.round(cp.asnumpy(values), 8))


for many in (a, c, a.astype("f"), batch - 8 * np.eye(8), batch + 1j * both):
    M = cp.asarray(many)
    values, vectors = cp.linalg.eig(M)
    assert np.allclose(cp.asnumpy(M @ vectors), cp.asnumpy(vectors * values[..., None, :]),
                       atol=1e-4)  # fmt: skip
    if many.dtype.char != "f":
        check("eigvals", in_order(cp.linalg.eigvals(M)), in_order(np.linalg.eigvals(many)))
# Batches of small matrices, of matrices with more than 32 rows, and of complex ones.
large = random.random((2, 40, 35))
for many in (batch, batch[:, :, :5], batch[:, :5], large, large + 1j * large[:, ::-1]):
    M = cp.asarray(many)
    check("singular values of a batch", cp.linalg.svd(M, compute_uv=False),
          np.linalg.svd(many, compute_uv=False))  # fmt: skip
    for full in (True, False):
        u, s, vt = cp.linalg.svd(M, full_matrices=full)
        k = s.shape[-1]
        check("svd of a batch", (u[..., :k] * s[..., None, :]) @ vt[..., :k, :], many)
        assert u.shape == np.linalg.svd(many, full_matrices=full)[0].shape
    for mode in ("reduced", "complete"):
        q, r = cp.linalg.qr(M, mode)
        check(f"{mode} qr of a batch", q @ r, many)
check("pinv of a batch", cp.linalg.pinv(D), np.linalg.pinv(batch))
check("slogdet of a batch", cp.linalg.slogdet(D)[1], np.linalg.slogdet(batch)[1])
check("eigvalsh of a batch", cp.linalg.eigvalsh(cp.asarray(both)), np.linalg.eigvalsh(both))
check("matmul of two batches", D[:, None] @ D[None], batch[:, None] @ batch[None])
check("fft", cp.fft.fft(A), np.fft.fft(a))
check("rfft", cp.fft.rfft(A[0]), np.fft.rfft(a[0]))
cube = np.stack([a, a * 2j, a - 1])
for axes in ((0, 1), (0, 2), (1, 0)):
    check(
        f"2D fft, axes {axes}",
        cp.fft.fft2(cp.asarray(cube), axes=axes),
        np.fft.fft2(cube, axes=axes),
    )
    real = cp.fft.rfft2(cp.asarray(cube.real), axes=axes)
    check(f"2D rfft, axes {axes}", real, np.fft.rfft2(cube.real, axes=axes))
check("2D fft and back", cp.fft.ifft2(cp.fft.fft2(A)), a)
assert abs(float(cp.random.rand(10000).mean()) - 0.5) < 0.02
assert abs(float(cp.random.randn(10000).std()) - 1) < 0.05
assert abs(float(cp.random.default_rng(3).random(10000).mean()) - 0.5) < 0.02
assert set(cp.asnumpy(cp.random.randint(0, 4, 1000))) == {0, 1, 2, 3}
print("all values equal NumPy's")
