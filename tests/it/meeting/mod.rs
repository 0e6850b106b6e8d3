//! The rules that decide who meets whom.

mod filters;
mod layers;
mod owners;
mod random;
