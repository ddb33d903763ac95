"""The documents whose statements are judged."""

from ..claims import Source

WIDTH_AND_DEPTH = Source(
    "W", "Revisiting the Neural Tangent Kernel: the role of large width and depth", "arXiv:2511.07272"
)
LAYER_BALANCE = Source("B", "Balancing Learning Rates Across Layers", "arXiv:2606.00340, ICML 2026")
NTK_ARTICLE = Source("N", "Neural tangent kernel, an encyclopedia article", "after arXiv:1806.07572")
WEAK_CORRELATIONS = Source(
    "C",
    "Weak Correlations as the Underlying Principle for Linearization of Gradient-Based Learning Systems",
    "arXiv:2401.04013",
)
