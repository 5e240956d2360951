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
}

extension HTTPSession {
    /// The account whose server key a request carries; throws the answer to one that carries none.
    func sender(of request: HTTPRequest, _ now: Now) throws(HTTPRefusal) -> SenderID {
        guard let key = HTTPAuthorization.serverKey(request.header("authorization")),
            let sender = settings.senderOfKey(settings.digest(key), now.wall)
        else { throw HTTPRefusal(.unauthorizedPage) }
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
