public import Basics

/// The stream features before and after login, in the exact bytes that several clients match on (ccs-xmpp 1.4).
public enum Features {
    /// Which SCRAM-SHA-256 mechanisms are offered.
    public enum SCRAMOffer: Sendable, Equatable {
        /// Nothing.
        case none
        /// The mechanism without channel binding.
        case plain
        /// The mechanism, and -PLUS with channel binding.
        case bound
    }

    /// Appends the features before login; without SCRAM they are those of the real service.
    public static func appendBeforeLogin(scram: SCRAMOffer = .none, to buffer: inout ByteBuffer) {
        buffer.append(#"<stream:features><mechanisms xmlns="urn:ietf:params:xml:ns:xmpp-sasl">"#)
        if scram == .bound { buffer.append("<mechanism>SCRAM-SHA-256-PLUS</mechanism>") }
        if scram != .none { buffer.append("<mechanism>SCRAM-SHA-256</mechanism>") }
        buffer.append(
            """
            <mechanism>X-OAUTH2</mechanism><mechanism>X-GOOGLE-TOKEN</mechanism>\
            <mechanism>PLAIN</mechanism></mechanisms>
            """)
        if scram == .bound {
            buffer.append(
                """
                <sasl-channel-binding xmlns="urn:xmpp:sasl-cb:0"><channel-binding type="tls-exporter"/>\
                </sasl-channel-binding>
                """)
        }
        buffer.append("</stream:features>")
    }

    /// Appends the features after login.
    public static func appendAfterLogin(
        offersStreamManagement: Bool = false, to buffer: inout ByteBuffer
    ) {
        buffer.append(
            """
            <stream:features><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/>\
            <session xmlns="urn:ietf:params:xml:ns:xmpp-session"/>
            """)
        if offersStreamManagement { buffer.append(#"<sm xmlns="urn:xmpp:sm:3"/>"#) }
        buffer.append("</stream:features>")
    }
}
