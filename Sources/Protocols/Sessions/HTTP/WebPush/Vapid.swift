import Basics
import Wire

/// The credentials of an application server: a token signed with its key (RFC 8292).
struct Vapid {
    /// The signed token, as received.
    let token: [UInt8]
    /// The claimed public key: an uncompressed point.
    let publicKey: [UInt8]

    /// Parses the headers in the current form, and in the older one with the key in a header of its own.
    init(_ request: HTTPRequest) throws(RequestFault) {
        guard let header = request.header("authorization") else {
            throw RequestFault(.unauthorized, "missing Authorization: expected vapid t=…, k=…")
        }
        let scheme = header.prefix { $0 != 0x20 }
        let rest = Array(header[scheme.endIndex...].drop { $0 == 0x20 })
        var key: [UInt8]?
        if ASCII.equals(Array(scheme).raw, ignoringCase: "vapid") {
            token = HeaderParameters.value("t", in: rest) ?? []
            key = HeaderParameters.value("k", in: rest)
        } else if ASCII.equals(Array(scheme).raw, ignoringCase: "webpush") {
            token = rest
            key = request.header("crypto-key").flatMap { HeaderParameters.value("p256ecdsa", in: $0) }
        } else {
            throw RequestFault(
                .unauthorized, "unsupported scheme in Authorization: expected vapid, WebPush or key=")
        }
        guard !token.isEmpty else {
            throw RequestFault(.unauthorized, "invalid Authorization: missing token")
        }
        guard let key, let point = Base64.bytes(key.raw), point.count == 65, point[0] == 4 else {
            throw RequestFault(
                .unauthorized, "invalid Authorization: expected a P-256 public key of 65 bytes in base64url")
        }
        publicKey = point
    }

    /// Checks audience, expiry, contact and signature. Returns the origin that the token was signed for.
    ///
    /// The signature is checked last, because it is the only costly check.
    func check(settings: SessionSettings, now: UnixMilliseconds) throws(RequestFault) -> String {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64.bytes(Array(parts[2]).raw)
        else { throw RequestFault(.forbidden, "invalid Authorization: expected a JWT") }
        guard header["alg"]?.text == "ES256" else {
            throw RequestFault(.forbidden, "invalid JWT in Authorization: expected alg ES256")
        }
        // No extension is supported, and a critical one may change the meaning of the token (RFC 7515, 4.1.11).
        guard header["crit"] == nil else {
            throw RequestFault(
                .forbidden, "invalid JWT in Authorization: expected no critical extension (crit)"
            )
        }
        // One audience, or an array of several (RFC 7519, 4.1.3).
        let audiences = claims["aud"].map { $0.elements?.compactMap(\.text) ?? [$0.text ?? ""] } ?? []
        guard let audience = audiences.first(where: { Self.isOurs($0, settings.pushHosts) }) else {
            throw RequestFault(.forbidden, "invalid aud: expected the origin of an endpoint of this server")
        }
        guard let expiry = claims["exp"]?.double else {
            throw RequestFault(.forbidden, "invalid exp: expected a number")
        }
        let left = expiry - Double(now) / 1_000
        guard left > 0 else { throw RequestFault(.forbidden, "exp: the token has expired.") }
        guard left <= Double(Limits.WebPush.vapidSeconds + Limits.WebPush.vapidClockSkewSeconds) else {
            throw RequestFault(.forbidden, "invalid exp: expected at most 24 hours ahead")
        }
        if let contact = claims["sub"] {
            guard let contact = contact.text, contact.hasPrefix("mailto:") || contact.hasPrefix("https:")
            else { throw RequestFault(.forbidden, "invalid sub: expected a mailto: or https: address") }
        }
        let signed = Array(token[..<parts[1].endIndex])
        guard settings.webPush.verifies(signature, signed, publicKey) else {
            throw RequestFault(.forbidden, "invalid Authorization: the signature does not match the key")
        }
        return audience
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONValue? {
        guard let bytes = Base64.bytes(Array(part).raw), let value = try? JSONValue(parsing: bytes.raw),
            value.members != nil
        else { return nil }
        return value
    }

    /// Returns whether an origin is `https://`, a name of this server and optionally a port, and nothing else.
    ///
    /// Otherwise another push service could replay the tokens that it receives.
    static func isOurs(_ origin: String, _ hosts: [String]) -> Bool {
        guard origin.hasPrefix("https://") else { return false }
        var host = origin.dropFirst(8)
        if let colon = host.lastIndex(of: ":"), host.last != "]" {
            let port = host[host.index(after: colon)...]
            guard !port.isEmpty, port.count <= 5, port.allSatisfy({ ("0"..."9").contains($0) }) else {
                return false
            }
            host = host[..<colon]
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        return hosts.contains { $0.count == host.count && $0 == host.lowercased() }
    }
}

/// Parameters of a header: `name=value` with optional quotes, separated by commas or semicolons (RFC 9110, 5.6.6).
enum HeaderParameters {
    /// Returns the value of the first parameter with a name, or `nil` if there is none.
    static func value(_ name: StaticString, in header: [UInt8]) -> [UInt8]? {
        for part in header.split(whereSeparator: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }) {
            let part = trimmed(part)
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
                ASCII.equals(Array(trimmed(part[..<equals])).raw, ignoringCase: name)
            else { continue }
            let value = trimmed(part[(equals + 1)...])
            guard value.count >= 2, value.first == UInt8(ascii: "\""), value.last == value.first else {
                return Array(value)
            }
            return Array(value.dropFirst().dropLast())
        }
        return nil
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = text.drop { $0 == 0x20 || $0 == 0x09 }
        guard let end = start.lastIndex(where: { $0 != 0x20 && $0 != 0x09 }) else { return start.prefix(0) }
        return start[...end]
    }
}
