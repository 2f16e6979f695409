"""DOCTOR: is all there that a crawl needs?"""
