r"""Why one line with integrals follows from the one before, and the check of it.

SymPy's `integrate` is never asked for an integral of `Max`, `Heaviside` or `Abs`, for which it returns wrong values.
Each reason here checks the hypotheses of one textbook rule by exact algebra instead:

- `Linearity`: sums and constant factors pass the integral sign; an odd integrand over `R^n` integrates to zero.
- `Polar`, `Affine`: a change of variables, with its Jacobian.
- `Support`: a product of positive parts of cosines vanishes outside an interval of angles.
- `Separation`: Fubini for a product of functions of different variables.
- `Known`: an integral has the value that another derivation found.

All of them presuppose that the integrals converge absolutely. The integrals of chapter 1 do: their integrands are of at
most exponential growth times a Gaussian density, or continuous on a bounded interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sympy import (
    Abs,
    Add,
    Basic,
    Dummy,
    Expr,
    Heaviside,
    Integer,
    Integral,
    Interval,
    Matrix,
    Max,
    Mul,
    S,
    Symbol,
    cos,
    diff,
    exp,
    expand,
    expand_trig,
    factor_terms,
    oo,
    pi,
    sign,
    simplify,
    sin,
    trigsimp,
)

from .algebra import vanishes
from .derivation import Derivation, How, Outcome
from .reasons import equal, shown

Limits = tuple[tuple[Expr, ...], ...]


def over_all(integrand: Expr, *variables: Symbol) -> Integral:
    """The integral of `integrand` over all real values of `variables`."""
    return Integral(integrand, *((variable, -oo, oo) for variable in variables))


def _names(*lines: Expr) -> dict[Basic, Basic]:
    """A name for each integral in the lines, as an unknown number."""
    found = sorted({integral for line in lines for integral in line.atoms(Integral)}, key=str)
    return {integral: Dummy(f"I{index}") for index, integral in enumerate(found)}


def _as_one(line: Expr) -> tuple[dict[Limits, Expr], Expr] | None:
    """`Σ_i c_i ∫_D f_i + rest` as the integrand `Σ_i c_i f_i` for each set `D`, and the rest; None for other lines."""
    names = _names(line)
    remaining = expand(line.xreplace(names))
    integrands: dict[Limits, Expr] = {}
    for integral, name in names.items():
        limits = tuple(tuple(limit) for limit in integral.limits)
        if any(len(limit) != 3 for limit in limits):
            return None
        coefficient = remaining.coeff(name)
        remaining = expand(remaining - coefficient * name)
        if coefficient.has(*names.values(), *integral.variables):
            return None
        integrands[limits] = integrands.get(limits, Integer(0)) + coefficient * integral.function
    return None if remaining.has(*names.values()) else (integrands, remaining)


def single(line: Expr) -> tuple[Limits, Expr] | None:
    """The limits and the integrand of a line that is one integral, a constant factor drawn into the integrand."""
    match _as_one(line):
        case {**integrands}, rest if len(integrands) == 1 and rest == 0:
            return next(iter(integrands.items()))
    return None


_NOT_ONE = Outcome(How.UNDECIDED, "expected one integral on either side")


def same_integrand(left: Expr, right: Expr) -> bool:
    """Whether two integrands agree as polynomials in what occurs in them; cheap forms are tried before costly ones."""
    difference = left - right
    for rewrite in (_arguments_in_one_form, expand_trig, _by_absolute_values, lambda f: f.rewrite([sin, cos], exp)):
        difference = expand(rewrite(difference))
        if difference == 0:
            return True
    return vanishes(difference) is True


def _scale_and_rest(w: Expr) -> tuple[Expr, Expr]:
    """`w` in one form, as a positive factor times the rest."""
    factors = Mul.make_args(factor_terms(expand(expand_trig(w))))
    scale = Mul(*(part for part in factors if part.is_positive))
    return scale, Mul(*(part for part in factors if not part.is_positive))


def _arguments_in_one_form(integrand: Expr) -> Expr:
    """Positive factors taken out of `(…)₊`, `1[… > 0]`, `|…|` and the sign; what remains inside is in one form."""

    def positive_part(*args: Expr) -> Expr:
        if len(args) != 2 or 0 not in args:
            return Max(*args)
        scale, rest = _scale_and_rest(Add(*args))
        return scale * Max(0, rest)

    def absolute_value(w: Expr) -> Expr:
        scale, rest = _scale_and_rest(w)
        return scale * Abs(rest)

    integrand = integrand.replace(Max, positive_part).replace(Abs, absolute_value)
    integrand = integrand.replace(Heaviside, lambda w, *value_at_0: Heaviside(_scale_and_rest(w)[1], *value_at_0))
    return integrand.replace(sign, lambda w: sign(_scale_and_rest(w)[1]))


def _by_absolute_values(integrand: Expr) -> Expr:
    """`integrand` with `w₊ = (w + |w|)/2` and `1[w > 0] = (1 + sign w)/2`; for almost every `w`."""

    def positive_part(*args: Expr) -> Expr:
        w = Add(*args)
        return (w + Abs(w)) / 2 if len(args) == 2 and 0 in args else Max(*args)

    return integrand.replace(Max, positive_part).replace(Heaviside, lambda w, *_: (1 + sign(w)) / 2)


@dataclass(frozen=True)
class Linearity:
    """Both lines are linear in their integrals, and the integrands agree up to a function that is odd in `odd_in`.

    Odd means `f(−z) = −f(z)` where all the variables `odd_in` change their sign, and the integral must be over all
    values of them. Variables keep their names from line to line.
    """

    odd_in: tuple[Symbol, ...] = ()

    def check(self, before: Expr, after: Expr) -> Outcome:
        old, new = _as_one(before), _as_one(after)
        if old is None or new is None:
            return Outcome(How.UNDECIDED, "a line is not a linear combination of integrals")
        rest = equal(old[1], new[1])
        if not rest.proved:
            return rest
        for limits in {**old[0], **new[0]}:
            difference = old[0].get(limits, Integer(0)) - new[0].get(limits, Integer(0))
            mirrored = Integer(0)
            if self.odd_in:
                if not {(variable, -oo, oo) for variable in self.odd_in} <= set(limits):
                    return Outcome(How.UNDECIDED, f"the integral is not over all values of {self.odd_in}")
                mirrored = difference.subs({variable: -variable for variable in self.odd_in}, simultaneous=True)
            if not same_integrand(difference, -mirrored):
                return Outcome(How.UNDECIDED, "the integrands were not seen to agree")
        return Outcome(How.ALGEBRA)


@dataclass(frozen=True)
class Polar:
    """`x = r cos ψ, y = r sin ψ` over the plane: `r` runs over `(0, ∞)` and `ψ` over one full turn."""

    x: Symbol
    y: Symbol
    r: Symbol
    psi: Symbol

    def check(self, before: Expr, after: Expr) -> Outcome:
        old, new = single(before), single(after)
        if old is None or new is None:
            return _NOT_ONE
        ends = {variable: (lower, upper) for variable, lower, upper in new[0]}
        if set(old[0]) != {(self.x, -oo, oo), (self.y, -oo, oo)} or set(ends) != {self.r, self.psi}:
            return Outcome(How.WRONG, "the integrals are not over the plane")
        if ends[self.r] != (0, oo) or vanishes(ends[self.psi][1] - ends[self.psi][0] - 2 * pi) is not True:
            return Outcome(How.WRONG, "the radius must run over (0, oo) and the angle over one full turn")
        image = Matrix([self.r * cos(self.psi), self.r * sin(self.psi)])
        jacobian = simplify(image.jacobian([self.r, self.psi]).det())
        transformed = old[1].subs({self.x: image[0], self.y: image[1]}, simultaneous=True) * jacobian
        transformed = transformed.replace(exp, lambda w: exp(trigsimp(w)))
        if not same_integrand(transformed, new[1]):
            return Outcome(How.UNDECIDED, "the integrand was not seen to be the one before times the Jacobian")
        return Outcome(How.ALGEBRA)


@dataclass(frozen=True)
class Affine:
    """`variable = image`, where `image` is affine in the variable `new` with a slope other than zero."""

    variable: Symbol
    image: Expr
    new: Symbol

    def check(self, before: Expr, after: Expr) -> Outcome:
        old, new = single(before), single(after)
        if old is None or new is None or len(old[0]) != 1 or len(new[0]) != 1:
            return _NOT_ONE
        slope = diff(self.image, self.new)
        if slope.has(self.new) or not slope.is_nonzero:
            return Outcome(How.WRONG, f"{self.image} is not affine in {self.new}")
        ((variable, *ends),), ((new_variable, *new_ends),) = old[0], new[0]
        if variable != self.variable or new_variable != self.new:
            return Outcome(How.WRONG, f"the integrals are not over {self.variable} and {self.new}")
        for end, new_end in zip(ends, new_ends, strict=True):
            if vanishes(self.image.subs(self.new, new_end) - end) is not True:
                return Outcome(How.WRONG, f"{self.new} = {new_end} is not where {self.variable} = {end}")
        return equal(old[1].subs(self.variable, self.image) * slope, new[1])


@dataclass(frozen=True)
class Support:
    """`∫ ∏ (cos(ψ + s_i))₊ … dψ` over the interval where no factor vanishes, the positive parts left out.

    Uses that `cos` is positive on `(−π/2, π/2)` and not on `[−3π/2, −π/2]` and `[π/2, 3π/2]`. `within` is the interval
    of the parameter on which `s_i` and the ends depend, all of them affine in it; positive factors may stand before
    the cosines, and `1[cos(ψ + s_i) > 0]` in place of a positive part.
    """

    psi: Symbol
    parameter: Symbol
    within: Interval

    def check(self, before: Expr, after: Expr) -> Outcome:
        old, new = single(before), single(after)
        if old is None or new is None:
            return _NOT_ONE
        old_ends = {variable: ends for variable, *ends in old[0]}
        new_ends = {variable: ends for variable, *ends in new[0]}
        if self.psi not in old_ends or self.psi not in new_ends:
            return Outcome(How.UNDECIDED, f"an integral is not over {self.psi}")
        (lower, upper), (new_lower, new_upper) = old_ends.pop(self.psi), new_ends.pop(self.psi)
        if old_ends != new_ends:
            return Outcome(How.WRONG, "the limits of another variable have changed")
        phases = self._phases(old[1])
        if phases is None:
            return Outcome(How.UNDECIDED, "a positive part is not that of a positive factor times a cosine")

        def runs(phase: Expr, start: Expr, stop: Expr, over: tuple[Expr, Expr]) -> bool:
            at_start, at_stop = phase.subs(self.psi, start), phase.subs(self.psi, stop)
            return all(self._nonnegative(g) for g in (at_start - over[0], at_stop - at_start, over[1] - at_stop))

        right = pi / 2
        inside = all(runs(phase, new_lower, new_upper, (-right, right)) for phase in phases.values())
        vanishing = [phase for part, phase in phases.items() if old[1].xreplace({part: Integer(0)}) == 0]
        below = any(runs(phase, lower, new_lower, (-3 * right, -right)) for phase in vanishing)
        above = any(runs(phase, new_upper, upper, (right, 3 * right)) for phase in vanishing)
        if not (inside and below and above):
            return Outcome(How.UNDECIDED, "the signs of the cosines are not those of the intervals")
        positive = {part: Integer(1) if isinstance(part, Heaviside) else Add(*part.args) for part in phases}
        return equal(old[1].xreplace(positive), new[1])

    def _phases(self, integrand: Expr) -> dict[Basic, Expr] | None:
        """The argument of the cosine in each positive part; None if one is not of that kind."""
        phases: dict[Basic, Expr] = {}
        for part in integrand.atoms(Max, Heaviside):
            argument = part.args[0] if isinstance(part, Heaviside) else Add(*part.args)
            scale, wave = argument.as_independent(self.psi, as_Add=False)
            if (isinstance(part, Max) and 0 not in part.args) or not scale.is_positive or not isinstance(wave, cos):
                return None
            if diff(wave.args[0], self.psi) != 1:
                return None
            phases[part] = wave.args[0]
        return phases

    def _nonnegative(self, affine: Expr) -> bool:
        """Whether a function affine in the parameter is nonnegative on the interval: it is at both ends."""
        ends = [affine.subs(self.parameter, end) for end in (self.within.inf, self.within.sup)]
        return diff(affine, self.parameter, 2) == 0 and all(end.is_nonnegative for end in ends)


@dataclass(frozen=True)
class Separation:
    """`∫∫ f(r) g(ψ) dr dψ = ∫ f(r) dr ∫ g(ψ) dψ`, when no limit depends on another variable of integration."""

    def check(self, before: Expr, after: Expr) -> Outcome:
        old = single(before)
        if old is None:
            return _NOT_ONE
        limits, integrand = old
        variables = {limit[0] for limit in limits}
        names = _names(after)
        new_limits = [tuple(limit) for integral in names for limit in integral.limits]
        if len(new_limits) != len(limits) or set(new_limits) != set(limits):
            return Outcome(How.WRONG, "the limits are not those of the line before, each once")
        if any(end.has(*variables) for _, *ends in limits for end in ends):
            return Outcome(How.WRONG, "a limit depends on another variable of integration")
        for integral in names:
            if integral.function.has(*(variables - set(integral.variables))):
                return Outcome(How.WRONG, "a factor depends on a variable over which it is not integrated")
        constant = after.xreplace(names) / Mul(*names.values())
        if constant.has(*names.values(), *variables):
            return Outcome(How.WRONG, "the line is not a constant times the product of its integrals")
        return equal(integrand, constant * Mul(*(integral.function for integral in names)))


@dataclass(frozen=True)
class Known:
    """Integrals have the values found by other derivations, each of which starts from (a multiple of) one integral.

    `at` specialises their symbols, inside the domains of the derivations. Each of them must be proved.
    """

    derivations: tuple[Derivation, ...]
    at: Mapping[Symbol, Expr] = field(default_factory=dict)

    def of(self, line: Expr) -> Expr:
        """The line with the values put in."""
        values: dict[Basic, Expr] = {}
        for derivation in self.derivations:
            (integral,) = derivation.start.atoms(Integral)
            name = Dummy("integral")
            multiple = derivation.start.xreplace({integral: name}) / name
            values[integral.subs(self.at)] = (derivation.conclusion / multiple).subs(self.at)
        return line.xreplace(values)

    def check(self, before: Expr, after: Expr) -> Outcome:
        if len(list(shown(self.derivations))) < len(self.derivations):
            return Outcome(How.UNDECIDED, "one of the derivations is not proved")
        for derivation in self.derivations:
            for symbol, value in self.at.items():
                domain = derivation.domain.get(symbol, S.Complexes).subs(self.at)
                if domain.contains(value) is not S.true:
                    return Outcome(How.WRONG, f"{symbol} = {value} is outside the domain of a derivation")
        replaced = self.of(before)
        if replaced == before:
            return Outcome(How.WRONG, "no integral of the line before is one of those known")
        return equal(replaced, after)
