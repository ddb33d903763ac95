"""The explorer's page: what stands where, and what moves what. What it shows is made by the modules beside it.

`limes explore` runs it. The last line of a cell is what is seen of it. The text of a parameter is the truth (`get_at`);
the slider and the field of a text are made anew only when the other one was moved, so that neither loses the focus.
"""
# ruff: noqa: B018
# pyright: reportUnusedExpression=false

import marimo

app = marimo.App(width="medium", app_title="limes")


@app.cell
def _():
    from dataclasses import replace

    import marimo as mo

    from checks.explore import controls, crossings, limits, page, samples, scene, state, vega
    from theory.formulas import FORMULAS
    from theory.typeset import latex

    def typeset(code):
        return mo.md(f"$$\n{code}\n$$").text

    return FORMULAS, controls, crossings, latex, limits, mo, page, replace, samples, scene, state, typeset, vega


@app.cell
def _(FORMULAS, mo, page, state):
    start, _trouble = state.opening(mo.query_params().get("state"), mo.cli_args().get("state"))
    kind = mo.ui.radio(["formula", "claim"], value="claim" if start.claim else "formula", inline=True)
    formulas = mo.ui.dropdown(list(FORMULAS), value=start.formula or state.FIRST, searchable=True)
    mo.Html(f"<style>{page.STYLE}</style>{page.refusal(_trouble)}")
    return formulas, kind, start


@app.cell
def _(kind, mo, start):
    claims, LEDGER = None, {}
    if kind.value == "claim":
        from checks.ledger import LEDGER

        claims = mo.ui.dropdown(list(LEDGER), value=start.claim or "depth-rate", searchable=True)
    return LEDGER, claims


@app.cell
def _(FORMULAS, LEDGER, claims, mo, start):
    claim = LEDGER[claims.value] if claims is not None and claims.value else None
    _own = [name for name in claim.formulas if name in FORMULAS] if claim else []
    own = mo.ui.dropdown(_own, value=start.formula if start.formula in _own else _own[0]) if _own else None
    return claim, own


@app.cell
def _(claims, formulas, kind, mo, own):
    _of_it = [mo.md("formula"), own] if own is not None else []
    _top = [mo.md("**limes**"), kind, *([formulas] if claims is None else [claims, *_of_it])]
    mo.hstack(_top, justify="start", wrap=True).style(padding_right="3rem")  # where marimo has its menu
    return


@app.cell
def _(claim, formulas, kind, own, replace, start, state):
    if kind.value == "claim":
        _claim = claim.id if claim else ""
        chosen = (
            replace(state.State.of(own.value), claim=_claim)
            if own is not None and own.value
            else state.State("", _claim)
        )
    else:
        chosen = state.State.of(formulas.value or state.FIRST)
    if (chosen.formula, chosen.claim) == (start.formula, start.claim):
        chosen = start
    formula = chosen.known
    return chosen, formula


@app.cell
def _(claim, mo, page, typeset):
    mo.stop(claim is None)
    _correction = []
    if claim.correction:
        _text = mo.Html(page.remark(f"What holds instead: {claim.correction.text}"))
        _correction = [_text, mo.Html(page.formula(claim.correction.latex, typeset))]
    mo.vstack(
        [
            mo.Html(page.claim_head(claim)),
            mo.Html(page.formula(claim.statement, typeset)),
            *_correction,
            mo.Html(page.claim_notes(claim)),
        ]
    )
    return


@app.cell
def _(claim, mo):
    figure = figures = None
    if claim is not None:
        from checks.explore import figures

        _titles = {one.title: one.name for one in figures.of(claim)}
        figure = mo.ui.dropdown(_titles, label="figure") if _titles else None
    figure
    return figure, figures


@app.cell
def _(figure, figures, mo):
    figure_ = figures.drawing(figure.value) if figure is not None and figure.value else None
    pencil = mo.ui.refresh(options=["1s"], default_interval="1s") if figure_ and not figure_.done() else None
    return figure_, pencil


@app.cell
def _(figure_, mo, page, pencil):
    mo.stop(figure_ is None)
    if pencil is not None:
        pencil.value  # looks again each time
    (
        mo.Html(figure_.result())
        if figure_.done()
        else mo.hstack([mo.Html(page.remark("the figure is being drawn …")), pencil], justify="start")
    )
    return


