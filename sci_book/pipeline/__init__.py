"""From models to a rendered book: data, records, notebooks, verdicts; each step done once."""
