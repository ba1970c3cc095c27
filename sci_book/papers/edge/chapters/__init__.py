"""What the pages and claims of the Edge Reliability Gap share: its models, and what is measured."""
