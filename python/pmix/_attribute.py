"""Keys of attributes: strings, which also compare with bytes, as scripts for older bindings have them."""


class Attribute(str):
    """The key of an attribute.  It is a string, equal to the same text as bytes, and has decode()."""

    __slots__ = ()

    def __eq__(self, other):
        if isinstance(other, (bytes, bytearray)):
            return str.__eq__(self, other.decode('utf-8', 'surrogateescape'))
        return str.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__

    def decode(self, *_encoding):
        """The same text as a plain string."""
        return str(self)
