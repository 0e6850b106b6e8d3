//! The rules that decide who meets whom.

mod layers;
mod owners;
mod random;
