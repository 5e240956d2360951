/// A parsed XML element with its content; for rare stanzas (login, iq, presence), not for messages.
public struct Element: Sendable, Equatable {
    /// Local name, without prefix.
    public var name: String
    /// Namespace URI; empty for none.
    public var namespace: String
    /// Attributes in the order sent, without namespace declarations.
    public var attributes: [Attribute]
    /// Child elements in order.
    public var children: [Element]
    /// Character data directly inside, concatenated.
    public var text: String

    /// An attribute.
    public struct Attribute: Sendable, Equatable {
        /// Local name, without prefix.
        public var name: String
        /// Namespace URI; empty for the usual case without prefix.
        public var namespace: String
        /// Value, references resolved.
        public var value: String

        /// Creates an attribute.
        public init(name: String, namespace: String = "", value: String) {
            self.name = name
            self.namespace = namespace
            self.value = value
        }
    }

    /// Creates an element.
    public init(
        name: String, namespace: String, attributes: [Attribute] = [], children: [Element] = [],
        text: String = ""
    ) {
        self.name = name
        self.namespace = namespace
        self.attributes = attributes
        self.children = children
        self.text = text
    }

    /// The value of an attribute without namespace, or `nil` if absent.
    public subscript(name: String) -> String? {
        attributes.first { $0.name == name && $0.namespace.isEmpty }?.value
    }

    /// Returns the first child with that name and namespace, or `nil`.
    public func child(_ name: String, _ namespace: String) -> Element? {
        children.first { $0.name == name && $0.namespace == namespace }
    }

    /// Whether the element has that name and namespace.
    public func matches(_ name: String, _ namespace: String) -> Bool {
        self.name == name && self.namespace == namespace
    }
}

/// Namespaces of the app-server protocol.
public enum Namespace {
    /// The stream root, its features and stream errors.
    public static let streams = "http://etherx.jabber.org/streams"
    /// Stanzas.
    public static let client = "jabber:client"
    /// `gcm`, the element that contains the JSON.
    public static let gcm = "google:mobile:data"
    /// SASL elements.
    public static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
    /// Resource binding.
    public static let bind = "urn:ietf:params:xml:ns:xmpp-bind"
    /// Session establishment.
    public static let session = "urn:ietf:params:xml:ns:xmpp-session"
    /// XEP-0199 pings.
    public static let ping = "urn:xmpp:ping"
    /// XEP-0198 stream management.
    public static let streamManagement = "urn:xmpp:sm:3"
    /// `xml:lang`.
    public static let xml = "http://www.w3.org/XML/1998/namespace"
}
