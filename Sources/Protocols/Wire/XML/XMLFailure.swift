public import Basics

/// Why the bytes of a stream are invalid; each is a stream error (ccs-xmpp 1.11, 1.12) and ends the stream.
public enum XMLFailure: Error, Sendable, CaseIterable {
    /// Not well-formed: reported as `invalid-xml`, which old clients test for, not as `not-well-formed`.
    case invalidXML
    /// A comment, processing instruction, DTD, or an entity other than the five.
    case restrictedXML
    /// Over one of the limits: bytes, elements, depth, attributes.
    case policyViolation
    /// The declaration names another encoding, or the bytes are not UTF-8.
    case unsupportedEncoding
    /// An undeclared namespace prefix.
    case badNamespacePrefix
    /// The root is not in the stream namespace, or the default namespace is not `jabber:client`.
    case invalidNamespace
    /// The stream's `version` has a major part above 1.
    case unsupportedVersion
    /// Well-formed, but not a stream: another root, text between stanzas, or a further header.
    case badFormat

    /// The condition of the stream error.
    public var condition: StreamCondition {
        switch self {
        case .invalidXML: .invalidXML
        case .restrictedXML: .restrictedXML
        case .policyViolation: .policyViolation
        case .unsupportedEncoding: .unsupportedEncoding
        case .badNamespacePrefix: .badNamespacePrefix
        case .invalidNamespace: .invalidNamespace
        case .unsupportedVersion: .unsupportedVersion
        case .badFormat: .badFormat
        }
    }

    /// The close reason of the connection.
    public var closeReason: CloseReason {
        switch self {
        case .invalidXML, .badNamespacePrefix, .invalidNamespace, .badFormat: .invalidXML
        case .restrictedXML: .restrictedXML
        case .policyViolation: .tooLarge
        case .unsupportedEncoding: .unsupportedEncoding
        case .unsupportedVersion: .protocolViolation
        }
    }
}
