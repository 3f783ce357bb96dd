"""Files and simulations in, a checked VerificationSet out."""
