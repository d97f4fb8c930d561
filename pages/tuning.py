from kafkaviz import workshop
from kafkaviz.app.pages import tuning

workshop.register()
tuning.render_page()
