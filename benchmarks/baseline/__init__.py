"""RESULTS AND SURFACE OF THE PROJECT, beside the file that keeps them: no silent change."""
