//! The stored settings of a batch.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::batch::error::{DAMAGED, NotStoredError};
use crate::batch::options::{AutoresetMode, Dtype, ExtraOutput, IllegalAction, Observers, Options};
use crate::batch::tables::partners::{Partners, StoredPartners};
use crate::batch::{Batch, BatchError};
use crate::players::PlayerSpecError;
use crate::rules::{Parameters, Variant};

/// What is stored before the games.
#[derive(Serialize, Deserialize)]
pub struct Settings {
    pub parameters: Parameters,
    pub encoder: String,
    pub dtype: Dtype,
    pub observers: Observers,
    pub autoreset_mode: AutoresetMode,
    pub illegal_action: IllegalAction,
    pub extra_outputs: Vec<ExtraOutput>,
    pub seed: u64,
    pub fresh: bool,
    /// The partners by seat, with the weights of their networks.
    pub partners: StoredPartners,
}

impl Settings {
    /// # Errors
    /// [`BatchError::NotStored`] if there are external partners.
    pub fn of(batch: &Batch) -> Result<Settings, BatchError> {
        let options = &batch.config.options;
        Ok(Settings {
            parameters: batch.config.variant.parameters().clone(),
            encoder: options.encoder.name().to_owned(),
            dtype: options.dtype,
            observers: options.observers,
            autoreset_mode: options.autoreset_mode,
            illegal_action: options.illegal_action,
            extra_outputs: options.extra_outputs.clone(),
            seed: batch.seed,
            fresh: batch.fresh,
            partners: options.partners.stored().ok_or(NotStoredError::ExternalPartners)?,
        })
    }

    pub fn variant(&self) -> Result<Arc<Variant>, BatchError> {
        let variant = Variant::new(self.parameters.clone());
        Ok(Arc::new(variant.map_err(|error| BatchError::stored(DAMAGED, error))?))
    }

    pub fn options(&self, num_threads: usize) -> Result<Options, BatchError> {
        Ok(Options {
            partners: self.read_partners()?,
            encoder: self.encoder.parse().map_err(|error| BatchError::stored(DAMAGED, error))?,
            dtype: self.dtype,
            observers: self.observers,
            autoreset_mode: self.autoreset_mode,
            illegal_action: self.illegal_action,
            extra_outputs: self.extra_outputs.clone(),
            num_threads,
            simd: None,
        })
    }

    fn read_partners(&self) -> Result<Partners, BatchError> {
        self.partners.load().map_err(|error| match error {
            BatchError::Partner(PlayerSpecError::Policy(error)) => {
                BatchError::stored("the stored batch cannot be resumed", error)
            }
            error => BatchError::stored(DAMAGED, error),
        })
    }
}
