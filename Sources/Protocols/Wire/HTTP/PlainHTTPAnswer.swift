public import Basics

/// The answer to a client that speaks HTTP without TLS at a port with TLS: the URL that it should use.
///
/// No redirect: a client that follows one sends its credentials in clear text again and again, unnoticed.
public enum PlainHTTPAnswer {
    /// Returns the bytes of the answer to the first bytes of a client. Returns `nil` if they do not begin an HTTP request.
    public static func answer(to bytes: RawSpan, at now: UnixMilliseconds) -> [UInt8]? {
        guard beginsRequest(bytes) else { return nil }
        let text = "This port has TLS, and the request has none: use \(url(of: bytes))\n"
        let response = HTTPResponse(.badRequest, HTTPResponse.text, Array(text.utf8))
        var out = ByteBuffer()
        response.append(at: now, closes: true, to: &out)
        return out.copied()
    }

    /// Returns whether bytes begin with a method in upper case, and a path.
    private static func beginsRequest(_ bytes: RawSpan) -> Bool {
        var count = 0
        while count < bytes.byteCount, (0x41...0x5A).contains(bytes.byte(at: count)) { count += 1 }
        guard (3...7).contains(count), count + 1 < bytes.byteCount else { return false }
        return bytes.byte(at: count) == 0x20 && bytes.byte(at: count + 1) == UInt8(ascii: "/")
    }

    /// Returns the URL that the client should use: its host and port with https. It stays general if the head is not complete or
    /// names no host.
    private static func url(of bytes: RawSpan) -> String {
        var reader = RequestReader()
        reader.append(bytes)
        guard let request = (try? reader.next()) ?? reader.openHead, let host = request.header("host"),
            !host.isEmpty,
            host.allSatisfy(isHostByte)
        else { return "https://" }
        return "https://" + String(decoding: host, as: UTF8.self) + "/"
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: false
        }
    }
}
