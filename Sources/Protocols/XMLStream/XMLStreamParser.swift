import CExpat

/// An expat parser that resolves namespaces and reports to a handler.
///
/// It is independent of XMPP: the caller decides what a stream may contain.
@safe public final class XMLStreamParser {
    private let parser: OpaquePointer
    private let handler: any XMLStreamHandler

    /// The separator that expat puts between URI and local name; it cannot occur in either.
    private static let separator: UInt8 = 0x0A

    /// Creates a parser for one document in UTF-8.
    public init(handler: any XMLStreamHandler) {
        guard let parser = unsafe XML_ParserCreateNS("UTF-8", XML_Char(Self.separator)) else {
            fatalError("out of memory")
        }
        unsafe self.parser = parser
        self.handler = handler
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe Self.setHandlers(parser)
    }

    deinit { unsafe XML_ParserFree(parser) }

    private static func setHandlers(_ parser: OpaquePointer) {
        unsafe XML_SetElementHandler(
            parser,
            { user, name, attributes in
                guard let name = unsafe name, let attributes = unsafe attributes else { return }
                unsafe XMLStreamParser.handler(of: user)?.elementStarted(
                    XMLStreamParser.split(name), XMLStreamParser.list(attributes))
            }, { user, _ in unsafe XMLStreamParser.handler(of: user)?.elementEnded() })
        unsafe XML_SetCharacterDataHandler(parser) { user, text, count in
            guard let text = unsafe text else { return }
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(count))
            unsafe XMLStreamParser.handler(of: user)?.textFound(String(decoding: bytes, as: UTF8.self))
        }
        unsafe XML_SetStartNamespaceDeclHandler(parser) { user, prefix, uri in
            unsafe XMLStreamParser.handler(of: user)?.namespaceDeclared(
                prefix: prefix.map { unsafe String(cString: $0) } ?? "",
                uri: uri.map { unsafe String(cString: $0) } ?? "")
        }
        unsafe XML_SetXmlDeclHandler(parser) { user, version, encoding, _ in
            unsafe XMLStreamParser.handler(of: user)?.declarationFound(
                version: version.map { unsafe String(cString: $0) },
                encoding: encoding.map { unsafe String(cString: $0) })
        }
    }

    /// Parses the next bytes, which must contain complete tags only.
    public func parse(_ bytes: borrowing RawSpan) throws(XMLStreamFailure) {
        let isParsed = unsafe bytes.withUnsafeBytes { bytes in
            unsafe XML_Parse(
                parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), 0)
                == XML_STATUS_OK
        }
        guard isParsed else { throw unsafe Self.failure(XML_GetErrorCode(parser)) }
    }

    private static func failure(_ code: XML_Error) -> XMLStreamFailure {
        switch code {
        case XML_ERROR_UNDEFINED_ENTITY: .undefinedEntity
        case XML_ERROR_UNBOUND_PREFIX: .unboundPrefix
        case XML_ERROR_UNKNOWN_ENCODING, XML_ERROR_INCORRECT_ENCODING: .unsupportedEncoding
        default: .malformed
        }
    }

    private static func handler(of user: UnsafeMutableRawPointer?) -> (any XMLStreamHandler)? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<XMLStreamParser>.fromOpaque(user).takeUnretainedValue().handler
    }

    /// Converts expat's attributes: alternating names and values, ended by a null pointer.
    private static func list(_ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>) -> [XMLAttribute] {
        var list: [XMLAttribute] = []
        var index = 0
        while let name = unsafe attributes[index], let value = unsafe attributes[index + 1] {
            unsafe list.append(XMLAttribute(name: split(name), value: String(cString: value)))
            index += 2
        }
        return list
    }

    /// Splits expat's name: URI, separator and local name, or the local name only.
    private static func split(_ name: UnsafePointer<XML_Char>) -> XMLName {
        let whole = unsafe String(cString: name)
        guard let at = whole.utf8.lastIndex(of: separator) else {
            return XMLName(local: whole, namespace: "")
        }
        return XMLName(local: String(whole[whole.index(after: at)...]), namespace: String(whole[..<at]))
    }
}
