"""Keep the engine's domain data current: data from packages, and domains that staff add."""
