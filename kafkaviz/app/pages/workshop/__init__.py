"""What the Workshop page consists of.

The strip of lessons, one step with its figures and questions, the hand-out; and where the reader
is, in the address.

The lessons themselves, how their files are read and which figures they have, are in
kafkaviz/app/lessons/.
"""
