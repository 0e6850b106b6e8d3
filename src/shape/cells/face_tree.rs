//! The faces of a union of cells in a tree, of which a change replaces only the changed branches.
//!
//! The tree has a fixed number of levels: regions, chunks, [blocks](FaceBlock), facets. A chunk has
//! up to 4 blocks along each axis, and a region up to 8 chunks (in 3D, 4). The children of a node
//! are sorted by their Morton codes. So the tree and the indices of the facets depend only on the
//! cells, and not on the order of the changes. Nodes are shared between the trees before and after
//! a change.
//!
//! The index of a facet counts the facets of all blocks before its own. Each node counts its own
//! facets from 0, so that the nodes beside a change stay the same.

use std::sync::Arc;

use crate::{
    shape::{
        boxes::{
            bounds::Bounds,
            box_search::{BoxSearch, Overlapping},
            wide_tree::WideTree,
        },
        cells::{
            block_layout::block_bits,
            cell_path::CellPath,
            exposed_faces::BlockFacet,
            face_block::{FaceBlock, FaceSummary},
            grid::CellPosition,
        },
    },
    space::{DVector, Space},
};

/// The level of a block. Chunks are one level above, and regions two levels.
const BLOCK: u32 = 0;
const REGION: u32 = 2;

/// The number of bits of a Morton code inside a region, without the bits of chunks and blocks.
const REGION_BITS: u32 = 6;

/// Before they become Morton codes, coordinates of blocks are raised by this number.
const MORTON_ZERO: i32 = 1 << 13;

/// A change of a block: its Morton code, and its new faces.
pub type BlockChange<V> = (u64, Option<Arc<FaceBlock<V>>>);

/// All faces of a union of cells, or a node of their tree. A clone shares the nodes below.
#[derive(Clone)]
pub struct FaceTree<V: Space> {
    /// The level of the children.
    level: u32,
    /// The children, in ascending order of their codes.
    children: Vec<Child<V>>,
    /// The low bits of the children's codes, as a set. Inside a region, no two children have the
    /// same low bits.
    codes: u64,
    /// The tree of the children's boxes.
    boxes: WideTree,
    /// The number of facets.
    len: u32,
    has_ledges: bool,
}

#[derive(Clone)]
struct Child<V: Space> {
    /// The Morton code of its blocks, without the bits that differ inside the child.
    code: u64,
    /// The number of facets in all children before.
    start: u32,
    /// The number of facets of the node. A count of all children does not read their nodes.
    len: u32,
    has_ledges: bool,
    node: FaceNode<V>,
}

/// A child of a node: a block, or a node of the next lower level.
#[derive(Clone)]
enum FaceNode<V: Space> {
    Block(Arc<FaceBlock<V>>),
    Group(Arc<FaceTree<V>>),
}

/// A facet in its block.
pub struct FaceIndex<'f, V: Space> {
    pub block: &'f FaceBlock<V>,
    /// The index in the block.
    pub index: u32,
}

impl<'f, V: Space> FaceIndex<'f, V> {
    pub fn facet(&self) -> Option<&'f BlockFacet<V>> {
        self.block.facets().get(self.index as usize)
    }
}

impl<V: Space> FaceNode<V> {
    /// Builds a node of blocks, which must be sorted by code. Returns `None` if there are no
    /// facets.
    fn of_blocks(blocks: &[BlockChange<V>], level: u32) -> Option<Self> {
        if level == BLOCK {
            let (_, block) = blocks.last()?;
            return block.clone().map(Self::Block);
        }
        let group = FaceTree::of_blocks(blocks, level - 1)?;
        Some(Self::Group(Arc::new(group)))
    }

    /// Changes blocks: see [`FaceTree::change`].
    fn change(&mut self, changes: &[BlockChange<V>]) -> bool {
        match self {
            Self::Block(_) => {
                let new = Self::of_blocks(changes, BLOCK);
                new.map(|new| *self = new).is_some()
            }
            Self::Group(group) => Arc::make_mut(group).change(changes),
        }
    }

