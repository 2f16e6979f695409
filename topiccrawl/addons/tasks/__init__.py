"""TASKS: what is to be crawled for whom, who does it at the moment, and how may it be steered?"""
