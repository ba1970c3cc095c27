"""The commands of `sci`, by what they are about; `sci_book/cli.py` lists them."""
