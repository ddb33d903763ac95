r"""How a convolutional network reads its last features: pixel by pixel, or averaged over the image.

With the features `g^L[p] ∈ R^C` of a network of `L` convolutional layers at the pixels `p` of an image, and output
weights iid N(0, 1),

`NONE`: `f = (1/√#pixels) Σ_p W_p·g^L[p]`, the features flattened, with weights of its own for every pixel;
`MEAN`: `f = W·mean_p g^L[p]`, global average pooling.

Source: Arora, Du, Hu, Li, Salakhutdinov, Wang, arXiv:1904.11955: the vanilla network and the one with pooling.
"""

from enum import Enum


class Pooling(Enum):
    """See the module."""

    NONE = "none"
    MEAN = "mean"
