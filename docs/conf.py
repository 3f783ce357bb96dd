"""The documentation site: `make docs` builds it into build/site from the Markdown of this folder."""

from docutils import nodes
from sphinx.application import Sphinx

import fairfr

project = "fairfr"
version = release = fairfr.__version__
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc"]  # myst_nb brings MyST itself
exclude_patterns = ["*.py"]

myst_heading_anchors = 3  # links such as configuration.md#protocols, as on GitHub
nb_execution_mode = "off"  # the notebook is committed with its output; a test runs it again
numpydoc_show_class_members = False
autodoc_typehints = "none"  # the parameters' sections say the types

highlight_language = "text"  # what commands print is no Python

html_theme = "furo"
html_title = f"fairfr {release}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_copyright = False

# characters; "-.0199 [-.0250, -.0154]" has 23
SHORT, LONG = 28, 56


def mark_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Say which cells of tables are short and which are long, for tables.css."""
    for body in doctree.findall(nodes.tbody):
        for cell in body.findall(nodes.entry):
            length = len(cell.astext())
            if length <= SHORT:
                cell["classes"].append("short")
            elif length > LONG:
                cell["classes"].append("long")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("doctree-read", mark_cells)
