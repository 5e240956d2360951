import Basics

/// The limits of one stanza; lower before login (ccs-xmpp 1.13).
public struct XMLLimits: Sendable, Equatable {
    /// Bytes from the first `<` to the last `>`.
    public var bytes: Int
    /// The number of elements, the stanza itself included.
    public var elements: Int
    /// The nesting depth, at most `deepest`; the stanza itself has depth 1.
    public var depth: Int
    /// Attributes of one element, namespace declarations included.
    public var attributes: Int

    /// The largest `depth` that a reader supports.
    public static let deepest = 16

    /// The limits before login.
    public static let beforeLogin = XMLLimits(
        bytes: Limits.Stanza.bytesBeforeLogin, elements: Limits.Stanza.elementsBeforeLogin,
        depth: Limits.Stanza.depthBeforeLogin, attributes: Limits.Stanza.attributesPerElement)

    /// The limits after login.
    public static let afterLogin = XMLLimits(
        bytes: Limits.Stanza.bytes, elements: Limits.Stanza.elements,
        depth: min(Limits.Stanza.depth, deepest), attributes: Limits.Stanza.attributesPerElement)
}
