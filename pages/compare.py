from kafkaviz import workshop
from kafkaviz.app.pages import compare

workshop.register()
compare.render_page()
