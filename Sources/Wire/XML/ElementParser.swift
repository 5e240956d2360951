import Basics
import CExpat

/// Parses one complete frame with expat; the parser lives only during the call.
///
/// The frame was found by `Framer`, so expat sees each byte once, and neither DTD nor comment nor processing instruction.
enum ElementParser {
    /// The element in a frame, as if it stood within the stream's root.
    static func element(_ frame: borrowing RawSpan, within root: StreamRoot) throws(XMLFailure) -> Element {
        try frame.checkCharacters(0..<frame.byteCount)
        let parser = ExpatParser()
        try parser.feed(root.prolog.raw)
        parser.depth = 0
        try parser.feed(frame)
        guard let element = parser.result else { throw .invalidXML }
        return element
    }

    /// The root element of a header, with the namespaces it declares; `frame` must end like a start tag.
    static func root(
        _ frame: borrowing RawSpan
    ) throws(XMLFailure) -> (element: Element, declared: [ExpatParser.Declaration]) {
        try frame.checkCharacters(0..<frame.byteCount)
        let parser = ExpatParser()
        try parser.feed(frame)
        guard let element = parser.open.first else { throw .invalidXML }
        return (element, parser.declared)
    }

    /// Checks an XML declaration: version 1.0, and UTF-8 if it names an encoding.
    static func checkDeclaration(_ frame: borrowing RawSpan) throws(XMLFailure) {
        try frame.checkCharacters(0..<frame.byteCount)
        let parser = ExpatParser()
        try parser.feed(frame)
        let probe: StaticString = "<a/>"
        try parser.feed(Array("\(probe)".utf8).raw)
        guard parser.version == "1.0" else { throw .invalidXML }
        if let encoding = parser.encoding, encoding.lowercased() != "utf-8" { throw .unsupportedEncoding }
    }
}

/// An expat parser with its handlers, which build elements.
@safe final class ExpatParser {
    /// A namespace declared by an element.
    struct Declaration {
        var prefix: String
        var uri: String
    }

    private let parser: OpaquePointer
    /// Elements begun and not ended; those of the prolog are not among them.
    var open: [Element] = []
    /// How many elements are open.
    var depth = 0
    /// The element that ended last at the top.
    var result: Element?
    private(set) var declared: [Declaration] = []
    private(set) var version: String?
    private(set) var encoding: String?

    private static let separator: UInt8 = 0x0A

    init() {
        guard let parser = unsafe XML_ParserCreateNS("UTF-8", XML_Char(Self.separator)) else {
            fatalError("out of memory")
        }
        unsafe self.parser = parser
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe XML_SetElementHandler(
            parser,
            { user, name, attributes in
                guard let name = unsafe name, let attributes = unsafe attributes else { return }
                unsafe ExpatParser.of(user)?.begin(name, attributes)
            }, { user, _ in unsafe ExpatParser.of(user)?.end() })
        unsafe XML_SetCharacterDataHandler(parser) { user, text, count in
            guard let text = unsafe text else { return }
            unsafe ExpatParser.of(user)?.characters(UnsafeRawBufferPointer(start: text, count: Int(count)))
        }
        unsafe XML_SetStartNamespaceDeclHandler(parser) { user, prefix, uri in
            unsafe ExpatParser.of(user)?.declared.append(
                Declaration(
                    prefix: prefix.map { unsafe String(cString: $0) } ?? "",
                    uri: uri.map { unsafe String(cString: $0) } ?? ""))
        }
        unsafe XML_SetXmlDeclHandler(parser) { user, version, encoding, _ in
            unsafe ExpatParser.of(user)?.version = version.map { unsafe String(cString: $0) }
            unsafe ExpatParser.of(user)?.encoding = encoding.map { unsafe String(cString: $0) }
        }
    }

    deinit { unsafe XML_ParserFree(parser) }

    /// Parses bytes that hold whole tags only.
    func feed(_ bytes: borrowing RawSpan) throws(XMLFailure) {
        let isParsed = unsafe bytes.withUnsafeBytes { bytes in
            unsafe XML_Parse(
                parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), 0)
                == XML_STATUS_OK
        }
        guard isParsed else { throw unsafe Self.failure(XML_GetErrorCode(parser)) }
    }

    private static func failure(_ code: XML_Error) -> XMLFailure {
        switch code {
        case XML_ERROR_UNDEFINED_ENTITY: .restrictedXML
        case XML_ERROR_UNBOUND_PREFIX: .badNamespacePrefix
        case XML_ERROR_UNKNOWN_ENCODING, XML_ERROR_INCORRECT_ENCODING: .unsupportedEncoding
        default: .invalidXML
        }
    }

    private static func of(_ user: UnsafeMutableRawPointer?) -> ExpatParser? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<ExpatParser>.fromOpaque(user).takeUnretainedValue()
    }

    private func begin(
        _ name: UnsafePointer<XML_Char>, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>
    ) {
        let (local, namespace) = unsafe Self.split(name)
        var element = Element(name: local, namespace: namespace)
        var index = 0
        while let key = unsafe attributes[index], let value = unsafe attributes[index + 1] {
            let (local, namespace) = unsafe Self.split(key)
            unsafe element.attributes.append(
                Element.Attribute(name: local, namespace: namespace, value: String(cString: value)))
            index += 2
        }
        open.append(element)
        depth += 1
    }

    private func characters(_ text: UnsafeRawBufferPointer) {
        guard !open.isEmpty else { return }
        unsafe open[open.count - 1].text.append(String(decoding: text, as: UTF8.self))
    }

    private func end() {
        depth -= 1
        guard let element = open.popLast() else { return }
        if depth == 0 {
            result = element
        } else if !open.isEmpty {
            open[open.count - 1].children.append(element)
        }
    }

    /// Parts of a name as expat gives it: URI, separator, local name; or the local name alone.
    private static func split(_ name: UnsafePointer<XML_Char>) -> (local: String, namespace: String) {
        let whole = unsafe String(cString: name)
        guard let at = whole.utf8.lastIndex(of: separator) else { return (whole, "") }
        return (String(whole[whole.index(after: at)...]), String(whole[..<at]))
    }
}
