"""What the words of a report mean: the verdicts, and for each kind of evidence what the statement was held against."""

from __future__ import annotations

from .verdicts import Verdict

VERDICTS = {
    Verdict.PROVED: "derived from the definitions by exact algebra, each step checked",
    Verdict.CERTIFIED: "shown over the whole domain by ball arithmetic",
    Verdict.SUPPORTED: "not proved: agrees with what was computed or sampled, within the resolution",
    Verdict.CORRECTED: "wrong as published; holds after the change that is given",
    Verdict.REFUTED: "wrong, with a counterexample that can be run again",
    Verdict.UNDECIDED: "the evidence cannot tell, or its budget was spent",
}
KINDS = {
    "identity": "a formula, against what is derived from the definitions",
    "limit": "a limit, against the one that is derived",
    "asymptotics": "leading terms, against those that are derived",
    "enclosure": "an inequality, against balls that contain every value on the domain",
    "approach": "a limit and its rate, against values at growing sizes, computed from the definition",
    "expectation": "a formula, against the mean of random samples, mostly networks of finite width",
    "scaling": "an exponent, against random samples at several sizes: widths, depths or numbers of steps",
    "experiment": "which of two quantities is larger, against random runs that compare them",
    "paired comparison": "which of two methods is right more often, against data that neither was trained on",
    "property": "a statement without a number, against random cases, each of which must have it",
}
