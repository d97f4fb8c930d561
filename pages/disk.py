from kafkaviz import workshop
from kafkaviz.app.pages import disk

workshop.register()
disk.render_page()
