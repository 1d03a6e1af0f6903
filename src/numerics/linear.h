/* SPDX-License-Identifier: MIT */
/* linear.h - small dense symmetric matrices: Cholesky's factors and
 * eigenvectors.
 *
 * Matrices are n * n doubles, one row behind the other.  Sums are taken in a
 * fixed order, so that the bits are the same on every machine, for ever; only
 * + - * / and square roots are used.  Nothing is allocated; any thread.
 * Errors were measured, see tests/unit/linear_test.c; |A| is the largest
 * eigenvalue's size. */
#ifndef NUMERICS_LINEAR_H
#define NUMERICS_LINEAR_H

#include <stddef.h>

/* The sum of a[i] * b[i]: four sums of every fourth product, added up as
 * (0 + 1) + (2 + 3). */
double num_dot(const double *a, const double *b, size_t n);

/* y[i] += factor * x[i] */
void num_add_scaled(double *y, const double *x, double factor, size_t n);

/* A = L L', of A only the lower triangle is read; L takes its place and the
 * upper triangle stays as it was.  -1: A is not positive definite to working
 * precision, or has something in it that is not finite; the lower triangle is
 * then lost.  The residual is below 2 n 2^-53 |A|. */
int num_cholesky(double *a, size_t n);

/* One row of it, `stride` numbers behind the row before: row i of A becomes
 * that of L, the rows above being L's, with the same bits.  -1: as above; that
 * row is then lost. */
int num_cholesky_row(double *a, size_t stride, size_t i);

/* The inverse of L L', symmetric: its upper triangle, row by row, the diagonal
 * included; the rest of `inverse` is lost.  Both have rows of `stride`. */
void num_cholesky_inverse(const double *l, size_t stride, size_t n,
                          double *inverse);

/* x takes the place of b: L x = b; L' x = b; and L L' x = b. */
void num_lower_solve(const double *l, size_t n, double *b);
void num_upper_solve(const double *l, size_t n, double *b);
void num_cholesky_solve(const double *l, size_t n, double *b);

/* 2 sum of ln L[i][i]: ln of the determinant of L L'. */
double num_cholesky_log_det(const double *l, size_t n);

/* Eigenvalues in ascending order, and row j of `vectors` is the vector of
 * length 1 that belongs to values[j]; of its largest components the first is
 * positive.  Only the lower triangle of A is read and all of A is lost.  -1:
 * something is not finite, or (never seen) no convergence; values and vectors
 * mean nothing then.  Errors of the values, of A v = value v and of the
 * vectors' orthogonality: below 8 n 2^-53 |A|, |A| and 1.  Some
 * 9 n^3 operations; n = 0 is allowed. */
int num_eigen_symmetric(double *a, size_t n, double *values, double *vectors);

#endif
