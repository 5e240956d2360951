package import Basics

/// What the server offers at each stage; the exact bytes, which several clients match on (ccs-xmpp 1.4).
package enum Features {
    /// Appends the offer before login.
    package static func appendBeforeLogin(to buffer: inout ByteBuffer) {
        buffer.append(
            """
            <stream:features><mechanisms xmlns="urn:ietf:params:xml:ns:xmpp-sasl"><mechanism>X-OAUTH2</mechanism>\
            <mechanism>X-GOOGLE-TOKEN</mechanism><mechanism>PLAIN</mechanism></mechanisms></stream:features>
            """)
    }

    /// Appends the offer after login.
    package static func appendAfterLogin(to buffer: inout ByteBuffer) {
        buffer.append(
            """
            <stream:features><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/>\
            <session xmlns="urn:ietf:params:xml:ns:xmpp-session"/></stream:features>
            """)
    }
}
