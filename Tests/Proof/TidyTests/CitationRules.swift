/// Citations of the protocol descriptions, such as "http 2.1, 2.4": the document has a section of that number.
struct CitationRules {
    /// The documents in docs/protocols, by the names under which they are cited.
    static let documents = ["ccs-xmpp", "mcs-device", "http", "apns"]

    /// A citation of one section.
    struct Citation: Equatable {
        var document: String
        var section: String
        var line: Int
    }

    /// The sections of each document.
    private let sections: [String: Set<String>]
    private let search: TextSearch

    /// Creates the rule. Returns `nil` if its expression is not valid.
    init?(sections: [String: Set<String>]) {
        // The name of a document, then section numbers: "2.1, 2.4", "7.1 to 7.3", "1 and 2". They may go on in the next line of a
        // comment.
        let gap = "[[:space:]]+((//+|[#*])[[:space:]]+)?"
        let number = "[0-9]+([.][0-9]+)*"
        let list = "\(number)((,|[[:space:]]+(to|and))\(gap)\(number))*"
        let names = Self.documents.joined(separator: "|")
        guard let search = TextSearch("(\(names))\(gap)(\(list))", groups: 4) else { return nil }
        self.search = search
        self.sections = sections
    }

    /// Returns the citations in a text, in order; those of a list one by one.
    func citations(in text: String) -> [Citation] {
        var found: [Citation] = []
        search.forEach(in: Array(text.utf8)) { match, bytes in
            guard let name = match.groups[1], let list = match.groups[4] else { return }
            // Longer words, such as aioapns, and numbers within words are no citations.
            let before = name.lowerBound > 0 ? bytes[name.lowerBound - 1] : 0x20
            guard !Self.isWordByte(before), !"-./".utf8.contains(before),
                !Self.isWordByte(bytes[list.upperBound])
            else { return }
            let document = String(decoding: bytes[name], as: UTF8.self)
            let numbers = String(decoding: bytes[list], as: UTF8.self).split {
                $0 != "." && !("0"..."9").contains($0)
            }
            found += numbers.map { Citation(document: document, section: String($0), line: match.line) }
        }
        return found
    }

    /// Returns the citations in a file of sections that their document does not have.
    func violations(_ file: SourceFile) -> [String] {
        citations(in: file.text).compactMap { citation in
            guard sections[citation.document]?.contains(citation.section) != true else { return nil }
            let place = "\(file.path):\(citation.line)"
            return "\(place): docs/protocols/\(citation.document).md has no section \(citation.section)"
        }
    }

    /// Returns the numbers of the sections of a document: those at the start of its headings.
    static func sections(of text: String) -> Set<String> {
        var isCode = false
        var numbers: Set<String> = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, line.hasPrefix("#") else { continue }
            let title = line.drop { $0 == "#" }.drop { $0 == " " }
            var number = title.prefix { $0.isNumber || $0 == "." }
            while number.last == "." { number.removeLast() }
            if !number.isEmpty { numbers.insert(String(number)) }
        }
        return numbers
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x5F
    }
}
