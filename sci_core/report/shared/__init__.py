"""What the chapters of several papers share; no paper imports another's."""
