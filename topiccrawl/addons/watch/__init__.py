"""WHEN IS A PAGE LOOKED AT AGAIN: what is known of its visits, and the policies that judge it."""
