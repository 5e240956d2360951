import Basics
import Catalogue
import Compression
import Console
import Reference
import Transport
import Wire

/// The files of the console below `/console/`. Their bytes are part of the program; a response has a copy while it is sent.
///
/// The page loads one script and one style sheet, and another script with its other pages, whose names have a hash of their content, so a
/// browser keeps them. The modules that the scripts are made of are files as well.
struct ConsoleFiles: Sendable {
    /// The beginning of every path.
    static let prefix = "/console"

    /// What a page may load: only files and answers of this server, and no text as markup.
    static let policy: StaticString =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

    private struct File {
        let contentType: StaticString
        let caching: BrowserFile.Caching
        let content: Content
        /// The content with gzip, and its tag; `nil` if it is not sent that way.
        let compressed: Content?
    }

    private struct Content {
        let bytes: [UInt8]
        let entityTag: String

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            entityTag = "\"\(ConsoleFiles.hash(bytes))\""
        }
    }

    /// The files of this program, listed at the first request.
    static let embedded = ConsoleFiles()

    private var files: [String: File] = [:]

    /// Lists the embedded files, prints the tables, and makes the page, its scripts and its styles.
    init() {
        var texts = ["js/tables.js": ConsoleTables.script(errors: XMPPReference.errorCodes)]
        for position in 0..<console_count() {
            let path = unsafe String(cString: console_file(position).pointee.path)
            texts[path] = String(decoding: Self.bytes(at: position), as: UTF8.self)
        }
        for (path, text) in texts { add(path, text, .revalidated) }
        let page = ConsoleBundle.page(texts["index.html"] ?? "", prefix: "\(Self.prefix)/")
        let style = page.styles.compactMap { texts[$0] }.joined()
        // The modules are part of the program, and a test makes the same of them: without scripts the page loads the modules.
        guard
            let scripts = try? ConsoleBundle.scripts(
                entry: page.entry, modules: texts, address: { Self.address(of: $0, "js") })
        else { return }
        let made = [
            (Self.address(of: style, "css"), style), (Self.address(of: scripts.first, "js"), scripts.first),
        ]
        for (address, text) in made { add(address, text) }
        if let late = scripts.late { add(late.address, late.text) }
        add("index.html", page.with(style: made[0].0, script: made[1].0), .revalidated)
    }

    /// The address of a file with a hash of its content.
    private static func address(of text: String, _ kind: String) -> String {
        "\(prefix)/console-\(hash(Array(text.utf8))).\(kind)"
    }

    private mutating func add(_ address: String, _ text: String) {
        add(String(address.dropFirst(Self.prefix.count + 1)), text, .immutable)
    }

    private mutating func add(_ path: String, _ text: String, _ caching: BrowserFile.Caching) {
        let bytes = Array(text.utf8)
        files[path] = File(
            contentType: Self.contentType(of: path), caching: caching, content: Content(bytes),
            // Modules are read by people alone.
            compressed: caching == .immutable ? Gzip.compressed(bytes).map(Content.init) : nil)
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
        let isCompressed = AcceptedCoding.hasGzip(request.header("accept-encoding") ?? [])
        let content = isCompressed ? file.compressed ?? file.content : file.content
        let known = String(decoding: request.header("if-none-match") ?? [], as: UTF8.self)
        var response = HTTPResponse(.notModified, file.contentType, [])
        if !known.contains(content.entityTag) {
            response = HTTPResponse(.ok, file.contentType, content.bytes)
        }
        response.file = BrowserFile(
            entityTag: content.entityTag, policy: Self.policy, caching: file.caching,
            coding: isCompressed && file.compressed != nil ? .gzip : .identity)
        return response
    }

    private static func bytes(at position: Int) -> [UInt8] {
        let file = unsafe console_file(position).pointee
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }

    private static func hash(_ bytes: [UInt8]) -> String {
        Hex.text(Array(Digest.sha256(bytes).prefix(12)))
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
