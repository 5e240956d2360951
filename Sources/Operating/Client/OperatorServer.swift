import Basics
import Transport

/// A daemon that is reached over its operator API: the address, and the token of an operator.
public struct OperatorServer: Sendable {
    /// The URL, for messages.
    public let name: String
    let endpoint: Endpoint
    let token: Redacted<String>

    /// Resolves the URL of a server, and reads the token of an operator and the authorities that are trusted.
    ///
    /// `https` is required, except on loopback. Without a file of authorities those of the system are trusted.
    public init(url: String, tokenFile: String, authorityFile: String?) throws(Failure) {
        guard let parts = Self.parts(of: url) else {
            throw Failure(
                .usage, "invalid --server \"\(Printable.text(url, limit: Limits.Config.shownCharacters))\"",
                hint: "expected https://HOST:PORT, with the admin_port of the server")
        }
        name = url
        token = try KeyFile.readToken(tokenFile)
        do throws(TransportError) {
            let tls =
                parts.isTLS
                ? try TLSClientSettings(trust: authorityFile.map { .file($0) } ?? .system) : nil
            endpoint = try Endpoint(host: parts.host, port: parts.port, tls: tls)
        } catch { throw Failure(error) }
        guard parts.isTLS || endpoint.address.isLoopback else {
            throw Failure(
                .usage, "--server \(url) has no TLS, which would send the token in plain text",
                hint: "use https; the server needs admin_tls: true")
        }
    }

    /// Splits `https://HOST:PORT`. Returns `nil` for anything else.
    static func parts(of url: String) -> (isTLS: Bool, host: String, port: UInt16)? {
        let isTLS = url.hasPrefix("https://")
        guard isTLS || url.hasPrefix("http://") else { return nil }
        var rest = url.dropFirst(isTLS ? 8 : 7)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains(where: { "/?#@".contains($0) }) else { return nil }
        var host = rest
        var port: UInt16 = isTLS ? 443 : 80
        if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
            guard let number = UInt16(rest[rest.index(after: colon)...]), number > 0 else { return nil }
            port = number
            host = rest[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains("[") else { return nil }
        return (isTLS, String(host), port)
    }
}