@app.cell
def _(chosen, mo):
    get_at, set_at = mo.state(dict(chosen.at))  # the text of each parameter
    get_jump, set_jump = mo.state(dict(chosen.at))  # what was typed: the sliders follow
    get_echo, set_echo = mo.state(dict(chosen.at))  # where sliders are: the texts follow
    return get_at, get_echo, get_jump, set_at, set_echo, set_jump


@app.cell
def _(controls, formula, get_jump, mo, scene, set_at, set_echo):
    mo.stop(formula is None)

    def _slider(name, control, values):
        def moved(number):
            change = {name: control.text(number)}
            set_at(lambda at: at | change)
            set_echo(lambda at: at | change)

        steps = list(map(float, control.values))
        at = control.nearest(values[name]) if name in values else control.stops.index(control.default)
        if control.words:
            return mo.ui.dropdown(control.stops, value=control.stops[at], on_change=moved)
        return mo.ui.slider(steps=steps, value=steps[at], on_change=moved, full_width=True)

    _values = scene.point(formula, get_jump()).values
    sliders = {name: _slider(name, control, _values) for name, control in controls.controls(formula).items()}
    return (sliders,)


@app.cell
def _(formula, get_echo, mo, set_at, set_jump):
    mo.stop(formula is None)

    def _text(name, text):
        def typed(text):
            set_at(lambda at: at | {name: text})
            set_jump(lambda at: at | {name: text})

        # the placeholder is what a screen reader calls the field
        return mo.ui.text(value=text, placeholder=name, on_change=typed, full_width=True)

    texts = {name: _text(name, text) for name, text in get_echo().items()}
    return (texts,)


@app.cell
def _(formula, mo, page, scene, typeset):
    mo.stop(formula is None)
    mo.vstack([mo.Html(page.formula_head(formula)), mo.Html(page.formula(scene.typeset(formula), typeset))])
    return


@app.cell
def _(formula, get_at, scene):
    where = scene.point(formula, get_at()) if formula else None
    return (where,)


@app.cell
def _(formula, latex, mo, page, sliders, texts, where):
    def _row(parameter):
        name, label = parameter.name, mo.md(f"${latex(parameter.symbol)}$")
        below = page.refusal(where.refusals.get(name, "")) or page.remark(
            f"{parameter.meaning}, in {parameter.range()}"
        )
        return f"<div>{label.text}{below}</div>{sliders[name]}{texts[name]}"

    mo.Html(f"<div class='limes-controls'>{''.join(map(_row, formula.parameters))}</div>")
    return


@app.cell
def _(chosen, formula, mo, samples, state):
    digits = axis = scale = live = width = None
    if formula:
        digits = mo.ui.number(1, state.MOST_DIGITS, value=chosen.digits, label="digits")
    if chosen.axis:
        axis = mo.ui.dropdown(state.axes_of(formula), value=chosen.axis, label="plotted over")
        scale = mo.ui.dropdown({one.words: one for one in state.Scale}, value=chosen.scale.words, label="values")
    if chosen.axis and formula.name in samples.SAMPLERS:
        live = mo.ui.switch(label="add samples")
        if samples.SAMPLERS[formula.name].sized:
            width = mo.ui.number(1, 4096, value=chosen.width, label="of width")
    _shown = [one for one in (digits, axis, scale, live, width) if one is not None]
    mo.hstack(_shown, justify="start", wrap=True, gap=1)
    return axis, digits, live, scale, width


@app.cell
def _(axis, chosen, digits, get_at, replace, scale, width):
    _options = {"digits": digits, "axis": axis, "scale": scale, "width": width}
    now = replace(
        chosen,
        at=get_at(),
        **{name: one.value for name, one in _options.items() if one is not None and one.value is not None},
    )
    return (now,)


@app.cell
def _(formula, mo, now, page, scene, where):
    mo.stop(formula is None)
    mo.Html(page.value(formula, where, scene.reading(formula, where, now.digits)))
    return


@app.cell
def _(live, mo, now, samples, scene, where):
    _wanted = live is not None and live.value
    drawn = samples.Sampling(now.formula, scene.places(now, where), now.width) if _wanted else None
    clock = mo.ui.refresh(options=["1s"], default_interval="1s") if _wanted else None
    return clock, drawn


@app.cell
def _(chosen, crossings, mo):
    chosen  # each formula begins anew
    get_found, set_found = mo.state(crossings.Found())
    return get_found, set_found


@app.cell
def _(chosen, mo):
    get_drawn_once, set_drawn_once = mo.state(chosen.formula == "")
    return get_drawn_once, set_drawn_once


