//! A node of a [`WideTree`](super::wide_tree::WideTree): four boxes, each of a child.

use arrayvec::ArrayVec;

use crate::{math::Vec4, shape::Box3};

/// The number of children of a node.
pub const WIDTH: usize = 4;

/// A box that overlaps no box and that no path enters.
pub const EMPTY: Box3 = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

/// The value that stands for no group, or for boxes of several groups.
pub const NO_GROUP: u32 = u32::MAX;

/// The minimum and the maximum corners of four boxes, by axis.
pub type Corners = [[Vec4; 3]; 2];

/// The children to visit, each with a key, such as a lower bound on the distance. If the list is
/// full, a recursive call searches a part of the tree.
pub type OpenChildren<K> = ArrayVec<(K, Child), 64>;

#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct WideNode {
    /// The minimum and the maximum corners of the children's boxes, by axis.
    pub corners: Corners,
    pub children: [Child; WIDTH],
    /// For each child, the group that contains all boxes of the child, or [`NO_GROUP`].
    pub groups: [u32; WIDTH],
}

/// A child of a node: the index of a box, marked by [`LEAF`](Self::LEAF), or the index of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Child(pub u32);

impl Child {
    pub const ROOT: Self = Self(0);
    pub const LEAF: u32 = 1 << 31;
    pub const NONE: Self = Self(u32::MAX);

    /// Returns `Ok` with the index of a box, or `Err` with the index of a node.
    #[inline]
    pub fn number(self) -> Result<u32, usize> {
        if self.0 & Self::LEAF == 0 {
            Err(self.0 as usize)
        } else {
            Ok(self.0 & !Self::LEAF)
        }
    }
}

impl WideNode {
    pub const EMPTY: Self = Self {
        corners: [[Vec4::INFINITY; 3], [Vec4::NEG_INFINITY; 3]],
        children: [Child::NONE; WIDTH],
        groups: [NO_GROUP; WIDTH],
    };

    /// Returns the box of a child.
    #[inline]
    pub fn lane_box(&self, lane: usize) -> Box3 {
        let corner = |corner: &[Vec4; 3]| {
            corner.map(|lanes| lanes.as_ref().get(lane).copied().unwrap_or(f32::NAN))
        };
        self.corners.each_ref().map(corner)
    }

    #[inline]
    pub fn set_box(&mut self, lane: usize, new: &Box3) {
        for (corner, new) in self.corners.iter_mut().zip(new) {
            for (lanes, new) in corner.iter_mut().zip(new) {
                if let Some(value) = lanes.as_mut().get_mut(lane) {
                    *value = *new;
                }
            }
        }
    }

    /// Replaces a child, its box and its group.
    #[inline]
    pub fn set(&mut self, lane: usize, new: Child, bounds: &Box3, group: u32) {
        if let Some(child) = self.children.get_mut(lane) {
            *child = new;
        }
        self.set_box(lane, bounds);
        self.set_group(lane, group);
    }

    #[inline]
    pub fn set_group(&mut self, lane: usize, new: u32) {
        if let Some(group) = self.groups.get_mut(lane) {
            *group = new;
        }
    }

    /// Returns the box around all children.
    #[inline]
    pub fn bounds(&self) -> Box3 {
        let [min, max] = &self.corners;
        [min.map(Vec4::min_element), max.map(Vec4::max_element)]
    }

    /// Returns the group that contains all boxes below the node, or [`NO_GROUP`].
    #[inline]
    pub fn group(&self) -> u32 {
        let children = self.children.iter().zip(self.groups);
        let mut groups = children.filter(|(child, _)| **child != Child::NONE);
        let Some((_, first)) = groups.next() else {
            return NO_GROUP;
        };
        let is_common = groups.all(|(_, group)| group == first);
        if is_common { first } else { NO_GROUP }
    }

    /// Returns the child with the lowest key among the children whose bits in `mask` are set. Adds
    /// the other children to `open`, in descending order of their keys. Most nodes have one such
    /// child, which needs no list.
    #[inline(always)]
    pub fn nearest<K: PartialOrd + Copy>(
        &self,
        mut mask: u32,
        keys: [K; WIDTH],
        open: &mut OpenChildren<K>,
    ) -> Option<(K, Child)> {
        let mut nearest: Option<(K, Child)> = None;
        let start = open.len();
        // Each step clears the lowest set bit of `mask`.
        while let lane = mask.trailing_zeros() as usize
            && let (Some(child), Some(key)) = (self.children.get(lane), keys.get(lane))
        {
            mask &= mask - 1;
            if *child == Child::NONE {
                continue;
            }
            let mut new = (*key, *child);
            let Some(nearest) = &mut nearest else {
                nearest = Some(new);
                continue;
            };
            if new.0 < nearest.0 {
                core::mem::swap(nearest, &mut new);
            }
            open.push(new);
            let mut opened = open.get_mut(start..).unwrap_or_default();
            while let Some((last, before)) = opened.split_last_mut()
                && let Some(next) = before.last_mut()
                && next.0 < last.0
            {
                core::mem::swap(next, last);
                opened = before;
            }
        }
        nearest
    }
}
