"""What the papers share: tables, figures, intervals, provenance; it knows none of them."""

import warnings

from tqdm import TqdmWarning

# Without ipywidgets, progress is shown as text; a chapter need not print that.
warnings.filterwarnings("ignore", category=TqdmWarning)
