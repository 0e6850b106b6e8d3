//! Lists of bounded length on the stack.

use core::ops::{Deref, DerefMut};

use arrayvec::ArrayVec;

/// A list of at most `N` items. Unused capacity is not initialized.
#[derive(Clone, Debug)]
pub struct List<T, const N: usize>(ArrayVec<T, N>);

impl<T: Copy, const N: usize> List<T, N> {
    /// Returns an empty list.
    #[inline]
    pub fn new() -> Self {
        Self(ArrayVec::new_const())
    }

    /// Adds an item at the end, or returns `None` if the list is full.
    #[inline]
    pub fn push(&mut self, value: T) -> Option<()> {
        self.0.try_push(value).ok()
    }

    /// Removes the last item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Returns `true` if the list has `N` items.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Keeps the first `len` items.
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
