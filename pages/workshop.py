from kafkaviz import workshop
from kafkaviz.workshop import page

workshop.register()
page.render_page()
