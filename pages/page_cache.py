from kafkaviz import workshop
from kafkaviz.app.pages import page_cache

workshop.register()
page_cache.render_page()
