//! The stored settings of a batch.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::RecordError;
use crate::batch::Batch;
use crate::batch::options::{AutoresetMode, Dtype, ExtraOutput, IllegalAction, Observers, Options};
use crate::batch::partners::{Partner, Partners, PartnersError};
use crate::bots::BotNameError;
use crate::encode;
use crate::rules::{Parameters, Variant};
use crate::search::PlayerNameError;

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
    /// The partners by seat.
    pub partners: Vec<(usize, Vec<String>)>,
    /// The weights of the partners by seat, where they are not equally likely.
    pub weights: Vec<(usize, Vec<f64>)>,
    /// The name of each partner that is a policy, and the CRC-32 of its file.
    pub checksums: Vec<(String, u32)>,
}

impl Settings {
    pub fn of(batch: &Batch) -> Settings {
        let options = &batch.config.options;
        Settings {
            parameters: batch.config.variant.parameters().clone(),
            encoder: options.encoder.name().to_owned(),
            dtype: options.dtype,
            observers: options.observers,
            autoreset_mode: options.autoreset_mode,
            illegal_action: options.illegal_action,
            extra_outputs: options.extra_outputs.clone(),
            seed: batch.seed,
            fresh: batch.fresh,
            partners: options.partners.names().collect(),
            weights: options
                .partners
                .weights()
                .map(|(seat, weights)| (seat, weights.to_vec()))
                .collect(),
            checksums: options.partners.checksums(),
        }
    }

    /// The variant, of which all parameters are stored.
    pub fn variant(&self) -> Result<Arc<Variant>, RecordError> {
        let variant = Variant::new(self.parameters.clone())?;
        if *variant.parameters() != self.parameters {
            return Err(RecordError::field("parameters", "a default is not filled in"));
        }
        Ok(Arc::new(variant))
    }

    pub fn options(&self, num_threads: usize) -> Result<Options, RecordError> {
        Ok(Options {
            partners: self.read_partners()?,
            encoder: encode::encoder(&self.encoder)?,
            dtype: self.dtype,
            observers: self.observers,
            autoreset_mode: self.autoreset_mode,
            illegal_action: self.illegal_action,
            extra_outputs: self.read_extra_outputs()?,
            num_threads,
            simd: None,
        })
    }

    /// The extra outputs. They are stored in the order of [`ExtraOutput`]; another order is refused.
    fn read_extra_outputs(&self) -> Result<Vec<ExtraOutput>, RecordError> {
        if !self.extra_outputs.is_sorted_by(|&one, &next| (one as u8) < next as u8) {
            return Err(RecordError::field("extra_outputs", "not in their order"));
        }
        Ok(self.extra_outputs.clone())
    }

    /// The partners, checked to be the ones who played.
    fn read_partners(&self) -> Result<Partners, RecordError> {
        let mut partners = Partners::default();
        for (seat, names) in &self.partners {
            let bots = names.iter().map(|name| match name.parse() {
                Ok(bot) => Ok(Partner::Bot(bot)),
                Err(PlayerNameError::Bot(BotNameError::Policy(error))) => {
                    Err(RecordError::Policy(error))
                }
                Err(error) => Err(PartnersError::Bot(error).into()),
            });
            let bots: Vec<Partner> = bots.collect::<Result<_, RecordError>>()?;
            let given = self.weights.iter().find(|(weighted, _)| weighted == seat);
            let weights =
                given.map_or_else(|| vec![1.0; bots.len()], |(_, weights)| weights.clone());
            if weights.len() != bots.len() {
                return Err(RecordError::field("weights", "not one for each partner of the seat"));
            }
            partners = partners.with_weights(*seat, bots, weights)?;
        }
        let weights = self.weights.iter().map(|(seat, weights)| (*seat, &weights[..]));
        if !partners.weights().eq(weights) {
            return Err(RecordError::field("weights", "of equally likely partners, or of no seat"));
        }
        if !partners.names().eq(self.partners.iter().cloned()) {
            let problem = "not by ascending seat, or not the full names of the bots";
            return Err(RecordError::field("partners", problem));
        }
        let found = partners.checksums();
        let names = |checksums: &[(String, u32)]| -> Vec<String> {
            checksums.iter().map(|(name, _)| name.clone()).collect()
        };
        if names(&found) != names(&self.checksums) {
            return Err(RecordError::field("checksums", "not one for each policy"));
        }
        for ((name, found), &(_, expected)) in found.into_iter().zip(&self.checksums) {
            if found != expected {
                return Err(RecordError::PolicyChanged { name, expected, found });
            }
        }
        Ok(partners)
    }
}
