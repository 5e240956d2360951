import Basics

/// Bounds of one stanza; tighter while nobody has logged in (ccs-xmpp 1.13).
public struct XMLLimits: Sendable, Equatable {
    /// Bytes from the first `<` to the last `>`.
    public var bytes: Int
    /// Elements, the stanza itself included.
    public var elements: Int
    /// Depth, the stanza itself being 1; at most `deepest`.
    public var depth: Int
    /// Attributes of one element, namespace declarations included.
    public var attributes: Int

    /// Largest `depth` that a reader has room for.
    public static let deepest = 16

    /// Until the login is done.
    public static let beforeLogin = XMLLimits(
        bytes: Limits.Stanza.bytesBeforeLogin, elements: Limits.Stanza.elementsBeforeLogin,
        depth: Limits.Stanza.depthBeforeLogin, attributes: Limits.Stanza.attributesPerElement)

    /// From then on.
    public static let afterLogin = XMLLimits(
        bytes: Limits.Stanza.bytes, elements: Limits.Stanza.elements,
        depth: min(Limits.Stanza.depth, deepest), attributes: Limits.Stanza.attributesPerElement)
}
