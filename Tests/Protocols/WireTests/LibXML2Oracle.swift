import CLibXML2
import Glibc
import Wire

/// The reference parser: parses documents by libxml2.
enum LibXML2Oracle {
    private static let isReady: Bool = {
        xmlInitParser()
        return true
    }()

    /// Returns the root element, or `nil` if the document is not well-formed or its namespaces are not.
    static func root(of document: [UInt8]) -> Element? {
        guard isReady, let context = xmlNewParserCtxt() else { return nil }
        defer { xmlFreeParserCtxt(context) }
        // A namespace that is not a URI (code 99) is well-formed, although libxml2 reports an error.
        var namespaceErrors = 0
        let tree = withUnsafeMutablePointer(to: &namespaceErrors) { counter in
            context.pointee._private = UnsafeMutableRawPointer(counter)
            context.pointee.sax.pointee.serror = { user, error in
                guard let error, error.pointee.domain == Int32(XML_FROM_NAMESPACE.rawValue),
                    error.pointee.level != XML_ERR_WARNING,
                    error.pointee.code != Int32(XML_WAR_NS_URI.rawValue)
                else { return }
                let context = user?.assumingMemoryBound(to: xmlParserCtxt.self)
                context?.pointee._private.assumingMemoryBound(to: Int.self).pointee += 1
            }
            return parse(document, context)
        }
        guard let tree else { return nil }
        defer { xmlFreeDoc(tree) }
        guard context.pointee.wellFormed == 1, namespaceErrors == 0, let root = xmlDocGetRootElement(tree)
        else { return nil }
        return element(root)
    }

    private static func parse(_ document: [UInt8], _ context: xmlParserCtxtPtr) -> xmlDocPtr? {
        let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOWARNING.rawValue
        return document.withUnsafeBytes { bytes in
            xmlCtxtReadMemory(
                context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), nil,
                "UTF-8", Int32(options))
        }
    }

    private static func element(_ node: xmlNodePtr) -> Element {
        var element = Element(name: text(node.pointee.name), namespace: namespace(node.pointee.ns))
        var attribute = node.pointee.properties
        while let found = attribute {
            let value = xmlNodeListGetString(node.pointee.doc, found.pointee.children, 1)
            element.attributes.append(
                Element.Attribute(
                    name: text(found.pointee.name), namespace: namespace(found.pointee.ns), value: text(value)
                ))
            free(value)
            attribute = found.pointee.next
        }
        var child = node.pointee.children
        while let found = child {
            switch found.pointee.type {
            case XML_ELEMENT_NODE: element.children.append(self.element(found))
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE: element.text += text(found.pointee.content)
            default: break
            }
            child = found.pointee.next
        }
        return element
    }

    /// Returns a namespace; libxml2 2.9 leaves `&amp;` in it as `&#38;`.
    private static func namespace(_ namespace: xmlNsPtr?) -> String {
        text(namespace?.pointee.href).replacing("&#38;", with: "&")
    }

    private static func text(_ text: UnsafePointer<xmlChar>?) -> String {
        text.map { String(cString: $0) } ?? ""
    }

    private static func text(_ text: UnsafeMutablePointer<xmlChar>?) -> String {
        text.map { String(cString: $0) } ?? ""
    }
}
