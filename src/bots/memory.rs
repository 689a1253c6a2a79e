//! Memory whose size a caller chooses: what runs out is an error, not the end of the process.

use std::collections::TryReserveError;

/// More than one game with all its bots allocates, a policy's network included.
const HEADROOM: usize = 1 << 22;

/// A vector with room for so many elements.
pub fn with_room<T>(length: usize) -> Result<Vec<T>, TryReserveError> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(length)?;
    Ok(elements)
}

/// Checks that there is memory for one more game. Bots allocate in many places, which cannot report
/// that memory has run out, so whoever makes many games asks before each.
pub fn check_headroom() -> Result<(), TryReserveError> {
    // Without `black_box` the compiler removes an allocation that nobody uses.
    std::hint::black_box(with_room::<u8>(HEADROOM)?);
    Ok(())
}
