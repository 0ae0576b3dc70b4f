# SPDX-License-Identifier: Apache-2.0
"""Sphinx: the pages of docs/ and the API from doxygen's XML. build.py copies both next to a copy of this file."""

project = "GGAS"
extensions = ["breathe", "myst_parser"]
breathe_projects = {"ggas": "xml"}
breathe_default_project = "ggas"
html_theme = "alabaster"
html_theme_options = {"page_width": "1200px", "sidebar_width": "260px"}
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
# Pages link to sources, which the site does not have; system.docs tests all links.
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]
exclude_patterns = ["xml"]
