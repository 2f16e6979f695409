"""WHICH RECORDS DOES A PAGE HOLD? Template files, values, where they stand, whose they are [S1]."""
