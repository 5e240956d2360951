/// A value of a YAML file with the place where it begins; lines and columns count from 1.
struct YAMLNode: Sendable {
    /// What it is.
    indirect enum Content: Sendable {
        /// Text; `isPlain` where no quotes were round it.
        case scalar(String, isPlain: Bool)
        /// A list.
        case sequence([YAMLNode])
        /// Keys and values, in the order of the file, repeated ones included.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    var content: Content
    var line: Int
    var column: Int

    /// Whether nothing was written where a value should be.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return text.isEmpty || text == "~" || text == "null"
    }

    /// What it is, for messages.
    var kind: String {
        switch content {
        case .scalar: "one value"
        case .sequence: "a list"
        case .mapping: "a table of keys"
        }
    }
}

/// Why a text is no YAML that we take, and where: by line and column, or by offset where no line could be told.
struct YAMLError: Error, Equatable {
    var message: String
    var line = 0
    var column = 0
    var offset = 0

    /// Line and column, counted in the text where only the offset is known.
    func position(in bytes: [UInt8]) -> (line: Int, column: Int) {
        guard line == 0 else { return (line, column) }
        let before = bytes.prefix(offset)
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return (before.count { $0 == 0x0A } + 1, before.count - start + 1)
    }
}
