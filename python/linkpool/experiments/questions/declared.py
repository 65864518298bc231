"""Questions that their files declare whole."""

from linkpool.experiments.questions.completion import Completion

SPRAY = Completion("Q-spray", seeds=20)
