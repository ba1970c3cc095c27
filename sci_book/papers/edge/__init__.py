"""The Edge Reliability Gap (Erol, 2026): how a compact model fails, not only how often."""
