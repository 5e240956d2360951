import Basics

/// The header block of a request while it is decompressed, within the limits of HTTP/1.1.
struct HTTP2Head {
    let stream: Int32
    /// Whether the block holds trailers, which are counted like headers and then dropped.
    let isTrailer: Bool
    /// Bytes on the wire so far, frame headers included.
    var wireBytes = 0
    /// Decompressed bytes so far, counted as RFC 9113 counts a header list (10.5.1).
    private(set) var size = 0
    private var bytes: [UInt8] = []
    private var fields: [HTTPRequest.HeaderField] = []
    private var method: [UInt8] = []
    private var target: [UInt8] = []
    private var authority: [UInt8] = []
    private var fault: RequestFault?
    /// What was known of the request when the fault was found.
    private var knownAtFault: HTTPRequest?

    init(stream: Int32, isTrailer: Bool) {
        self.stream = stream
        self.isTrailer = isTrailer
    }

    /// Adds a field. Returns false once the block is so long that it can only be an attack.
    mutating func add(_ name: borrowing RawSpan, _ value: borrowing RawSpan) -> Bool {
        size += name.byteCount + value.byteCount + 32
        guard size <= Limits.HTTP.requestHeadBytes else {
            refuse(RequestFault(.headersTooLarge, "The headers are too long."))
            return size <= Limits.HTTP.requestHeadBytes * Limits.HTTP2.headBombFactor
        }
        guard !isTrailer, fault == nil else { return true }
        if name.byteCount > 0, name.byte(at: 0) == UInt8(ascii: ":") {
            addPseudo(name, value)
        } else if fields.count == Limits.HTTP.requestHeaders {
            refuse(RequestFault(.headersTooLarge, "The request has too many headers."))
        } else {
            let start = bytes.count
            bytes.append(contentsOf: [UInt8](copying: name))
            let middle = bytes.count
            bytes.append(contentsOf: [UInt8](copying: value))
            fields.append(.init(name: start..<middle, value: middle..<bytes.count))
        }
        return true
    }

    private mutating func addPseudo(_ name: borrowing RawSpan, _ value: borrowing RawSpan) {
        if name.equals(":method") {
            method = [UInt8](copying: value)
        } else if name.equals(":authority") {
            authority = [UInt8](copying: value)
        } else if name.equals(":path") {
            if value.byteCount > Limits.HTTP.requestLineBytes {
                refuse(RequestFault(.targetTooLong, "The path is too long."))
            } else {
                target = [UInt8](copying: value)
            }
        }
    }

    /// Records the first fault with what is known of the request, and frees the fields.
    private mutating func refuse(_ fault: RequestFault) {
        guard self.fault == nil else { return }
        knownAtFault = knownRequest
        self.fault = fault
        bytes = []
        fields = []
        target = []
        authority = []
    }

    /// Returns the fields with `:authority` as `host`, which the same request has in HTTP/1.1 (RFC 9113, 8.3.1).
    private func withHost() -> ([UInt8], [HTTPRequest.HeaderField]) {
        guard !authority.isEmpty else { return (bytes, fields) }
        let name = bytes.count..<bytes.count + 4
        let field = HTTPRequest.HeaderField(
            name: name, value: name.upperBound..<name.upperBound + authority.count)
        return (bytes + Array("host".utf8) + authority, fields + [field])
    }

    /// What is known of a request whose head is refused; `nil` before its path.
    var knownRequest: HTTPRequest? {
        guard fault == nil else { return knownAtFault }
        return try? bare(bytes, fields)
    }

    /// The request without its body, and without any check of its fields.
    private func bare(
        _ head: [UInt8], _ fields: [HTTPRequest.HeaderField]
    ) throws(RequestFault) -> HTTPRequest {
        let method = HTTPMethod(rawValue: String(decoding: method, as: UTF8.self)) ?? .other
        let (path, query) = try RequestTarget.parts(target.raw, of: method)
        return HTTPRequest(
            head: head, fields: fields, method: method, path: path, query: query, keepsAlive: true,
            delimitsBody: true)
    }

    /// Returns the request without its body, its `content-length`, and whether the peer waits for `100 Continue`.
    ///
    /// nghttp2 has checked that names and values are valid and that each pseudo-header occurs exactly once.
    func request() throws(RequestFault) -> (HTTPRequest, length: Int?, expectsContinue: Bool) {
        if let fault { throw fault }
        try SingleFields.check(fields, bytes.raw)
        var length: Int?
        var expectsContinue = false
        var host: HTTPRequest.HeaderField?
        for field in fields {
            let name = bytes.raw.extracting(field.name)
            let value = bytes.raw.extracting(field.value)
            if name.equals("content-length") {
                length = try FramingFields.length(value)
            } else if name.equals("expect") {
                guard ASCII.equals(value, ignoringCase: "100-continue") else {
                    throw RequestFault(.expectationFailed, "unsupported Expect: expected 100-continue")
                }
                expectsContinue = true
            } else if name.equals("host") {
                guard host == nil else {
                    throw RequestFault(.badRequest, "invalid Host: expected exactly one")
                }
                host = field
            }
        }
        if let host, !authority.isEmpty, !bytes[host.value].elementsEqual(authority) {
            throw RequestFault(.badRequest, "invalid Host: expected the same as :authority")
        }
        let (head, fields) = host == nil ? withHost() : (bytes, fields)
        return (try bare(head, fields), length, expectsContinue)
    }
}
