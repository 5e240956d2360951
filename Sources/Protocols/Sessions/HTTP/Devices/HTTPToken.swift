import Basics
import Delivery
import Wire

/// The token endpoint: grants an access token for an assertion signed by a service account (RFC 7523, http 9.1).
extension HTTPSession {
    private static let grantType: StaticString = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    func grantToken(_ request: HTTPRequest, _ now: Now) -> Outcome {
        do throws(TokenFault) {
            guard let form = try? FormBody(request.body.raw) else {
                throw TokenFault(
                    "invalid_request", "invalid body: expected application/x-www-form-urlencoded")
            }
            guard let type = form["grant_type"] else {
                throw TokenFault("invalid_request", "Required parameter is missing: grant_type")
            }
            guard type.raw.equals(Self.grantType) else {
                throw TokenFault(
                    "unsupported_grant_type", "unsupported grant_type: expected \(Self.grantType)")
            }
            guard let assertion = form["assertion"], !assertion.isEmpty else {
                throw TokenFault("invalid_request", "Required parameter is missing: assertion")
            }
            let (sender, account) = try Assertion(assertion).check(settings, now)
            let token = AccessToken(
                sender: sender, account: settings.seal.mark(ofKeyID: account.keyID),
                expiresAt: now.wall + Int64(Limits.HTTP.accessTokenSeconds) * 1_000)
            var body = ByteBuffer()
            body.append("{\"access_token\":\"")
            body.append(settings.seal.text(of: token))
            body.append("\",\"expires_in\":")
            // One second less, for the time that the answer takes, as with the real service.
            body.append(decimal: Limits.HTTP.accessTokenSeconds - 1)
            body.append(",\"token_type\":\"Bearer\"}")
            return .answer(HTTPResponse(.ok, HTTPResponse.json, body.copied()))
        } catch {
            return .answer(error.response)
        }
    }
}

/// The error answer of the token endpoint (RFC 6749, 5.2).
struct TokenFault: Error {
    var status: HTTPStatus
    var word: StaticString
    var reason: String

    init(_ word: StaticString, _ reason: String, status: HTTPStatus = .badRequest) {
        self.status = status
        self.word = word
        self.reason = reason
    }

    var response: HTTPResponse {
        var body = ByteBuffer()
        body.append("{\"error\":\"")
        body.append(word)
        body.append("\",\"error_description\":")
        JSONWriter.append(text: reason, to: &body)
        body.append("}")
        return HTTPResponse(status, HTTPResponse.json, body.copied())
    }
}

/// The JWT that a service account has signed.
private struct Assertion {
    private let signed: [UInt8]
    private let signature: [UInt8]
    private let header: JSONValue
    private let claims: JSONValue

    init(_ text: [UInt8]) throws(TokenFault) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64.bytes(Array(parts[2]).raw)
        else {
            throw TokenFault(
                "invalid_grant",
                "Invalid JWT: expected three parts, a JSON header, JSON claims and a signature.")
        }
        signed = Array(text[..<parts[1].endIndex])
        self.signature = signature
        self.header = header
        self.claims = claims
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONValue? {
        guard let bytes = Base64.bytes(Array(part).raw), let value = try? JSONValue(parsing: bytes.raw),
            value.members != nil
        else { return nil }
        return value
    }

    /// Checks account, signature, audience, time and scope. Returns the account that the token is granted to.
    ///
    /// The signature is checked before the claims, so that an unauthenticated peer finds out nothing about an account but that
    /// its key exists.
    func check(_ settings: SessionSettings, _ now: Now) throws(TokenFault) -> (SenderID, ServiceAccount) {
        guard header["alg"]?.text == "RS256" else {
            throw TokenFault("invalid_grant", "Invalid JWT: expected alg RS256.")
        }
        // No extension is supported, and a critical one may change the meaning of the token (RFC 7515, 4.1.11).
        guard header["crit"] == nil else {
            throw TokenFault("invalid_grant", "Invalid JWT: expected no critical extension (crit).")
        }
        guard let keyID = header["kid"]?.text, let found = settings.accounts.account(keyID) else {
            guard settings.areSendersCurrent(now) else {
                throw TokenFault(
                    "temporarily_unavailable",
                    "The server does not have the latest changes to its accounts, try again.",
                    status: .unavailable)
            }
            throw TokenFault("invalid_grant", "Invalid grant: account not found")
        }
        guard settings.accounts.verifies(signature, signed, found.account.publicKey) else {
            throw TokenFault("invalid_grant", "Invalid JWT Signature.")
        }
        guard claims["iss"]?.text == found.account.email else {
            throw TokenFault("invalid_grant", "Invalid JWT: iss is not the account that the key belongs to.")
        }
        guard audiences.contains(where: { Self.isOurs($0, settings.pushHosts) }) else {
            throw TokenFault("invalid_grant", "Invalid JWT: Failed audience check.")
        }
        try checkTime(Double(now.machineWall) / 1_000)
        guard let scope = claims["scope"]?.text,
            scope.split(separator: " ").contains(where: { Self.scopes.contains(String($0)) })
        else {
            throw TokenFault(
                "invalid_scope",
                "Invalid OAuth scope: expected one of \(Self.scopes.joined(separator: ", ")).")
        }
        return (found.sender.sender, found.account)
    }

    private static let scopes = [
        "https://www.googleapis.com/auth/firebase.messaging",
        "https://www.googleapis.com/auth/cloud-platform",
    ]

    private func checkTime(_ now: Double) throws(TokenFault) {
        let skew = Double(Limits.HTTP.assertionSkewSeconds)
        guard let issued = claims["iat"]?.double, let expiry = claims["exp"]?.double, issued <= now + skew,
            expiry >= now - skew, expiry > issued,
            expiry - issued <= Double(Limits.HTTP.accessTokenSeconds) + skew
        else {
            throw TokenFault(
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
            )
        }
    }

    /// `aud`: a string, or an array of strings.
    private var audiences: [String] {
        if let one = claims["aud"]?.text { return [one] }
        return claims["aud"]?.elements?.compactMap(\.text) ?? []
    }

    /// Returns whether an audience is a URL of this endpoint, or one of Google's, which libraries use whatever URL is in their key
    /// file.
    private static func isOurs(_ audience: String, _ hosts: [String]) -> Bool {
        if [
            "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
            "https://accounts.google.com/o/oauth2/token",
        ].contains(audience) {
            return true
        }
        return HTTPEndpoint.tokenPaths.contains { path in
            audience.hasSuffix(path) && Vapid.isOurs(String(audience.dropLast(path.utf8.count)), hosts)
        }
    }
}
