"""ONNX networks of other people as agents: `onnx:file=net.onnx`.

Our own networks are compared with what we write before they are run (`nets/onnx_reader.py`). Others
may have any graph, so they run in a process with bounds on time and memory (`onnx_host.py`).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from fourlab.agent import Decision
from fourlab.bridges.hosted import Patience
from fourlab.bridges.networks import ForeignNetwork
from fourlab.bridges.onnx_host import PLANES
from fourlab.errors import UserError
from fourlab.game.outcome import RED
from fourlab.game.position import Position
from fourlab.options import option


@dataclass(frozen=True)
class Onnx(ForeignNetwork):
    """Plays by any ONNX network with a policy or a value (onnx:file=net.onnx)."""

    planes: tuple[str, ...] = option(
        (),
        f"The network's input planes in order, of {', '.join(PLANES)}; none: by their number.",
        separator=";",
    )
    layout: Literal["auto", "nchw", "nhwc", "flat", "flat-nhwc"] = option(
        "auto", "Order of planes, rows and columns in the input; flat ones have two dimensions."
    )
    top_row: Literal["first", "last"] = option("first", "Where the top row of the board is.")
    policy: str = option("auto", "Name of the output with a number per column, auto or none.")
    value: str = option("auto", "Name of the output with one number per position, auto or none.")
    value_for: Literal["mover", "red"] = option(
        "mover", "For whom the value is, from -1 to +1: the side to move, or red."
    )

    host: ClassVar[str] = "fourlab.bridges.onnx_host"

    @property
    def _example(self) -> str:
        return "onnx:file=net.onnx"

    @property
    def _settings(self) -> dict[str, Any]:
        names = ("planes", "layout", "top_row", "policy", "value")
        return {name: getattr(self, name) for name in names}

    def _check(self) -> None:
        unknown = next((plane for plane in self.planes if plane not in PLANES), None)
        if unknown is not None:
            raise UserError(f"there is no plane {unknown!r}; planes are {', '.join(PLANES)}")
        if self.policy == self.value == "none":
            raise UserError("a network needs a policy or a value to play by")

    def _decide(self, position: Position, patience: Patience) -> Decision:
        answer = self.evaluate([position], patience)
        if "policy" in answer:
            return self.choose(position, answer)
        return self._look_ahead(position, patience)

    def _look_ahead(self, position: Position, patience: Patience) -> Decision:
        """Play the column after which the network likes the position best; ends are known."""
        after = {column: position.play(column) for column in position.legal_columns()}
        open_ones = [column for column, child in after.items() if child.outcome() is None]
        answers: list[float] = []
        if open_ones:
            children = [after[column] for column in open_ones]
            answers = self.evaluate(children, patience)["value"]
        values = {
            # The side to move after a column is the other one.
            column: -self.value_of(value, after[column])
            for column, value in zip(open_ones, answers, strict=True)
        }
        for column, child in after.items():
            if (outcome := child.outcome()) is not None:
                values[column] = float(outcome.score(position.to_move))
        best = max(sorted(values), key=lambda column: values[column])
        return Decision(best, values[best])

    def value_of(self, value: float, position: Position) -> float:
        """Return a value of the network from the point of view of the side to move."""
        is_for_red = self.value_for == "red"
        sign = -1 if is_for_red and position.to_move != RED else 1
        return sign * super().value_of(value, position)