    fn summary(&self) -> FaceSummary {
        match self {
            Self::Block(block) => block.summary,
            Self::Group(group) => group.summary(),
        }
    }

    /// Returns `true` if a box may overlap a block that another node does not share. The box must
    /// overlap the box around this node.
    fn differs(&self, other: Option<&Self>, bounds: &Overlapping) -> bool {
        match (self, other) {
            (Self::Block(own), Some(Self::Block(other))) => !Arc::ptr_eq(own, other),
            (Self::Group(own), Some(Self::Group(other))) => {
                !Arc::ptr_eq(own, other) && own.has_other_blocks(other, bounds)
            }
            _ => true,
        }
    }

    /// Returns the index in another node of a facet that both have.
    fn renumbered(&self, other: &Self, index: u32) -> Option<u32> {
        match (self, other) {
            (Self::Block(own), Self::Block(other)) if !Arc::ptr_eq(own, other) => {
                let facet = own.facets().get(index as usize)?;
                let mut others = other.facets().iter();
                let same = others.position(|other| other.corners() == facet.corners())?;
                u32::try_from(same).ok()
            }
            (Self::Group(own), Self::Group(other)) if !Arc::ptr_eq(own, other) => {
                own.renumbered(other, index)
            }
            _ => Some(index),
        }
    }
}

impl<V: Space> FaceTree<V> {
    /// Builds the tree of blocks, which must be sorted by code. Returns `None` if there are no
    /// facets.
    pub fn new(blocks: &[BlockChange<V>]) -> Option<Self> {
        Self::of_blocks(blocks, REGION)
    }

    /// Builds the tree of blocks, given the level of the children.
    fn of_blocks(blocks: &[BlockChange<V>], level: u32) -> Option<Self> {
        let mut tree = Self {
            level,
            children: Vec::new(),
            codes: 0,
            boxes: WideTree::default(),
            len: 0,
            has_ledges: false,
        };
        let has_facets = tree.change(blocks);
        has_facets.then_some(tree)
    }

    /// Changes blocks, which must be sorted by code. Nodes that other trees share are copied.
    /// Returns `false` if no facets are left.
    pub fn change(&mut self, changes: &[BlockChange<V>]) -> bool {
        let mut has_same_codes = true;
        let mut first_changed = self.children.len();
        let bits = self.code_bits();
        for changes in changes.chunk_by(|a, b| a.0 >> bits == b.0 >> bits) {
            let code = changes.first().map_or(0, |(code, _)| code >> bits);
            let position = self.position(code);
            let (Ok(index) | Err(index)) = position;
            first_changed = first_changed.min(index);
            match position {
                Ok(index) => {
                    let Some(child) = self.children.get_mut(index) else {
                        continue;
                    };
                    if child.node.change(changes) {
                        let summary = child.node.summary();
                        (child.len, child.has_ledges) = (summary.len, summary.has_ledges);
                        let (bounds, group) = (summary.bounding_box, summary.group);
                        self.boxes.replace(index as u32, bounds, group);
                    } else {
                        self.children.remove(index);
                        self.codes &= !low_bits(code);
                        has_same_codes = false;
                    }
                }
                Err(index) => {
                    if let Some(node) = FaceNode::of_blocks(changes, self.level) {
                        let FaceSummary {
                            len, has_ledges, ..
                        } = node.summary();
                        let child = Child {
                            code,
                            start: 0,
                            len,
                            has_ledges,
                            node,
                        };
                        self.children.insert(index, child);
                        self.codes |= low_bits(code);
                        has_same_codes = false;
                    }
                }
            }
        }
        self.count(first_changed);
        if !has_same_codes {
            let boxes = self.children.iter().zip(0_u32..).map(|(child, index)| {
                let summary = child.node.summary();
                (child.code, index, summary.bounding_box, summary.group)
            });
            self.boxes = WideTree::of_codes(boxes);
        }
        !self.children.is_empty()
    }

