import Basics
import CYAML

/// Reads one YAML document with libyaml.
///
/// libyaml reports lines and columns of all values, and refuses input that is not UTF-8. The document that it builds is
/// copied at once, with limits on depth and number of nodes, so that aliases cannot expand it without bound.
enum YAMLReader {
    /// Returns the value of the only document. Returns `nil` if the file has no document.
    static func read(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode? {
        var parser = unsafe yaml_parser_t()
        guard unsafe yaml_parser_initialize(&parser) == 1 else {
            throw YAMLError(message: "out of memory", line: 0, column: 0)
        }
        defer { unsafe yaml_parser_delete(&parser) }
        let result: Result<YAMLNode?, YAMLError> = unsafe bytes.withUnsafeBufferPointer { text in
            unsafe yaml_parser_set_input_string(&parser, text.baseAddress, text.count)
            return Result { () throws(YAMLError) in try unsafe documents(&parser) }
        }
        return try result.get()
    }

    private static func documents(_ parser: inout yaml_parser_t) throws(YAMLError) -> YAMLNode? {
        var first = unsafe yaml_document_t()
        try unsafe load(&parser, &first)
        defer { unsafe yaml_document_delete(&first) }
        guard unsafe yaml_document_get_root_node(&first) != nil else { return nil }
        var copier = Copier()
        let root = try unsafe copier.copy(&first, 1, depth: 0)
        var second = unsafe yaml_document_t()
        try unsafe load(&parser, &second)
        defer { unsafe yaml_document_delete(&second) }
        if unsafe yaml_document_get_root_node(&second) != nil {
            throw unsafe YAMLError(
                message: "a second document starts here; expected only one",
                line: Int(second.start_mark.line) + 1,
                column: Int(second.start_mark.column) + 1)
        }
        return root
    }

    private static func load(
        _ parser: inout yaml_parser_t, _ document: inout yaml_document_t
    ) throws(YAMLError) {
        guard unsafe yaml_parser_load(&parser, &document) != 1 else { return }
        var message = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "unreadable"
        let error = unsafe parser.error
        guard error == YAML_SCANNER_ERROR || error == YAML_PARSER_ERROR || error == YAML_COMPOSER_ERROR else {
            throw unsafe YAMLError(message: "is not YAML: \(message)", offset: Int(parser.problem_offset))
        }
        if let context = unsafe parser.context, unsafe parser.context_mark.line != parser.problem_mark.line {
            message +=
                unsafe ", \(String(cString: context)) that begins in line \(parser.context_mark.line + 1)"
        }
        throw unsafe YAMLError(
            message: "is not YAML: \(message)", line: Int(parser.problem_mark.line) + 1,
            column: Int(parser.problem_mark.column) + 1)
    }

    /// Copies the nodes of a document and counts them.
    private struct Copier {
        var nodes = 0

        mutating func copy(
            _ document: inout yaml_document_t, _ index: Int32, depth: Int
        ) throws(YAMLError) -> YAMLNode {
            guard let node = unsafe yaml_document_get_node(&document, index) else {
                return YAMLNode(content: .scalar("", isPlain: true), line: 1, column: 1)
            }
            let line = unsafe Int(node.pointee.start_mark.line) + 1
            let column = unsafe Int(node.pointee.start_mark.column) + 1
            nodes += 1
            guard nodes <= Limits.Config.nodes, depth <= Limits.Config.depth else {
                throw YAMLError(
                    message: "has too many or too deeply nested values", line: line, column: column)
            }
            let content = try unsafe content(&document, node.pointee, depth)
            return YAMLNode(content: content, line: line, column: column)
        }

        private mutating func content(
            _ document: inout yaml_document_t, _ node: yaml_node_t, _ depth: Int
        ) throws(YAMLError) -> YAMLNode.Content {
            switch unsafe node.type {
            case YAML_SEQUENCE_NODE:
                var items: [YAMLNode] = []
                let range = unsafe node.data.sequence.items
                var at = unsafe range.start
                while let item = unsafe at, unsafe item < range.top.unsafelyUnwrapped {
                    items.append(try unsafe copy(&document, item.pointee, depth: depth + 1))
                    unsafe at = item + 1
                }
                return .sequence(items)
            case YAML_MAPPING_NODE:
                var pairs: [(key: YAMLNode, value: YAMLNode)] = []
                let range = unsafe node.data.mapping.pairs
                var at = unsafe range.start
                while let pair = unsafe at, unsafe pair < range.top.unsafelyUnwrapped {
                    let key = try unsafe copy(&document, pair.pointee.key, depth: depth + 1)
                    let value = try unsafe copy(&document, pair.pointee.value, depth: depth + 1)
                    pairs.append((key, value))
                    unsafe at = pair + 1
                }
                return .mapping(pairs)
            default:
                let scalar = unsafe node.data.scalar
                let text = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
                let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
                return unsafe .scalar(String(decoding: text, as: UTF8.self), isPlain: isPlain)
            }
        }
    }
}
