import Wire

/// Reads the server's stream as a careless client library does: it searches for known tags and checks nothing.
///
/// Most connections use it, since expat would dominate the cost of a login; the others read as strictly as the server does. It
/// relies on the server escaping `>` everywhere.
struct HastyReader {
    /// A complete part of the stream.
    enum Found {
        case opened
        case closed
        case element(Element)
        /// The text of `gcm`, still escaped.
        case message(payload: [UInt8], isError: Bool)
    }

    private var held: [UInt8] = []
    private var at = 0

    /// Appends received bytes.
    mutating func append(_ bytes: [UInt8]) {
        if at == held.count {
            held = bytes
        } else {
            held.removeFirst(at)
            held += bytes
        }
        at = 0
    }

    /// Returns the next complete part, or `nil` if there is none.
    mutating func next() -> Found? {
        while at < held.count, held[at] != UInt8(ascii: "<") { at += 1 }
        guard let tagEnd = held[at...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let tag = held[at + 1..<tagEnd]
        let name = tag.prefix { $0 != 0x20 && $0 != UInt8(ascii: "/") || $0 == tag.first }
        if name.elementsEqual("stream:stream".utf8) {
            at = tagEnd + 1
            return .opened
        }
        if name.first == UInt8(ascii: "/") {
            at = tagEnd + 1
            return .closed
        }
        if tag.last == UInt8(ascii: "/") {
            at = tagEnd + 1
            return .element(element(tag.dropLast(), name, text: []))
        }
        let ending = Array("</".utf8) + name + [UInt8(ascii: ">")]
        guard let end = find(ending, from: tagEnd) else { return nil }
        let inside = held[tagEnd + 1..<end]
        at = end + ending.count
        guard name.elementsEqual("message".utf8) else {
            let text = inside.first == UInt8(ascii: "<") ? [] : inside
            return .element(element(tag, name, text: text))
        }
        let payload = inside.drop { $0 != UInt8(ascii: ">") }.dropFirst().prefix { $0 != UInt8(ascii: "<") }
        return .message(
            payload: Self.plain(payload), isError: Self.isError(tag))
    }

    private static let error = Array("type=\"error\"".utf8)

    private static func isError(_ tag: ArraySlice<UInt8>) -> Bool {
        guard tag.count >= error.count else { return false }
        for at in tag.startIndex...tag.endIndex - error.count
        where tag[at] == error[0] && tag[at..<at + error.count].elementsEqual(error) { return true }
        return false
    }

    private func find(_ wanted: [UInt8], from start: Int) -> Int? {
        var at = start
        while at + wanted.count <= held.count {
            if held[at] == wanted[0], held[at..<at + wanted.count].elementsEqual(wanted) { return at }
            at += 1
        }
        return nil
    }

    private func element(_ tag: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>, text: ArraySlice<UInt8>)
        -> Element
    {
        let local = name.split(separator: UInt8(ascii: ":")).last ?? name
        let isOfStream = local.count < name.count && name.starts(with: "stream".utf8)
        var element = Element(
            name: String(decoding: local, as: UTF8.self), namespace: isOfStream ? Namespace.streams : "",
            text: String(decoding: text, as: UTF8.self))
        let parts = tag.dropFirst(name.count).split(
            separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        for at in stride(from: 0, to: parts.count - 1, by: 2) {
            let key = String(decoding: parts[at].drop { $0 == 0x20 }.dropLast(), as: UTF8.self)
            element.attributes.append(.init(name: key, value: String(decoding: parts[at + 1], as: UTF8.self)))
        }
        return element
    }

    /// Resolves the references that JSON text can contain.
    private static func plain(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "&")) else { return Array(text) }
        var plain: [UInt8] = []
        var rest = text
        while let first = rest.first {
            let known: [(StaticString, UInt8)] = [
                ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")), ("&amp;", UInt8(ascii: "&")),
            ]
            if first == UInt8(ascii: "&"), let hit = known.first(where: { rest.starts(with: "\($0.0)".utf8) })
            {
                plain.append(hit.1)
                rest = rest.dropFirst(hit.0.utf8CodeUnitCount)
            } else {
                plain.append(first)
                rest = rest.dropFirst()
            }
        }
        return plain
    }
}
