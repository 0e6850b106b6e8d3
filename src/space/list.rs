//! Lists of a bounded length, on the stack.

use core::ops::{Deref, DerefMut};

use arrayvec::ArrayVec;

/// A list with room for `N`, of which nothing is set up before it is used.
#[derive(Clone, Debug)]
pub struct List<T, const N: usize>(ArrayVec<T, N>);

impl<T: Copy, const N: usize> List<T, N> {
    /// An empty one.
    #[inline]
    pub fn new() -> Self {
        Self(ArrayVec::new_const())
    }

    /// Adds to the end, or returns `None` if there is no room.
    #[inline]
    pub fn push(&mut self, value: T) -> Option<()> {
        self.0.try_push(value).ok()
    }

    /// Takes from the end.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Whether there is no room for more.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Leaves the first ones, so many of them.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> DerefMut for List<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}
