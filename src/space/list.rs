//! Lists of a bounded length, on the stack.

use core::ops::{Deref, DerefMut};

use smallvec::SmallVec;

/// A list with room for `N`, of which nothing is set up before it is used.
///
/// Unlike the list that it is made of it never grows beyond that, and so never allocates.
#[derive(Clone, Debug)]
pub struct List<T, const N: usize>(SmallVec<[T; N]>);

impl<T: Copy, const N: usize> List<T, N> {
    /// An empty one.
    #[inline]
    pub fn new() -> Self {
        Self(SmallVec::new())
    }

    /// Adds to the end, or returns `None` if there is no room.
    #[inline]
    pub fn push(&mut self, value: T) -> Option<()> {
        if self.is_full() {
            return None;
        }
        self.0.push(value);
        Some(())
    }

    /// Takes from the end.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Whether there is no room for more.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.0.len() >= N
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
