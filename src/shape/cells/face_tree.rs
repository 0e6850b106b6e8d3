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

use core::ops::ControlFlow;
use std::sync::Arc;

use crate::{
    shape::{
        Box3, BoxPath,
        boxes::{bounds::Bounds, wide_tree::WideTree},
        cells::{
            exposed_faces::{BlockFacet, FaceBlock, block_bits},
            grid::CellPosition,
        },
    },
    space::{DVector, Space},
};

/// The number of bits of a Morton code inside a region, without the bits of chunks and blocks.
const REGION_BITS: u32 = 6;

/// Before they become Morton codes, coordinates of blocks are raised by this number.
const MORTON_ZERO: i32 = 1 << 13;

/// A change of a block: its Morton code, and its new faces.
pub type BlockChange<V> = (u64, Option<Arc<FaceBlock<V>>>);

type Chunk<V> = FaceGroup<FaceBlock<V>>;
type Region<V> = FaceGroup<Chunk<V>>;

/// All faces of a union of cells.
pub struct FaceTree<V: Space> {
    root: Arc<FaceGroup<Region<V>>>,
}

/// A node with several children.
pub struct FaceGroup<C> {
    /// The children, in ascending order of their codes.
    children: Vec<Child<C>>,
    /// The tree of the children's boxes.
    tree: WideTree,
    /// The number of facets.
    len: u32,
    has_ledges: bool,
    /// For each multiple of 2^`shift`, the child that has the facet with this index.
    hints: Vec<u32>,
    shift: u32,
}

struct Child<C> {
    code: u64,
    /// The number of facets in all children before.
    start: u32,
    node: Arc<C>,
}

impl<C> Clone for Child<C> {
    fn clone(&self) -> Self {
        Self {
            node: self.node.clone(),
            ..*self
        }
    }
}

