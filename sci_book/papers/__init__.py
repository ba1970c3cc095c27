"""The papers that this book reproduces, each apart from the others; `shared` is below them."""
