//! What the fuzz targets share: the invariants of `headbutt::query`, and cases made of a fuzzer's bytes.

use std::fmt;

use arbitrary::{Arbitrary, Unstructured};

pub mod invariants;

use invariants::{Case, Dimension, Source};

/// A case made of raw bytes. The fuzzer prints it when it has found one that fails.
pub struct Input<V: Dimension>(pub Case<V>);

impl<V: Dimension> fmt::Debug for Input<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl<'a, V: Dimension> Arbitrary<'a> for Input<V> {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self(Case::choose(&mut Bytes(bytes))))
    }
}

/// A fuzzer's bytes; zeros when they have run out.
struct Bytes<'a, 'b>(&'a mut Unstructured<'b>);

impl Source for Bytes<'_, '_> {
    fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    fn word(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }
}
