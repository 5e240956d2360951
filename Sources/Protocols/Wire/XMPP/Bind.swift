public import Basics

/// Generation of the full JID of a session (ccs-xmpp 1.6).
public enum Bind {
    /// Returns the full JID: the requested resource, if any, and 8 upper-case hexadecimal digits that make it unique.
    ///
    /// Returns `nil` if the resource is too long or contains a forbidden character; the answer is then `bad-request`.
    public static func jid(
        sender: SenderID, domain: String, resource: String?, suffix: UInt32
    ) -> String? {
        let resource = resource ?? ""
        // The suffix counts, since the bound JID must itself have a legal resource.
        guard resource.utf8.count + 8 <= Limits.AppServer.resourceBytes,
            resource.unicodeScalars.allSatisfy({ !isForbidden($0) })
        else { return nil }
        var buffer = ByteBuffer()
        buffer.append(decimal: sender.number)
        buffer.append("@")
        buffer.append(text: domain)
        buffer.append("/")
        buffer.append(text: resource)
        Hex.appendUpper(suffix, to: &buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    /// Controls and non-characters, which resourceprep prohibits.
    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .privateUse, .unassigned, .surrogate, .lineSeparator, .paragraphSeparator: true
        case .spaceSeparator: scalar != " "
        default: false
        }
    }
}
