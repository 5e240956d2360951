/// An element with all that is in it; made for what is rare (login, iq, presence), not for messages.
package struct Element: Sendable, Equatable {
    /// Local name, without prefix.
    package var name: String
    /// Namespace URI; empty for none.
    package var namespace: String
    /// Attributes in the order sent, without namespace declarations.
    package var attributes: [Attribute]
    /// Child elements in order.
    package var children: [Element]
    /// Character data directly inside, concatenated.
    package var text: String

    /// An attribute.
    package struct Attribute: Sendable, Equatable {
        /// Local name, without prefix.
        package var name: String
        /// Namespace URI; empty for the usual case without prefix.
        package var namespace: String
        /// Value, references resolved.
        package var value: String

        /// An attribute of these parts.
        package init(name: String, namespace: String = "", value: String) {
            self.name = name
            self.namespace = namespace
            self.value = value
        }
    }

    /// An element of these parts.
    package init(
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
    package subscript(name: String) -> String? {
        attributes.first { $0.name == name && $0.namespace.isEmpty }?.value
    }

    /// The first child of that name and namespace.
    package func child(_ name: String, _ namespace: String) -> Element? {
        children.first { $0.name == name && $0.namespace == namespace }
    }

    /// Whether it has that name and namespace.
    package func matches(_ name: String, _ namespace: String) -> Bool {
        self.name == name && self.namespace == namespace
    }
}

/// Namespaces of the app-server protocol.
package enum Namespace {
    /// Of the root, its features and stream errors' element.
    package static let streams = "http://etherx.jabber.org/streams"
    /// Of stanzas.
    package static let client = "jabber:client"
    /// Of `gcm`, the element that holds the JSON.
    package static let gcm = "google:mobile:data"
    /// Of SASL elements.
    package static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
    /// Of resource binding.
    package static let bind = "urn:ietf:params:xml:ns:xmpp-bind"
    /// Of session establishment.
    package static let session = "urn:ietf:params:xml:ns:xmpp-session"
    /// Of XEP-0199 pings.
    package static let ping = "urn:xmpp:ping"
    /// Of XEP-0198.
    package static let streamManagement = "urn:xmpp:sm:3"
    /// Of stanza error conditions.
    package static let stanzas = "urn:ietf:params:xml:ns:xmpp-stanzas"
    /// Of stream error conditions.
    package static let streamErrors = "urn:ietf:params:xml:ns:xmpp-streams"
    /// Of `xml:lang`.
    package static let xml = "http://www.w3.org/XML/1998/namespace"
}
