"""The shortlist of a question: the few skills of a large index that links compare in detail.

An estimate orders all rows: the evidence of the text, which is exact, and the product of the first dimensions of the
vectors. It depends on the question and the index alone. So the shortlist of a caller who may see fewer skills contains
that of all skills without the others. It also contains rows with a lower estimate, and the score of such a row can be
higher than that of one before it.
"""

import numpy as np

from registry.core.routing.link import Rows
from registry.core.routing.question import SHORTLIST, Question


def of(question: Question, rows: Rows, most: int) -> Rows:
    """Return the rows that can be among the best `most`, in rising order. A skill that is named exactly is one of them.

    Twice as many rows as asked for make up for the estimate of vectors.
    """
    size = max(SHORTLIST, 2 * most)
    if len(rows) <= size:
        return rows
    everything = size == SHORTLIST and len(rows) == len(question.index)
    best = question.best if everything else question.nearest(rows, size)
    exact = question.exact_row
    return best if exact is None else np.union1d(best, rows[rows == exact])
