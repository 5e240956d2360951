public import Basics

/// Making of the full JID of a session (ccs-xmpp 1.6).
public enum Bind {
    /// The full JID: the resource asked for, if any, and 8 upper-case hexadecimal digits that make it unique.
    ///
    /// Nil for a resource that is too long or holds what no resource may: answer `bad-request`.
    public static func jid(
        sender: SenderID, domain: String, resource: String?, suffix: UInt32
    ) -> String? {
        let resource = resource ?? ""
        // The suffix counts: what is bound must itself be a legal resource.
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
