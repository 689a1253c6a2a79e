//! How many forks lie between this process and the one that imported the module. A child has none of
//! its parent's other threads, so calls that these were making when it was forked never end there.

use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyDict;

static FORKS: AtomicU32 = AtomicU32::new(0);

/// The number of forks. It costs less than the process id, which is a system call.
pub fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Counts the forks from now on.
pub fn count_forks(py: Python<'_>) -> PyResult<()> {
    let os = py.import("os")?;
    if !os.hasattr("register_at_fork")? {
        return Ok(()); // a system without forks
    }
    let arguments = PyDict::new(py);
    arguments.set_item("after_in_child", wrap_pyfunction!(forked, py)?)?;
    os.call_method("register_at_fork", (), Some(&arguments))?;
    Ok(())
}

#[pyfunction]
fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
