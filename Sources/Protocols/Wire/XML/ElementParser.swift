import Basics
import XMLStream

/// Parses one complete frame; the parser lives only during the call.
///
/// `Framer` has delimited the frame, so the parser sees each byte once, and no DTD, comment or processing instruction.
enum ElementParser {
    /// A namespace declared by an element.
    struct Declaration {
        var prefix: String
        var uri: String
    }

    /// Parses the element in a frame as a child of the stream's root.
    static func element(_ frame: borrowing RawSpan, within root: StreamRoot) throws(XMLFailure) -> Element {
        guard let escaped = PayloadCharacters.escaped(frame) else { return try parsed(frame, within: root) }
        return try parsed(escaped.bytes, within: root)
    }

    private static func parsed(
        _ frame: borrowing RawSpan, within root: StreamRoot
    ) throws(XMLFailure) -> Element {
        try frame.checkCharacters(0..<frame.byteCount)
        let builder = ElementBuilder()
        let parser = XMLStreamParser(handler: builder)
        try parse(root.prolog.raw, parser)
        builder.depth = 0
        try parse(frame, parser)
        guard let element = builder.result else { throw .invalidXML }
        return element
    }

    /// Parses the root element of a header and its namespace declarations; `frame` must end like a start tag.
    static func root(
        _ frame: borrowing RawSpan
    ) throws(XMLFailure) -> (element: Element, declared: [Declaration]) {
        try frame.checkCharacters(0..<frame.byteCount)
        let builder = ElementBuilder()
        try parse(frame, XMLStreamParser(handler: builder))
        guard let element = builder.open.first else { throw .invalidXML }
        return (element, builder.declared)
    }

    /// Checks an XML declaration: version 1.0, and UTF-8 if it has an encoding.
    static func checkDeclaration(_ frame: borrowing RawSpan) throws(XMLFailure) {
        try frame.checkCharacters(0..<frame.byteCount)
        let builder = ElementBuilder()
        let parser = XMLStreamParser(handler: builder)
        try parse(frame, parser)
        let probe: StaticString = "<a/>"
        try parse(Array("\(probe)".utf8).raw, parser)
        guard builder.version == "1.0" else { throw .invalidXML }
        if let encoding = builder.encoding, encoding.lowercased() != "utf-8" { throw .unsupportedEncoding }
    }

    private static func parse(_ bytes: borrowing RawSpan, _ parser: XMLStreamParser) throws(XMLFailure) {
        do throws(XMLStreamFailure) { try parser.parse(bytes) } catch {
            switch error {
            case .undefinedEntity: throw .restrictedXML
            case .unboundPrefix: throw .badNamespacePrefix
            case .unsupportedEncoding: throw .unsupportedEncoding
            case .malformed: throw .invalidXML
            }
        }
    }
}

/// Builds elements from parser events.
private final class ElementBuilder: XMLStreamHandler {
    /// The open elements, outermost first.
    private(set) var open: [Element] = []
    /// The number of open elements within the frame.
    var depth = 0
    /// The last complete top-level element.
    private(set) var result: Element?
    private(set) var declared: [ElementParser.Declaration] = []
    private(set) var version: String?
    private(set) var encoding: String?

    func elementStarted(_ name: XMLName, _ attributes: [XMLAttribute]) {
        var element = Element(name: name.local, namespace: name.namespace)
        element.attributes = attributes.map {
            Element.Attribute(name: $0.name.local, namespace: $0.name.namespace, value: $0.value)
        }
        open.append(element)
        depth += 1
    }

    func textFound(_ text: String) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text.append(text)
    }

    func elementEnded() {
        depth -= 1
        guard let element = open.popLast() else { return }
        if depth == 0 {
            result = element
        } else if !open.isEmpty {
            open[open.count - 1].children.append(element)
        }
    }

    func namespaceDeclared(prefix: String, uri: String) {
        declared.append(ElementParser.Declaration(prefix: prefix, uri: uri))
    }

    func declarationFound(version: String?, encoding: String?) {
        self.version = version
        self.encoding = encoding
    }
}
