"""Buy a pack with the saved card when the balance falls below a threshold."""
