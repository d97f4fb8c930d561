"""The pages of the app, one folder per page. The scripts in pages/ at the top call them."""
