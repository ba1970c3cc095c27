"""Visual-RFT: reinforcement fine-tuning on ORIC-style questions (sections 5 and 6, Appendix C)."""
