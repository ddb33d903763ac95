r"""Where a network keeps the scale of its weights: in front of them, or inside them.

`m_l` is the width of hidden layer `l = 1..L`, `c_φ` the activation's normalisation, `σ_b >= 0` the scale of the biases.

`NTK`: all parameters are iid N(0, 1), and the factors stand in the network,
`uˡ = Wˡ gˡ⁻¹ + σ_b bˡ`, `gˡ = sqrt(c_φ/m_l) φ(uˡ)`, `g⁰ = x`, `f = u^{L+1}`.

`STANDARD`: the parameters are `ωˡ = sqrt(c_φ/m_{l−1}) Wˡ` for `l >= 2`, `ω¹ = W¹` and `βˡ = σ_b bˡ`, and the network
has no factors, `uˡ = ωˡ hˡ⁻¹ + βˡ`, `hˡ = φ(uˡ)`, `h⁰ = x`, `f = u^{L+1}`.

The functions `f` are the same, the gradients are not: in `STANDARD` the part of the tangent kernel that belongs to
the weights of layer `l >= 2` is `m_{l−1}/c_φ` times that in `NTK` (so it grows with the width), the part of the first
layer's weights is equal, and the part of the biases is `1/σ_b²` times that in `NTK`.

Source: Jacot, Gabriel, Hongler (2018), section 2. Departure: they divide the first layer by `sqrt(d)` too; here the
input is taken as it is.
"""

from enum import Enum


class Parametrisation(Enum):
    """See the module: the same random functions, different gradients."""

    NTK = "ntk"
    STANDARD = "standard"
