/// An element with all that is in it; made for what is rare (login, iq, presence), not for messages.
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

        /// An attribute of these parts.
        public init(name: String, namespace: String = "", value: String) {
            self.name = name
            self.namespace = namespace
            self.value = value
        }
    }

    /// An element of these parts.
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

    /// Value of an attribute without namespace; nil if absent.
    public subscript(name: String) -> String? {
        attributes.first { $0.name == name && $0.namespace.isEmpty }?.value
    }

    /// The first child of that name and namespace.
    public func child(_ name: String, _ namespace: String) -> Element? {
        children.first { $0.name == name && $0.namespace == namespace }
    }

    /// Whether it has that name and namespace.
    public func matches(_ name: String, _ namespace: String) -> Bool {
        self.name == name && self.namespace == namespace
    }
}

/// Namespaces of the app-server protocol.
public enum Namespace {
    /// Of the root, its features and stream errors' element.
    public static let streams = "http://etherx.jabber.org/streams"
    /// Of stanzas.
    public static let client = "jabber:client"
    /// Of `gcm`, the element that holds the JSON.
    public static let gcm = "google:mobile:data"
    /// Of SASL elements.
    public static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
    /// Of resource binding.
    public static let bind = "urn:ietf:params:xml:ns:xmpp-bind"
    /// Of session establishment.
    public static let session = "urn:ietf:params:xml:ns:xmpp-session"
    /// Of XEP-0199 pings.
    public static let ping = "urn:xmpp:ping"
    /// Of XEP-0198.
    public static let streamManagement = "urn:xmpp:sm:3"
    /// Of `xml:lang`.
    public static let xml = "http://www.w3.org/XML/1998/namespace"
}
