//! View models and their text, SVG, HTML, PDF and CSV renderings.
