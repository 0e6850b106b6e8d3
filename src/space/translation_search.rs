//! A best-first search for the shortest translation out of all obstacles.
//!
//! A node holds chosen planes, and the shortest translation that clears them. Each step takes the
//! node with the shortest translation. If this translation leads out of all obstacles, it is the
//! result. Otherwise one of the obstacles can be left across any of several planes, and each of
//! these planes opens another node. More planes never make a translation shorter. So the first
//! translation that leads out of all obstacles is the shortest.
//!
//! A node keeps only the planes that bound its translation. With the next plane, the translation
//! may no longer clear a plane that was dropped. Then either the translation leads out of that
//! plane's obstacle anyway, or the search meets the obstacle again.

use core::cmp::Ordering;

use smallvec::SmallVec;

use crate::space::{
    DVector,
    shortest_translation::{BoundingPlanes, PushPlane, translation_out_of_all},
};

/// Chosen planes, each with a label, and the shortest translation that clears them.
#[derive(Default)]
pub struct Node<D, T> {
    /// The labels of the planes.
    pub labels: SmallVec<[T; 4]>,
    bounding: BoundingPlanes<D>,
    pub translation: D,
    pub length: f64,
    /// The number of nodes opened before this node.
    number: usize,
}

impl<D: DVector, T: Copy + Default> Node<D, T> {
    /// Returns the node with one more plane, or `None` if no translation of at most `max_length`
    /// clears all planes.
    pub fn with(&self, plane: PushPlane<D>, label: T, max_length: f64) -> Option<Self> {
        let planes = self.bounding.iter().copied().chain([plane]);
        let shortest = translation_out_of_all(planes, max_length)?;
        let labels = self.labels.iter().copied().chain([label]);
        Some(Self {
            labels: labels.collect(),
            bounding: shortest.bounding,
            translation: shortest.translation,
            length: shortest.translation.length(),
            number: 0,
        })
    }

    /// Compares nodes by their lengths, then by their numbers.
    fn order(&self, other: &Self) -> Ordering {
        let lengths = self.length.total_cmp(&other.length);
        lengths.then(self.number.cmp(&other.number))
    }
}

/// The open nodes of a search, and its limits.
#[derive(Default)]
pub struct TranslationSearch<D, T> {
    open: Vec<Node<D, T>>,
    /// The number of nodes opened so far.
    count: usize,
    /// The number of nodes that may still be taken.
    tries: usize,
    max_length: f64,
    same: f64,
}

impl<D: DVector, T: Copy + Default> TranslationSearch<D, T> {
    /// Begins a search that takes at most `max_tries` nodes, with translations of at most
    /// `max_length`. If the translations of open nodes differ by less than the fraction `same` of
    /// their length, only the first of these nodes is kept. If `same` is 0, all nodes are kept.
    pub fn begin(&mut self, max_tries: usize, max_length: f64, same: f64) {
        self.open.clear();
        self.open.push(Node::default());
        (self.count, self.tries) = (1, max_tries);
        (self.max_length, self.same) = (max_length, same);
    }

    /// Removes the open node with the shortest translation, and returns it.
    pub fn take_shortest(&mut self) -> Option<Node<D, T>> {
        // At most `tries` more nodes will be taken, so all longer ones are dropped.
        if self.tries < self.open.len() {
            self.open.select_nth_unstable_by(self.tries, Node::order);
            self.open.truncate(self.tries);
        }
        let numbered = self.open.iter().enumerate();
        let (index, _) = numbered.min_by(|(_, a), (_, b)| a.order(b))?;
        self.tries -= 1;
        Some(self.open.swap_remove(index))
    }

    /// Opens the node with one more plane than `node`, unless no translation clears all its planes
    /// or an open node has the same translation.
    pub fn open(&mut self, node: &Node<D, T>, plane: PushPlane<D>, label: T) {
        let Some(next) = node.with(plane, label, self.max_length) else {
            return;
        };
        let is_same = |other: &Node<D, T>| {
            (other.translation - next.translation).length() < self.same * next.length
        };
        if !self.open.iter().any(is_same) {
            let number = self.count;
            self.count += 1;
            self.open.push(Node { number, ..next });
        }
    }
}
