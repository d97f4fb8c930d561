from kafkaviz import workshop
from kafkaviz.app.pages import broker

workshop.register()
broker.render_page()
