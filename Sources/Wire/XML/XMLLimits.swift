import Basics

/// Bounds of one stanza; tighter while nobody has logged in (ccs-xmpp 1.13).
package struct XMLLimits: Sendable, Equatable {
    /// Bytes from the first `<` to the last `>`.
    package var bytes: Int
    /// Elements, the stanza itself included.
    package var elements: Int
    /// Depth, the stanza itself being 1; at most `deepest`.
    package var depth: Int
    /// Attributes of one element, namespace declarations included.
    package var attributes: Int

    /// Largest `depth` that a reader has room for.
    package static let deepest = 16

    /// Until the login is done.
    package static let beforeLogin = XMLLimits(
        bytes: Limits.stanzaBytesBeforeLogin, elements: Limits.stanzaElementsBeforeLogin,
        depth: Limits.stanzaDepthBeforeLogin, attributes: Limits.attributesPerElement)

    /// From then on.
    package static let afterLogin = XMLLimits(
        bytes: Limits.stanzaBytes, elements: Limits.stanzaElements,
        depth: min(Limits.stanzaDepth, deepest), attributes: Limits.attributesPerElement)
}
