import Basics
import Delivery
import Wire

/// What the bytes of the last request on a connection mean: most clients send the same path and the same credentials again.
///
/// Nothing in it depends on the senders: whether they accept the credentials is looked up for each request. Credentials are compared in
/// constant time, since a proxy may send the requests of several clients over one connection.
final class RecentRequest {
    /// The endpoints of a path, with the values of their parameters.
    typealias Found = [(endpoint: HTTPEndpoint, captured: [[UInt8]])]

    private var path: (text: [UInt8], found: Found)?
    private var key: (text: [UInt8], digest: SecretDigest)?
    private var token: (text: [UInt8], content: AccessToken)?

    /// Returns the endpoints of a path; `nil` if an escape in it is malformed.
    func endpoints(at text: [UInt8], among all: [HTTPEndpoint]) -> Found? {
        if let path, path.text == text { return path.found }
        guard let found = HTTPPath(text)?.found(in: all) else { return nil }
        if Self.mayKeep(text) { path = (text, found) }
        return found
    }

    /// Returns the digest of a server key.
    func digest(ofKey text: [UInt8], _ digest: ([UInt8]) -> SecretDigest) -> SecretDigest {
        if let key, ConstantTime.equal(key.text, text) { return key.digest }
        let made = digest(text)
        if Self.mayKeep(text) { key = (text, made) }
        return made
    }

    /// Returns the content of an access token; `nil` if this server did not seal it.
    func accessToken(_ text: [UInt8], _ seal: TokenSeal) -> AccessToken? {
        if let token, ConstantTime.equal(token.text, text) { return token.content }
        guard let content = seal.accessToken(text.raw) else { return nil }
        token = (text, content)
        return content
    }

    /// Long ones are not kept: anyone can send them.
    private static func mayKeep(_ text: [UInt8]) -> Bool { text.count <= Limits.HTTP.recentTextBytes }
}
