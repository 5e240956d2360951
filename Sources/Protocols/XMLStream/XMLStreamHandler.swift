/// A name of an element or attribute with its namespace.
public struct XMLName: Sendable, Equatable {
    /// The local name.
    public var local: String
    /// The URI of the namespace; empty if there is none.
    public var namespace: String
}

/// An attribute with its value.
public struct XMLAttribute: Sendable, Equatable {
    /// The name.
    public var name: XMLName
    /// The value, its references resolved.
    public var value: String
}

/// Receives parser events in document order.
public protocol XMLStreamHandler: AnyObject {
    /// A start tag.
    func elementStarted(_ name: XMLName, _ attributes: [XMLAttribute])
    /// An end tag, or the end of an empty element.
    func elementEnded()
    /// Character data; one run may be reported in several pieces.
    func textFound(_ text: String)
    /// A namespace declaration, reported before its start tag. The prefix is empty for the default namespace.
    func namespaceDeclared(prefix: String, uri: String)
    /// The XML declaration; parameters are `nil` if absent.
    func declarationFound(version: String?, encoding: String?)
}

/// Why a document cannot be parsed.
public enum XMLStreamFailure: Error, Sendable, Equatable {
    /// A reference to an entity that is not one of the five predefined ones.
    case undefinedEntity
    /// A prefix without a declaration.
    case unboundPrefix
    /// An encoding other than UTF-8.
    case unsupportedEncoding
    /// The document is not well-formed.
    case malformed
}
