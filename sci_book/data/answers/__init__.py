"""From the text a model wrote to the answer it gave: rules, and the corpus that tests them."""
