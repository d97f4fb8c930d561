from kafkaviz import workshop
from kafkaviz.app.pages import segment

workshop.register()
segment.render_page()
