from kafkaviz import workshop
from kafkaviz.app.pages import health

workshop.register()
health.render_page()
