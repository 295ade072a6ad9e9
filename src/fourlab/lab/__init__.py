"""The workbench: measuring, and later run folders, figures and reports."""
