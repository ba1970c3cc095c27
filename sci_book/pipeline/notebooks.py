"""Execute a notebook's percent source into a committed `.ipynb`, the same bytes every time.

Jupytext reads the source, papermill runs it, and what a run leaves behind that is not a result
(ids, times, tool metadata) is dropped.
"""

import ast
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import papermill
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from papermill.exceptions import strip_color
from traitlets.config import Config

from sci_book.files import read_yaml, write_whole

# Cells so tagged hold what differs between honest runs (date, device, duration): nbval does not
# compare them, and neither does `execute` when it decides whether a file changed.
VOLATILE_TAG = "nbval-ignore-output"
PARAMETERS_TAG = "parameters"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT = ("lines_to_next_cell", "tags")
LONGEST_REASON = 300  # characters


class QuietKernel(AsyncKernelManager):
    """A kernel whose process says nothing on the terminal; what cells print is on their page.

    Else each would warn that it listens on the loopback, and tell of the interrupt that ends it.
    """

    async def start_kernel(self, **settings: Any) -> None:
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        await self._async_start_kernel(**silent, **settings)


class NotebookError(ValueError):
    """A notebook cannot be run as asked; the message says what came and what was expected."""


class ChapterError(NotebookError):
    """A cell raised. `page` is the notebook so far, with a sentence in place of what failed."""

    def __init__(self, stem: str, reason: str, page: NotebookNode):
        super().__init__(f"{stem}: {reason}")
        self.reason, self.page = reason, page


def read_source(source: Path) -> NotebookNode:
    """The unexecuted notebook that a percent source describes, ids and metadata settled."""
    if not source.is_file():
        raise NotebookError(
            f"{source} is not a file; a notebook is named by its percent source, such as "
            "notebooks/00_quickstart.py"
        )
    notebook = jupytext.reads(source.read_text(encoding="utf-8"), fmt="py:percent")
    return normalise(notebook, source.stem)


def parameter_names(notebook: NotebookNode) -> list[str]:
    """Names assigned in the cell tagged `parameters`, in order; none if there is no such cell.

    Read from the syntax tree, because papermill's own inspection works line by line and loses a
    name whose comment holds an equals sign.
    """
    names = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and PARAMETERS_TAG in cell.metadata.get("tags", []):
            for node in ast.parse(cell.source).body:
                targets = node.targets if isinstance(node, ast.Assign) else [node]
                targets = [getattr(target, "target", target) for target in targets]
                names += [target.id for target in targets if isinstance(target, ast.Name)]
    return names


def load_parameters(path: Path) -> dict:
    """Parameters from a YAML file, a mapping of names to values."""
    values = read_yaml(path)
    if not isinstance(values, dict):
        raise NotebookError(
            f"{path} holds a {type(values).__name__}; expected a mapping, one `name: value` a line"
        )
    return values


def normalise(notebook: NotebookNode, stem: str) -> NotebookNode:
    """The same notebook without anything that differs from run to run but the results.

    Cell ids become a hash of `stem:index`, and the notebook's metadata names the kernel and the
    language, not their versions. Cell metadata keeps tags, and blank lines of the source where
    jupytext would set others, so that `jupytext --sync` changes neither file.
    """
    cells = []
    for index, cell in enumerate(notebook.cells):
        normalised = NotebookNode(
            id=hashlib.sha256(f"{stem}:{index}".encode()).hexdigest()[:8],
            cell_type=cell.cell_type,
            metadata=NotebookNode(
                {key: cell.metadata[key] for key in KEPT if cell.metadata.get(key)}
            ),
            source=cell.source,
        )
        if cell.cell_type == "code":
            normalised.execution_count = cell.execution_count
            normalised.outputs = cell.outputs
        cells.append(normalised)
    metadata = nbformat.from_dict(METADATA)
    return NotebookNode(nbformat=4, nbformat_minor=5, metadata=metadata, cells=cells)