    /// Counts the facets of the children. The children before the position `first` did not change.
    fn count(&mut self, first: usize) {
        let before = self.children.iter().take(first).next_back();
        self.len = before.map_or(0, |last| last.start + last.len);
        for child in self.children.iter_mut().skip(first) {
            child.start = self.len;
            self.len += child.len;
        }
        self.has_ledges = self.children.iter().any(|child| child.has_ledges);
    }

    /// Returns the number of bits of a block's Morton code that differ inside a child.
    fn code_bits(&self) -> u32 {
        match self.level {
            BLOCK => 0,
            level => 2 * V::DVec::DIMENSION as u32 + (level - 1) * REGION_BITS,
        }
    }

    fn summary(&self) -> FaceSummary {
        FaceSummary {
            len: self.len,
            bounding_box: self.boxes.bounding_box(),
            group: self.boxes.group(),
            has_ledges: self.has_ledges,
        }
    }

    /// Returns the number of facets.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns `true` if any facet belongs to a one-way cell.
    pub fn has_ledges(&self) -> bool {
        self.has_ledges
    }

    /// Returns the box around all facets.
    pub fn bounds(&self) -> Bounds<V::DVec> {
        self.boxes.bounds()
    }

    /// Returns the block with a Morton code, and the index of its first facet.
    pub fn block(&self, code: u64) -> Option<(&FaceBlock<V>, u32)> {
        let child = self.child(code >> self.code_bits())?;
        let (block, start) = match &child.node {
            FaceNode::Block(block) => (&**block, 0),
            FaceNode::Group(group) => group.block(code)?,
        };
        Some((block, child.start + start))
    }

    fn child(&self, code: u64) -> Option<&Child<V>> {
        self.children.get(self.position(code).ok()?)
    }

    /// Returns the position of the child with a code, or an error with the position at which this
    /// child would be inserted.
    fn position(&self, code: u64) -> Result<usize, usize> {
        if self.level == REGION {
            return self.children.binary_search_by_key(&code, |it| it.code);
        }
        let own = low_bits(code);
        let position = (self.codes & (own - 1)).count_ones() as usize;
        if self.codes & own == 0 {
            Err(position)
        } else {
            Ok(position)
        }
    }

    #[inline]
    pub fn facet(&self, mut index: u32) -> Option<FaceIndex<'_, V>> {
        let mut tree = self;
        loop {
            let child = tree.child_with(index)?;
            index -= child.start;
            match &child.node {
                FaceNode::Block(block) => return Some(FaceIndex { block, index }),
                FaceNode::Group(group) => tree = group,
            }
        }
    }

    /// Returns the child that has the facet with an index.
    #[inline]
    fn child_with(&self, index: u32) -> Option<&Child<V>> {
        let next = self.children.partition_point(|child| child.start <= index);
        let child = self.children.get(next.checked_sub(1)?);
        child.filter(|child| index - child.start < child.len)
    }

    /// Runs a search for facets. `visit` is called with indices that count from `start`, and
    /// returns the new limit.
    pub fn search(
        &self,
        search: &impl BoxSearch,
        limit: f64,
        start: u32,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        let mut limit = limit;
        self.boxes.visit(search, limit, |index| {
            if let Some(child) = self.children.get(index as usize) {
                let (before, start) = (limit, start + child.start);
                let mut visit = |facet| {
                    limit = visit(facet);
                    limit
                };
                match &child.node {
                    FaceNode::Block(block) => block.search(search, before, start, &mut visit),
                    FaceNode::Group(group) => group.search(search, before, start, &mut visit),
                }
            }
            limit
        });
    }

    /// Calls `visit` with the index and the vertices of each facet that a path may meet until
    /// `max`. The indices count from `start`. The blocks are visited roughly in the order of the
    /// path. Sides of cells that the path leaves may be skipped. `visit` returns the new `max`, or
    /// a negative number to stop. Returns the last `max`.
    pub fn walk(
        &self,
        path: &CellPath,
        max: f64,
        start: u32,
        visit: &mut dyn FnMut(u32, [V; 3]) -> f64,
    ) -> f64 {
        let mut max = max;
        self.boxes.visit(&path.points, max, |index| {
            if let Some(child) = self.children.get(index as usize) {
                let start = start + child.start;
                max = match &child.node {
                    FaceNode::Block(block) => block.walk(path, max, start, visit),
                    FaceNode::Group(group) => group.walk(path, max, start, visit),
                };
            }
            max
        });
        max
    }

    /// Returns `true` if a box may overlap faces that only one of two trees has.
    pub fn differs(&self, other: &Self, bounds: &Bounds<V::DVec>) -> bool {
        let bounds = Overlapping::new(bounds.round_outward());
        self.has_other_blocks(other, &bounds) || other.has_other_blocks(self, &bounds)
    }

    /// Returns `true` if a box may overlap a block that the other tree does not share.
    fn has_other_blocks(&self, other: &Self, bounds: &Overlapping) -> bool {
        let mut differs = false;
        self.boxes.visit(bounds, 0.0, |index| {
            if let Some(child) = self.children.get(index as usize) {
                let same = other.child(child.code).map(|other| &other.node);
                differs = child.node.differs(same, bounds);
            }
            if differs { -1.0 } else { 0.0 }
        });
        differs
    }

    /// Returns the index in another tree of a facet that both have.
    pub fn renumbered(&self, other: &Self, index: u32) -> Option<u32> {
        let child = self.child_with(index)?;
        let other = other.child(child.code)?;
        let index = child.node.renumbered(&other.node, index - child.start)?;
        Some(other.start + index)
    }

    /// Returns all blocks.
    pub fn blocks(&self) -> Vec<&FaceBlock<V>> {
        let blocks = self.children.iter().flat_map(|child| match &child.node {
            FaceNode::Block(block) => vec![&**block],
            FaceNode::Group(group) => group.blocks(),
        });
        blocks.collect()
    }
}

