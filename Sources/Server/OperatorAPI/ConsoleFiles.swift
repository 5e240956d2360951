import Basics
import Catalogue
import Console
import Sessions
import Transport
import Wire

/// The files of the console below `/console/`. Their bytes are part of the program; a response has a copy while it is sent.
struct ConsoleFiles: Sendable {
    /// The beginning of every path.
    static let prefix = "/console"

    /// What a page may load: only files and answers of this server, and no text as markup.
    static let policy: StaticString =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

    private struct File {
        let contentType: StaticString
        let entityTag: String
        /// The position among the embedded files; `nil` for the printed tables.
        let position: Int?
    }

    /// The files of this program, listed at the first request.
    static let embedded = ConsoleFiles()

    private var files: [String: File] = [:]
    private let tables: [UInt8]

    /// Lists the embedded files, and prints the tables.
    init() {
        tables = Array(ConsoleTables.script(errors: XMPPReference.errorCodes).utf8)
        for position in 0..<console_count() {
            let path = unsafe String(cString: console_file(position).pointee.path)
            files[path] = File(
                contentType: Self.contentType(of: path),
                entityTag: Self.entityTag(of: Self.bytes(at: position)),
                position: position)
        }
        let path = "js/tables.js"
        files[path] = File(
            contentType: Self.contentType(of: path), entityTag: Self.entityTag(of: tables), position: nil)
    }

    /// Returns the response to a request; a browser that has the file gets 304.
    func response(to request: HTTPRequest) -> HTTPResponse {
        guard request.method == .get || request.method == .head else {
            return HTTPResponse(
                .methodNotAllowed, HTTPResponse.text, Array("expected GET or HEAD\n".utf8),
                extra: ("Allow", "GET, HEAD"))
        }
        let rest = String(decoding: request.path.dropFirst(Self.prefix.utf8.count), as: UTF8.self)
        let path = rest.isEmpty || rest == "/" ? "index.html" : String(rest.dropFirst())
        guard rest.isEmpty || rest.hasPrefix("/"), let file = files[path] else {
            return HTTPResponse(
                .notFound, HTTPResponse.text,
                Array("there is no such file; the console is at \(Self.prefix)/\n".utf8))
        }
        let known = String(decoding: request.header("if-none-match") ?? [], as: UTF8.self)
        var response = HTTPResponse(.notModified, file.contentType, [])
        if !known.contains(file.entityTag) {
            response = HTTPResponse(.ok, file.contentType, file.position.map(Self.bytes) ?? tables)
        }
        response.file = BrowserFile(entityTag: file.entityTag, policy: Self.policy)
        return response
    }

    private static func bytes(at position: Int) -> [UInt8] {
        let file = unsafe console_file(position).pointee
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }

    private static func entityTag(of bytes: [UInt8]) -> String {
        "\"\(Hex.text(Array(Digest.sha256(bytes).prefix(12))))\""
    }

    private static func contentType(of path: String) -> StaticString {
        switch path.split(separator: ".").last {
        case "html": "text/html; charset=UTF-8"
        case "css": "text/css; charset=UTF-8"
        case "js": "text/javascript; charset=UTF-8"
        default: "image/svg+xml"
        }
    }
}
