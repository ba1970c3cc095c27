"""What the instruments of several papers share; no paper imports another's."""
