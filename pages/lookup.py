from kafkaviz import workshop
from kafkaviz.app.pages import lookup

workshop.register()
lookup.render_page()