/// A search in a tree of boxes.
pub enum TreeSearch<'q, D: DVector> {
    /// The boxes that overlap a box. A negative limit ends the search.
    Overlapping(&'q Box3),
    /// See [`WideTree::visit_nearest`].
    Nearest(&'q Box3),
    /// See [`WideTree::visit_along`].
    Along(&'q BoxPath),
    /// See [`WideTree::visit_groups_along`].
    GroupsAlong(&'q BoxPath, &'q dyn Fn(u32) -> bool),
    /// See [`WideTree::visit_by_gap`].
    ByGap(&'q dyn Fn(&Bounds<D>) -> f64),
}

impl<D: DVector> TreeSearch<'_, D> {
    fn run(&self, tree: &WideTree, limit: f64, visit: &mut dyn FnMut(u32) -> f64) {
        match self {
            Self::Overlapping(bounds) => {
                tree.visit_overlapping(bounds, |index| {
                    if visit(index) < 0.0 {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                });
            }
            Self::Nearest(bounds) => {
                tree.visit_nearest(bounds, limit, visit);
            }
            Self::Along(path) => {
                tree.visit_along(path, limit, visit);
            }
            Self::GroupsAlong(path, is_skipped) => {
                tree.visit_groups_along(path, limit, is_skipped, visit);
            }
            Self::ByGap(gap) => tree.visit_by_gap(limit, gap, visit),
        }
    }
}

/// A node of the tree.
pub trait FaceNode<V: Space>: Sized {
    /// The number of bits of a block's Morton code that differ inside the node.
    const BITS: u32;

    /// Returns the node after changes of its blocks, which must be sorted by code. Returns `None`
    /// if no facets are left.
    fn changed(node: Option<&Arc<Self>>, changes: &[BlockChange<V>]) -> Option<Arc<Self>>;

    fn len(&self) -> u32;

    fn tree(&self) -> &WideTree;

    /// Returns `true` if any facet belongs to a one-way cell.
    fn has_ledges(&self) -> bool;

    /// Returns the facet with an index in this node.
    fn facet(&self, index: u32) -> Option<FaceIndex<'_, V>>;

    /// Runs a search. `visit` is called with indices that count from `start`.
    fn search(
        &self,
        search: &TreeSearch<V::DVec>,
        limit: f64,
        start: u32,
        visit: &mut dyn FnMut(u32) -> f64,
    );

    /// Returns `true` if a box may overlap a node that the other tree does not share.
    fn differs(&self, other: &Self, bounds: &Box3) -> bool;

    /// Returns the index in another node of a facet that both have.
    fn renumbered(&self, other: &Self, index: u32) -> Option<u32>;

    /// Calls `visit` with all blocks.
    fn visit_blocks<'f>(&'f self, visit: &mut dyn FnMut(&'f FaceBlock<V>))
    where
        V: 'f;
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

impl<V: Space> FaceNode<V> for FaceBlock<V> {
    const BITS: u32 = 0;

    fn changed(_: Option<&Arc<Self>>, changes: &[BlockChange<V>]) -> Option<Arc<Self>> {
        changes.last().and_then(|(_, block)| block.clone())
    }

    fn len(&self) -> u32 {
        self.facets().len() as u32
    }

    fn tree(&self) -> &WideTree {
        FaceBlock::tree(self)
    }

    fn has_ledges(&self) -> bool {
        FaceBlock::has_ledges(self)
    }

    fn facet(&self, index: u32) -> Option<FaceIndex<'_, V>> {
        Some(FaceIndex { block: self, index })
    }

    #[inline]
    fn search(
        &self,
        search: &TreeSearch<V::DVec>,
        limit: f64,
        start: u32,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        search.run(self.tree(), limit, &mut |index| visit(start + index));
    }

    fn differs(&self, _: &Self, bounds: &Box3) -> bool {
        overlaps(&self.tree().bounding_box(), bounds)
    }

    fn renumbered(&self, other: &Self, index: u32) -> Option<u32> {
        let facet = self.facets().get(index as usize)?;
        let mut others = other.facets().iter();
        let same = others.position(|other| other.corners() == facet.corners())?;
        u32::try_from(same).ok()
    }

    fn visit_blocks<'f>(&'f self, visit: &mut dyn FnMut(&'f FaceBlock<V>))
    where
        V: 'f,
    {
        visit(self);
    }
}

impl<V: Space, C: FaceNode<V>> FaceNode<V> for FaceGroup<C> {
    const BITS: u32 = C::BITS
        + if C::BITS == 0 {
            2 * V::DVec::DIMENSION as u32
        } else {
            REGION_BITS
        };

    fn changed(node: Option<&Arc<Self>>, changes: &[BlockChange<V>]) -> Option<Arc<Self>> {
        let mut children = node.map_or_else(Vec::new, |node| node.children.clone());
        let code_of = |change: &BlockChange<V>| change.0 >> C::BITS;
        for changes in changes.chunk_by(|a, b| code_of(a) == code_of(b)) {
            let Some(code) = changes.first().map(code_of) else {
                continue;
            };
            let found = children.binary_search_by_key(&code, |child| child.code);
            let old = found.ok().and_then(|index| children.get(index));
            let new = C::changed(old.map(|child| &child.node), changes);
            let start = 0;
            let new = new.map(|node| Child { code, start, node });
            match (found, new) {
                (Ok(index), Some(new)) => {
                    if let Some(child) = children.get_mut(index) {
                        *child = new;
                    }
                }
                (Ok(index), None) => {
                    children.remove(index);
                }
                (Err(index), Some(new)) => children.insert(index, new),
                (Err(_), None) => {}
            }
        }
        (!children.is_empty()).then(|| Arc::new(Self::new(children)))
    }

    fn len(&self) -> u32 {
        self.len
    }

    fn tree(&self) -> &WideTree {
        &self.tree
    }

    fn has_ledges(&self) -> bool {
        self.has_ledges
    }

    #[inline]
    fn facet(&self, index: u32) -> Option<FaceIndex<'_, V>> {
        let child = self.child_with(index)?;
        child.node.facet(index - child.start)
    }

    fn search(
        &self,
        search: &TreeSearch<V::DVec>,
        limit: f64,
        start: u32,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        let mut limit = limit;
        search.run(&self.tree, limit, &mut |index| {
            if let Some(child) = self.children.get(index as usize) {
                let before = limit;
                let mut visit = |facet| {
                    limit = visit(facet);
                    limit
                };
                child
                    .node
                    .search(search, before, start + child.start, &mut visit);
            }
            limit
        });
    }

    fn differs(&self, other: &Self, bounds: &Box3) -> bool {
        if !overlaps(&self.tree.bounding_box(), bounds) {
            return false;
        }
        let mut others = other.children.iter().peekable();
        self.children.iter().any(|child| {
            while others.next_if(|other| other.code < child.code).is_some() {}
            let same = others.peek().filter(|other| other.code == child.code);
            match same {
                Some(other) if Arc::ptr_eq(&child.node, &other.node) => false,
                Some(other) => child.node.differs(&other.node, bounds),
                None => overlaps(&child.node.tree().bounding_box(), bounds),
            }
        })
    }

    fn renumbered(&self, other: &Self, index: u32) -> Option<u32> {
        let child = self.child_with(index)?;
        let others = &other.children;
        let found = others.binary_search_by_key(&child.code, |other| other.code);
        let other = others.get(found.ok()?)?;
        let index = index - child.start;
        let index = if Arc::ptr_eq(&child.node, &other.node) {
            index
        } else {
            child.node.renumbered(&other.node, index)?
        };
        Some(other.start + index)
    }

    fn visit_blocks<'f>(&'f self, visit: &mut dyn FnMut(&'f FaceBlock<V>))
    where
        V: 'f,
    {
        for child in &self.children {
            child.node.visit_blocks(visit);
        }
    }
}

impl<C> FaceGroup<C> {
    /// Returns the child that has the facet with an index.
    #[inline]
    fn child_with(&self, index: u32) -> Option<&Child<C>> {
        let hint = self.hints.get((index >> self.shift) as usize)?;
        let children = self.children.get(*hint as usize..)?;
        let later = children.iter().skip(1);
        let skipped = later.take_while(|child| child.start <= index).count();
        children.get(skipped)
    }

    /// Creates a node from its children, whose codes must ascend.
    fn new<V: Space>(mut children: Vec<Child<C>>) -> Self
    where
        C: FaceNode<V>,
    {
        let mut len = 0;
        for child in &mut children {
            child.start = len;
            len += child.node.len();
        }
        let numbered = children.iter().zip(0_u32..);
        let boxes = numbered.map(|(child, index)| {
            let tree = child.node.tree();
            (child.code, index, tree.bounding_box(), tree.group())
        });
        let tree = WideTree::of_codes(boxes);
        // About one hint for each child.
        let shift = (len / children.len().max(1) as u32).max(1).ilog2();
        let mut hints = Vec::with_capacity((len >> shift) as usize + 1);
        for (index, child) in children.iter().enumerate() {
            let end = child.start + child.node.len();
            while (hints.len() as u32) << shift < end {
                hints.push(index as u32);
            }
        }
        Self {
            has_ledges: children.iter().any(|child| child.node.has_ledges()),
            children,
            tree,
            len,
            hints,
            shift,
        }
    }
}

impl<V: Space> FaceTree<V> {
    /// Builds the tree of blocks, which must be sorted by code. Returns `None` if there are none.
    pub fn new(blocks: &[BlockChange<V>]) -> Option<Self> {
        let root = FaceNode::changed(None, blocks)?;
        Some(Self { root })
    }

    /// Returns the tree after changes of blocks, which must be sorted by code. Returns `None` if no
    /// facets are left.
    pub fn changed(&self, changes: &[BlockChange<V>]) -> Option<Self> {
        let root = FaceNode::changed(Some(&self.root), changes)?;
        Some(Self { root })
    }

    /// Returns the number of facets.
    pub fn len(&self) -> u32 {
        self.root.len
    }

    /// Returns `true` if any facet belongs to a one-way cell.
    pub fn has_ledges(&self) -> bool {
        self.root.has_ledges
    }

    pub fn facet(&self, index: u32) -> Option<FaceIndex<'_, V>> {
        self.root.facet(index)
    }

    /// Returns the box around all facets.
    pub fn bounds(&self) -> Bounds<V::DVec> {
        self.root.tree.bounds()
    }

    /// Runs a search. `visit` returns the new limit.
    pub fn search(
        &self,
        search: &TreeSearch<V::DVec>,
        limit: f64,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        self.root.search(search, limit, 0, visit);
    }

    /// Returns `true` if a box may overlap faces that only one of two trees has.
    pub fn differs(&self, other: &Self, bounds: &Box3) -> bool {
        !Arc::ptr_eq(&self.root, &other.root)
            && (self.root.differs(&other.root, bounds) || other.root.differs(&self.root, bounds))
    }

    /// Returns the index in another tree of a facet that both have.
    pub fn renumbered(&self, other: &Self, index: u32) -> Option<u32> {
        self.root.renumbered(&other.root, index)
    }

    /// Returns all blocks.
    pub fn blocks(&self) -> Vec<&FaceBlock<V>> {
        let mut blocks = Vec::new();
        self.root.visit_blocks(&mut |block| blocks.push(block));
        blocks
    }
}

/// Returns the Morton code of a block, given by its first position, which must be in range.
pub fn code_of_block(dimension: usize, position: CellPosition) -> u64 {
    let mut code = 0;
    for (axis, at) in position.into_iter().enumerate().take(dimension) {
        let at = ((at >> block_bits(dimension)) + MORTON_ZERO) as u64;
        for bit in 0..u64::BITS / 4 {
            code |= (at >> bit & 1) << (bit as usize * dimension + axis);
        }
    }
    code
}

fn overlaps([min, max]: &Box3, [other_min, other_max]: &Box3) -> bool {
    let mut axes = min.iter().zip(max).zip(other_min.iter().zip(other_max));
    axes.all(|((min, max), (other_min, other_max))| min <= other_max && other_min <= max)
}
