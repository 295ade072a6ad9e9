"""Which trainee belongs to which settings."""

from fourlab.agents.alphazero.listed_training import ListedTrainee
from fourlab.agents.alphazero.settings import AlphaZeroSettings
from fourlab.agents.alphazero.training import AlphaZeroTrainee


def trainee_of(settings: AlphaZeroSettings) -> AlphaZeroTrainee:
    """Return a new trainee; called by `fourlab.training.kind` by name."""
    return ListedTrainee(settings) if settings.faithful else AlphaZeroTrainee(settings)
