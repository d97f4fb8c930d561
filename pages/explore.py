from kafkaviz import workshop
from kafkaviz.app.pages import explore

workshop.register()
explore.render_page()
