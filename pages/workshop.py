"""Workshop: lessons on how the three files work, each step with a live figure, a question to answer
first, and tasks that are checked.
"""

from kafkaviz.app.lessons import page

page.main()
