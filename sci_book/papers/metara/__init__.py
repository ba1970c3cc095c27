"""MetaRA (Xu et al., 2026): does an answer survive changes that leave the truth alone?"""
