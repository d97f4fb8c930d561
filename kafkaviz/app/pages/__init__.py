"""What each page is made of, a folder a page; pages/ at the top calls them."""