def execute(
    source: Path, target: Path, *, cwd: Path, parameters: Mapping[str, object] | None = None
) -> bool:
    """Run the percent source `source` in `cwd` and leave the executed notebook at `target`.

    The file appears whole or not at all. A run that gives the same results as the file already
    there (cells tagged `nbval-ignore-output` aside) leaves it untouched, to the byte.

    Args:
        target: the `.ipynb` to write; its folder is made if need be.
        parameters: values that take the place of those in the cell tagged `parameters`.

    Returns:
        whether `target` was written.

    Raises:
        NotebookError: no such source, or a parameter the notebook does not declare.
        ChapterError: a cell raised, or the kernel died; `target` is untouched.
    """
    parameters = dict(parameters or {})
    notebook = read_source(source)
    known = parameter_names(notebook)
    unknown = [name for name in parameters if name not in known]
    if unknown:  # papermill would only warn and go on
        raise NotebookError(
            f"{source.name} has no parameter {', '.join(map(repr, unknown))}; "
            f"it has {', '.join(known) or 'none'}"
        )
    with tempfile.TemporaryDirectory() as scratch:
        unexecuted = Path(scratch, f"{source.stem}.ipynb")
        executed = Path(scratch, f"{source.stem}.executed.ipynb")
        nbformat.write(notebook, unexecuted)
        try:
            papermill.execute_notebook(
                str(unexecuted),
                str(executed),
                parameters=parameters,
                cwd=str(cwd),
                kernel_name="python3",
                progress_bar=False,
                config=_sockets(scratch),
                kernel_manager_class=QuietKernel,
            )
        except (papermill.PapermillExecutionError, DeadKernelError) as error:
            reached = executed if executed.is_file() else unexecuted
            stopped = nbformat.read(reached, as_version=4)
            raise _chapter_error(stopped, source.stem, error) from error
        result = normalise(nbformat.read(executed, as_version=4), source.stem)
    nbformat.validate(result)
    if target.is_file() and same_results(result, nbformat.read(target, as_version=4)):
        return False
    write_notebook(result, target)
    return True


def _sockets(folder: str) -> Config:
    """Where a kernel is reached: by files in a folder of its own, where the system has such.

    Of chapters executed at once two may be given one free port, and the second kernel dies.
    """
    if os.name == "nt":
        return Config()
    return Config({"ConnectionFileMixin": {"transport": "ipc", "ip": f"{folder}/kernel"}})


def write_notebook(notebook: NotebookNode, target: Path) -> None:
    """Write a notebook; the file appears whole or not at all."""
    write_whole(target, f"{nbformat.writes(notebook)}\n".encode())


def _chapter_error(
    stopped: NotebookNode, stem: str, error: papermill.PapermillExecutionError | DeadKernelError
) -> ChapterError:
    """The error of a chapter that stopped, and its page: what failed replaced by a sentence."""
    if isinstance(error, DeadKernelError):
        reason = "its process ended, perhaps for want of memory"
    else:
        said = " ".join(strip_color(str(error.evalue)).split())
        reason = f"{error.ename}: {said}" if said else error.ename
        if len(reason) > LONGEST_REASON:
            reason = reason[:LONGEST_REASON] + " …"
    stopped = papermill.execute.remove_error_markers(stopped)
    failed = _failed_cell(stopped)
    quoted = reason.replace("`", "'")
    said = (
        f"**Not computed.** This page stopped here (`{quoted}`); what follows on it was not "
        "computed either."
    )
    failed.outputs = [nbformat.v4.new_output("display_data", {"text/markdown": said})]
    return ChapterError(stem, reason, normalise(stopped, stem))


def _failed_cell(stopped: NotebookNode) -> NotebookNode:
    """The cell whose output is an error; else, of a kernel that died, the last that began."""
    code = [cell for cell in stopped.cells if cell.cell_type == "code" and cell.source.strip()]
    raised = [cell for cell in code if any(out.output_type == "error" for out in cell.outputs)]
    begun = [cell for cell in code if cell.metadata.get("papermill", {}).get("start_time")]
    return (raised or begun[::-1] or code)[0]


def same_results(first: NotebookNode, other: NotebookNode) -> bool:
    """Whether two notebooks differ in nothing but the outputs of their volatile cells."""

    def settled(cell: NotebookNode) -> dict[str, Any]:
        volatile = VOLATILE_TAG in cell.metadata.get("tags", [])
        return {key: cell[key] for key in cell if not (volatile and key == "outputs")}

    return list(map(settled, first.cells)) == list(map(settled, other.cells))
