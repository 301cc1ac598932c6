//! File syntax: bytes in, values out.
