"""How Sphinx makes the site from docs/ (scripts/site)."""
import os

project = 'Wireup'
html_title = 'Wireup'
extensions = ['myst_parser']
source_suffix = {'.md': 'markdown'}
root_doc = 'site/index'
exclude_patterns = ['man']
myst_heading_anchors = 4
# furo has a light and a dark form, and brings all that its pages need.
html_theme = 'furo'
html_static_path = [os.environ['SITE_PICTURES']]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_css_files = ['site.css']
html_js_files = ['site.js']
html_last_updated_fmt = None
# Sources that are linked are in the tree, not on the site; tests/check-names checks those.
suppress_warnings = ['misc.highlighting_failure', 'myst.header', 'toc.circular']
