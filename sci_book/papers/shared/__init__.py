"""What turns results into pages: tables, figures, provenance, and executed notebooks."""

import warnings

from tqdm import TqdmWarning

# Without ipywidgets, progress is shown as text; a chapter need not print that.
warnings.filterwarnings("ignore", category=TqdmWarning)