@app.cell
def _(clock, crossings, drawn, get_drawn_once, get_found, limits, mo, now, page, samples, scene, vega, where):
    mo.stop(not now.axis)
    panel, _remark = scene.curve(now, where)
    if get_drawn_once():  # the first picture does not wait for the limit
        panel = limits.marked(panel, now, where)
    panel = crossings.marked(panel, now, get_found())
    _below = [mo.Html(page.remark(_remark))]
    if drawn:
        drawn.advance(samples.LOOK if clock.value else 0)
        panel = drawn.on(panel, now.scale)
        _below += [mo.Html(page.remark(drawn.remark())), *([] if drawn.done else [clock])]
    picture = mo.vstack([vega.Vega(panel), *_below], gap=0)
    picture
    return panel, picture


@app.cell
def _(get_drawn_once, picture, set_drawn_once):
    import time

    SETTLE = 0.5  # seconds
    if picture and not get_drawn_once():
        time.sleep(SETTLE)  # the browser gets the picture before SymPy gets the processor
        set_drawn_once(True)
    return


@app.cell
def _(chosen, crossings, formula, mo, set_found, state):
    def _forget(_):
        set_found(crossings.Found())  # what was found answers another question

    first = side = level = search = None
    if formula and chosen.axis:
        _sides = {one.value: one for one in crossings.Side}
        first = mo.ui.dropdown(state.axes_of(formula), value=chosen.axis, label="first", on_change=_forget)
        side = mo.ui.dropdown(_sides, value="above", label="with a value", on_change=_forget)
        level = mo.ui.text(placeholder="level, such as 0.999", on_change=_forget, debounce=False)
        search = mo.ui.run_button(label="find it")
    mo.Html(f"<div class='limes-ask'>{first}{side}{level}{search}</div>") if search is not None else None
    return first, level, search, side


@app.cell
def _(crossings, first, level, mo, now, search, set_found, side, where):
    mo.stop(search is None or not search.value)
    with mo.status.spinner(title="looking for it …"):
        set_found(crossings.find(now, where, first.value, side.value, level.value))
    return


@app.cell
def _(crossings, get_found, mo, now, page, set_at, set_echo, set_jump, where):
    _found = get_found()
    mo.stop(not crossings.is_about(_found, now, where))

    def _go(_):
        for set_it in (set_at, set_echo, set_jump):
            set_it(lambda at: at | _found.place)

    _words = ", ".join(f"{name} = {text}" for name, text in _found.place.items())
    go = mo.ui.button(label=f"set {_words}", on_change=_go) if _found.place else None
    mo.vstack([mo.Html(page.crossing(_found)), *([go] if go is not None else [])], align="start")
    return (go,)


@app.cell
def _(chosen, formula, mo):
    let = along = seek = None
    if formula and chosen.axis:
        let = mo.ui.text(value=chosen.let or f"{chosen.axis} = oo", label="limit as", placeholder="L = oo")
        along = mo.ui.text(value=chosen.along, label="with", placeholder="rho = 1 - c/L^2; c = 2")
        seek = mo.ui.run_button(label="find the limit")
    mo.Html(f"<div class='limes-ask'>{let}{along}{seek}</div>") if seek is not None else None
    return along, let, seek


@app.cell
def _(along, let, limits, mo, now, page, replace, seek, typeset, vega, where):
    mo.stop(seek is None or not seek.value)
    _found = limits.find(replace(now, let=let.value, along=along.value), where)
    _shown = [mo.Html(page.limit(_found))]
    if _found.approach:
        _chart = limits.panel(_found.approach)
        _shown = [
            mo.Html(page.formula(_found.approach.limit.to_latex(), typeset)),
            *_shown,
            *([vega.Vega(_chart)] if _chart else []),
        ]
    mo.vstack(_shown)
    return


@app.cell
def _(mo):
    share = mo.ui.run_button(label="share this state")
    share
    return (share,)


@app.cell
def _(along, chosen, let, mo, now, page, replace, share):
    mo.stop(not share.value)
    _let = "" if let is None or let.value == f"{chosen.axis} = oo" else let.value
    _now = replace(now, let=_let, along="" if along is None else along.value)
    mo.vstack([mo.Html(page.share(_now)), mo.download(_now.to_file(), "limes.json", label="file")], align="start")
    return


if __name__ == "__main__":
    app.run()
