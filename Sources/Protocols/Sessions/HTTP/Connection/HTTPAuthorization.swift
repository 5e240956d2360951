import Basics
import Delivery
import Wire

/// Credentials in the `Authorization` header of the interfaces for app servers (http 1.3).
enum HTTPAuthorization {
    /// Returns the server key in a header, in any form in use, or `nil` if there is none.
    static func serverKey(_ header: [UInt8]?) -> [UInt8]? {
        guard let header, header.count > 4, ASCII.equals(header.raw.extracting(0..<3), ignoringCase: "key"),
            header[3] == UInt8(ascii: "=") || header[3] == UInt8(ascii: ":")
        else { return nil }
        let key = header[4...].drop { $0 == 0x20 }
        return key.isEmpty ? nil : Array(key)
    }

    /// Returns the access token in a header, or `nil` if there is none.
    static func bearer(_ header: [UInt8]?) -> [UInt8]? {
        guard let header, header.count > 7,
            ASCII.equals(header.raw.extracting(0..<7), ignoringCase: "bearer ")
        else { return nil }
        let token = header[7...].drop { $0 == 0x20 }
        return token.isEmpty ? nil : Array(token)
    }
}

/// Why an access token is refused.
enum BearerFault: Error {
    /// The token is missing or was not issued by this server, or its account was deleted.
    case invalid
    /// The token has expired, and is valid otherwise.
    case expired
    /// The token is valid, but an operator has suspended the sender of its account.
    case suspended
    /// This node may not have what makes the token valid.
    case unavailable
}

extension HTTPSession {
    /// Returns the sender whose service account was granted the access token in an `Authorization` header (http 1.3).
    func project(of authorization: [UInt8]?, _ now: Now) throws(BearerFault) -> SenderRecord {
        guard let text = HTTPAuthorization.bearer(authorization),
            let token = recent.accessToken(text, settings.seal),
            let record = settings.accounts.record(token.sender),
            record.accounts.contains(where: { settings.seal.mark(ofKeyID: $0.keyID) == token.account })
        else { throw settings.areSendersCurrent(now) ? .invalid : .unavailable }
        guard token.expiresAt > now.wall else { throw .expired }
        guard !record.isSuspended else { throw settings.areSendersCurrent(now) ? .suspended : .unavailable }
        markAuthenticated()
        return record
    }

    /// Returns the account of a request of the older interfaces, by a server key, or by an access token that
    /// `access_token_auth` announces (http 1.3). Throws the answer if the request has neither.
    func sender(of request: HTTPRequest, _ now: Now) throws(HTTPRefusal) -> SenderID {
        if let word = request.header("access_token_auth"), ASCII.equals(word.raw, ignoringCase: "true"),
            let record = try? project(of: request.header("authorization"), now)
        {
            return record.sender
        }
        guard let key = HTTPAuthorization.serverKey(request.header("authorization")) else {
            throw HTTPRefusal(.unauthorizedPage)
        }
        let digest = recent.digest(ofKey: key, settings.digest)
        guard let sender = settings.senderOfKey(digest, now.wall) else {
            guard settings.areSendersCurrent(now) else { throw HTTPRefusal(.uncertainPage) }
            throw HTTPRefusal(settings.isKeySuspended(digest, now.wall) ? .suspendedPage : .unauthorizedPage)
        }
        markAuthenticated()
        return sender
    }
}

/// The answer to a request that is refused without the core.
struct HTTPRefusal: Error {
    var response: HTTPResponse

    init(_ response: HTTPResponse) { self.response = response }
}

extension HTTPResponse {
    /// The answer of the legacy interfaces without a valid key: clients look for "Unauthorized" (http 2.7, 2.8).
    static let unauthorizedPage = unauthorized(
        "The request needs the server key of a sender: Authorization: key=SERVER_KEY")

    /// The answer of the legacy interfaces to the valid key of a suspended sender: as at Google, the same status as without a key.
    static let suspendedPage = unauthorized("The sender of this server key is suspended.")

    /// The answer of the legacy interfaces while this node may not have the key: as for any server that is unavailable (http 2.7).
    static let uncertainPage = HTTPResponse(
        .unavailable, HTTPResponse.text,
        Array("The server does not have the latest changes to its senders, try again.\n".utf8))

    private static func unauthorized(_ text: String) -> HTTPResponse {
        HTTPResponse(
            .unauthorized, "text/html; charset=UTF-8",
            Array(
                ("<HTML><HEAD><TITLE>Unauthorized</TITLE></HEAD><BODY><H1>Unauthorized</H1><H2>Error 401</H2>"
                    + "<P>\(text)</P></BODY></HTML>\n").utf8))
    }

    /// Returns the answer to a request of the legacy interface that is refused as a whole (http 2.7).
    static func legacy(_ fault: LegacyFault) -> HTTPResponse {
        HTTPResponse(.badRequest, text, Array(fault.text.utf8) + [0x0A])
    }
}
