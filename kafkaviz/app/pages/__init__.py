"""What each page consists of, a folder a page; pages/ at the top calls them."""
