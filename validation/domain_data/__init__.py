"""What the engine knows of domains: releases, and how staff correct them."""
