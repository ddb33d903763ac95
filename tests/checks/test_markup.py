"""Elements put together: text stays text wherever it stands."""

from html.parser import HTMLParser

from checks.markup import element, write


def test_children_keep_their_order_and_none_is_left_out():
    made = element("p", "a", None, element("b", "c"), "d", "", "e", element("i"), "f", class_="x", aria_label="y")
    assert write(made) == '<p class="x" aria-label="y">a<b>c</b>de<i></i>f</p>'


def test_text_and_attributes_are_escaped():
    attack = '"><script>alert(1)</script>&amp;'
    read = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            read.append((tag, dict(attributes)))

        def handle_data(self, data):
            read.append(data)

    Reader().feed(write(element("p", attack, element("b", attack), attack, title=attack)))
    assert read == [("p", {"title": attack}), attack, ("b", {}), attack, attack]
