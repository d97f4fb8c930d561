from kafkaviz import workshop
from kafkaviz.app.pages import rolls

workshop.register()
rolls.render_page()
