"""What the Lookup page consists of.

What is looked up in, what is asked, the lookup as a release does it, what is drawn around it;
`page` puts them together.
"""
