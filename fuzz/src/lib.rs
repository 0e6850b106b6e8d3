//! The code that the fuzz targets share: the invariants of `headbutt::query`, and the conversion of
//! a fuzzer's bytes to cases.

use std::fmt;

use arbitrary::{Arbitrary, Unstructured};

pub mod invariants;

use invariants::{Case, Source, TestSpace};

/// A case made of raw bytes. The fuzzer prints the case if it fails.
pub struct Input<V: TestSpace>(pub Case<V>);

impl<V: TestSpace> fmt::Debug for Input<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl<'a, V: TestSpace> Arbitrary<'a> for Input<V> {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self(Case::choose(&mut Bytes(bytes))))
    }
}

/// A fuzzer's bytes, followed by zeros.
struct Bytes<'a, 'b>(&'a mut Unstructured<'b>);

impl Source for Bytes<'_, '_> {
    fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    fn word(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }
}
