/// A value of a YAML file with the position of its start; lines and columns count from 1.
struct YAMLNode: Sendable {
    /// The value.
    indirect enum Content: Sendable {
        /// Text; `isPlain` if it was not quoted.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// Keys and values in the order of the file, including duplicate keys.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    var content: Content
    var line: Int
    var column: Int

    /// Whether the value is missing or null.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return text.isEmpty || text == "~" || text == "null"
    }

    /// The kind of value, for messages.
    var kind: String {
        switch content {
        case .scalar: "one value"
        case .sequence: "a list"
        case .mapping: "a table of keys"
        }
    }
}

/// Why a text is not acceptable YAML, with the position: line and column, or the byte offset if the line is unknown.
struct YAMLError: Error, Equatable {
    var message: String
    var line = 0
    var column = 0
    var offset = 0

    /// Returns line and column, which are counted in the text if only the offset is known.
    func position(in bytes: [UInt8]) -> (line: Int, column: Int) {
        guard line == 0 else { return (line, column) }
        let before = bytes.prefix(offset)
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return (before.count { $0 == 0x0A } + 1, before.count - start + 1)
    }
}
