//! Numeric formulas: moments, intervals, percentiles, histograms and tests of difference.
