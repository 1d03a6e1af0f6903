/* SPDX-License-Identifier: MIT */
/* signedrank.h - the one-sided signed-rank test of Wilcoxon, "Individual
 * Comparisons by Ranking Methods", Biometrics Bulletin 1, 1945, for paired
 * differences.  Any thread. */
#ifndef WILCOXON_SIGNEDRANK_H
#define WILCOXON_SIGNEDRANK_H

#include <stddef.h>

/* Up to so many differences the distribution is exact, beyond it normal. */
#define SIGNEDRANK_EXACT 50

/* The probability that, were d and -d as likely for each difference, the rank
 * sum of the positive ones would be as large as it is or larger: small when
 * the differences lie above 0.  No NaN among d[0..n-1], n > 0.
 *
 * Equal sizes share the mean of their ranks.  Zeros are ranked, and each side
 * gets half of their ranks (Pratt 1959 ranks them; SciPy calls this zsplit).
 * Exact means: over all 2^n signs, ties and zeros as they are.  Normal means:
 * without continuity correction, the variance corrected for ties, as SciPy has
 * it.  Returns NaN when out of memory. */
double signedrank_greater(const double *d, size_t n);

#endif
