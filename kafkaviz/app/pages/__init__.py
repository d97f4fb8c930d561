"""The pages of the app, one module per page. The scripts in pages/ at the top call them."""
