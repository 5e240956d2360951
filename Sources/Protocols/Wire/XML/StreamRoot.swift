import Basics

/// The root element of an open stream: the namespace context of its stanzas.
struct StreamRoot {
    /// Whether unprefixed stanzas are `jabber:client`, as with all known clients.
    var isUsual = true
    /// The start tag for parsing a stanza by itself; `nil` for the usual one.
    private var unusualProlog: [UInt8]?
    /// The name of the root with its prefix; `nil` for `stream:stream`.
    private var unusualName: [UInt8]?

    private static let usualProlog = Array(
        "<stream:stream xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">".utf8)

    /// The start tag that precedes a stanza which is parsed by itself.
    var prolog: [UInt8] { unusualProlog ?? Self.usualProlog }

    /// Parses and checks a header (ccs-xmpp 1.3); a self-closed one also opens the stream.
    static func open(
        _ frame: borrowing RawSpan, isEmptyTag: Bool
    ) throws(XMLFailure) -> (root: StreamRoot, header: StreamHeader) {
        var tag = [UInt8](copying: frame)
        if isEmptyTag { tag.replaceSubrange((tag.count - 2)..., with: [UInt8(ascii: ">")]) }
        let (element, declared) = try ElementParser.root(tag.raw)
        guard element.namespace == Namespace.streams else { throw .invalidNamespace }
        guard element.name == "stream" else { throw .badFormat }
        let defaultNamespace = declared.last { $0.prefix.isEmpty }?.uri ?? ""
        guard [Namespace.client, "", Namespace.streams].contains(defaultNamespace) else {
            throw .invalidNamespace
        }
        let header = StreamHeader(element, defaultNamespace: defaultNamespace)
        guard header.majorVersion ?? 1 <= 1 else { throw .unsupportedVersion }
        var root = StreamRoot()
        root.isUsual = defaultNamespace == Namespace.client
        let name = Array(tag.dropFirst().prefix { $0.isNameByte })
        if name != Array("stream:stream".utf8) { root.unusualName = name }
        let isUsualSet =
            declared.count == 2 && root.isUsual
            && declared.contains { $0.prefix == "stream" && $0.uri == Namespace.streams }
        if !isUsualSet || root.unusualName != nil {
            root.unusualProlog = prolog(name: name, declared: declared)
        }
        return (root, header)
    }

    /// Whether an end tag is that of the root.
    func isEnded(by tag: borrowing RawSpan) -> Bool {
        let usual: StaticString = "stream:stream"
        let count = unusualName?.count ?? usual.utf8CodeUnitCount
        guard tag.byteCount >= count + 3, !tag.byte(at: count + 2).isNameByte else { return false }
        let name = tag.extracting(2..<count + 2)
        guard let unusualName else { return name.equals(usual) }
        return [UInt8](copying: name) == unusualName
    }

    private static func prolog(name: [UInt8], declared: [ElementParser.Declaration]) -> [UInt8] {
        var tag = ByteBuffer()
        tag.append("<")
        tag.append(name)
        for declaration in declared {
            tag.append(" xmlns")
            if !declaration.prefix.isEmpty { tag.append(":") }
            tag.append(text: declaration.prefix)
            tag.append("=\"")
            tag.appendAttribute(declaration.uri)
            tag.append("\"")
        }
        tag.append(">")
        return tag.copied()
    }
}