/// Returns the low bits of a code, as a set with one element.
fn low_bits(code: u64) -> u64 {
    1 << (code % 64)
}

/// Returns the Morton code of a block, given by its first position, which must be in range.
pub fn code_of_block(dimension: usize, position: CellPosition) -> u64 {
    let gaps = dimension - 1;
    let axes = position.into_iter().enumerate().take(dimension);
    axes.fold(0, |code, (axis, at)| {
        let mut bits = ((at >> block_bits(dimension)) + MORTON_ZERO) as u64;
        // Each step halves the groups of neighboring bits, and moves the upper halves away. The
        // raised coordinate has at most 14 bits, and the masks have room for 16.
        for (len, in_2d, in_3d) in [
            (8, 0x00ff_00ff, 0xff00_00ff),
            (4, 0x0f0f_0f0f, 0x00f0_0f00_f00f),
            (2, 0x3333_3333, 0x0c30_c30c_30c3),
            (1, 0x5555_5555, 0x2492_4924_9249),
        ] {
            let mask = if dimension == 2 { in_2d } else { in_3d };
            bits = (bits | bits << (len * gaps)) & mask;
        }
        code | bits << axis
    })
}

#[cfg(test)]
mod tests {
    use super::{MORTON_ZERO, block_bits, code_of_block};

    #[test]
    fn the_code_of_a_block_interleaves_the_bits_of_its_coordinates() {
        for dimension in [2, 3] {
            for step in 0..5_000 {
                // Multiples of numbers without a common factor with 2^15 reach all bits.
                let axes = [7919, 104_729, 15_485_863].map(|it: i32| it.wrapping_mul(step));
                let position = axes.map(|at| at.rem_euclid(1 << 15) - (1 << 14));
                let raised = position.map(|at| (at >> block_bits(dimension)) + MORTON_ZERO);
                let bits = (0..16).flat_map(|bit| {
                    let axes = (0..).zip(raised).take(dimension);
                    axes.map(move |(axis, at)| {
                        (at as u64 >> bit & 1) << (bit * dimension as u64 + axis)
                    })
                });
                let code = code_of_block(dimension, position);
                assert_eq!(code, bits.sum::<u64>(), "{dimension}D, {position:?}");
            }
        }
    }
}
