import Basics
import Delivery
import Wire

/// Who asks, by the `Authorization` header of the interfaces for app servers (http 1.3).
enum HTTPAuthorization {
    /// The server key in a header, in every form that is in use; nil where there is none.
    static func serverKey(_ header: [UInt8]?) -> [UInt8]? {
        guard let header, header.count > 4, ASCII.equals(header.raw.extracting(0..<3), ignoringCase: "key"),
            header[3] == UInt8(ascii: "=") || header[3] == UInt8(ascii: ":")
        else { return nil }
        let key = header[4...].drop { $0 == 0x20 }
        return key.isEmpty ? nil : Array(key)
    }

    /// The access token in a header; nil where there is none.
    static func bearer(_ header: [UInt8]?) -> [UInt8]? {
        guard let header, header.count > 7,
            ASCII.equals(header.raw.extracting(0..<7), ignoringCase: "bearer ")
        else { return nil }
        let token = header[7...].drop { $0 == 0x20 }
        return token.isEmpty ? nil : Array(token)
    }
}

/// Why an access token is not taken.
enum BearerFault: Error {
    /// There is none, it was not made here, or its account is gone.
    case invalid
    /// Its time is over, and nothing else is wrong with it.
    case expired
}

extension HTTPSession {
    /// The sender whose service account has been granted the access token in an `Authorization` header (http 1.3).
    func project(of authorization: [UInt8]?, _ now: Now) throws(BearerFault) -> SenderRecord {
        guard let text = HTTPAuthorization.bearer(authorization),
            let token = settings.seal.accessToken(text.raw),
            let record = settings.accounts.record(token.sender), !record.isSuspended,
            record.accounts.contains(where: { settings.seal.mark(ofKeyID: $0.keyID) == token.account })
        else { throw .invalid }
        guard token.expiresAt > now.wall else { throw .expired }
        noteSender()
        return record
    }

    /// The account that a request of the older interfaces is for, by a server key, or by an access token that
    /// `access_token_auth` announces (http 1.3); throws the answer to one that carries neither.
    func sender(of request: HTTPRequest, _ now: Now) throws(HTTPRefusal) -> SenderID {
        if let word = request.header("access_token_auth"), ASCII.equals(word.raw, ignoringCase: "true"),
            let record = try? project(of: request.header("authorization"), now)
        {
            return record.sender
        }
        guard let key = HTTPAuthorization.serverKey(request.header("authorization")),
            let sender = settings.senderOfKey(settings.digest(key), now.wall)
        else { throw HTTPRefusal(.unauthorizedPage) }
        noteSender()
        return sender
    }
}

/// The answer to a request that is refused before anything is asked of the core.
struct HTTPRefusal: Error {
    var response: HTTPResponse

    init(_ response: HTTPResponse) { self.response = response }
}

extension HTTPResponse {
    /// What the legacy interfaces answer without a valid key: clients look for the word (http 2.7, 2.8).
    static let unauthorizedPage = HTTPResponse(
        .unauthorized, "text/html; charset=UTF-8",
        Array(
            ("<HTML><HEAD><TITLE>Unauthorized</TITLE></HEAD><BODY><H1>Unauthorized</H1><H2>Error 401</H2>"
                + "<P>The request needs the server key of a sender: Authorization: key=SERVER_KEY</P></BODY></HTML>\n")
                .utf8))

    /// A request of the legacy interface that is refused as a whole (http 2.7).
    static func legacy(_ fault: LegacyFault) -> HTTPResponse {
        HTTPResponse(.badRequest, text, Array(fault.text.utf8) + [0x0A])
    }
}
