"""Charge credits, add up what was used, and check that the books agree."""
