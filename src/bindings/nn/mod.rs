//! Networks of policies: their evaluation, and the inputs and layers that PyTorch code uses.

pub mod color_features;
pub mod network;
pub mod pooling;
