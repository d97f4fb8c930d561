U = "00000000000040008000000000000001"  # AAAAAAAAQACAAAAAAAAAAQ
D = "b69c7ca5dd48403a89c0c7c6cd78fa18"  # tpx8pd1IQDqJwMfGzXj6GA


def from_hex(text: str) -> bytes:
    """Decodes hexadecimal digits, of which U and D stand for two uuids."""
    words = text.translate(str.maketrans("|[]", "   ")).split()
    return bytes.fromhex("".join({"U": U, "D": D}.get(word, word) for word in words))
