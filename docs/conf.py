"""Configuration of the documentation site, which `make docs` builds with warnings as errors."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "Starmine"
project_copyright = "2026, the Starmine authors"
release = re.findall(r'^version = "(.+)"', (HERE.parent / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[0]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docstrings"]
exclude_patterns = ["_build"]
# Docstrings write code in single backticks, as Markdown does; a span that goes on in the next line is not rewritten.
default_role = "literal"

# Headings down to the third level are targets of links; a link to a missing one is a warning.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# Dashes are typeset; quotes stay as they are, since most of them are Python's.
smartquotes_action = "D"
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

autodoc_default_options = {"members": True, "member-order": "bysource"}
napoleon_numpy_docstring = False

html_theme = "pydata_sphinx_theme"
html_title = "Starmine"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
