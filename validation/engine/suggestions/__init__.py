"""Suggest the address that was meant: `did_you_mean`.

`suggest` corrects the domain. `repair` corrects invalid syntax, with the help of `bare_names`.
"""
