"""WORK: how does one process crawl for all tasks there are?"""
