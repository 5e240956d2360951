import Basics
import Wire

/// Compares the result of `StanzaReader` for a stream with that of libxml2 for the same document.
///
/// libxml2 must accept with the same tree what the reader accepts, and refuse what it refuses as not well-formed.
/// These intended differences are removed before the comparison:
/// - what is allowed before the first `<`: whitespace, a stray `>`, a byte order mark (ccs-xmpp 1.3, 1.12);
/// - a self-closed header opens the stream (1.3);
/// - U+FFFE and U+FFFF in a payload: a stream with them is not compared;
/// - bytes after the end tag of the stream are ignored;
/// - XML 1.1 and other versions are refused; names follow the fourth edition of XML 1.0, which has fewer characters.
enum XMLDifferential {
    /// The result of the reader for a stream.
    struct Outcome {
        var opened: StreamHeader?
        var children: [String] = []
        var isClosed = false
        var failure: XMLFailure?
        /// The offset after the header.
        var headerEnd = 0
        /// The offset after the last event.
        var end = 0
    }

    /// Returns the difference, or `nil` if both agree. `planting` may falsify the outcome, to prove that the check works.
    static func difference(
        _ stream: [UInt8], cuts: [Int] = [], planting: (inout Outcome) -> Void = { _ in }
    ) -> String? {
        guard !hasNonCharacter(stream) else { return nil }
        var ours = read(stream, cuts: cuts)
        planting(&ours)
        guard let header = ours.opened else {
            guard ours.failure == .invalidXML, !hasOddVersion(stream),
                let first = stream.firstIndex(of: 0x3C),
                !hasNameBeyondASCII(stream)
            else { return nil }
            return LibXML2Oracle.root(of: Array(stream[first...])) == nil
                ? nil : "the reader refuses a well-formed document"
        }
        var document = Array(stream[..<ours.end])
        let rootStart = open(&document, headerEnd: ours.headerEnd)
        let rootName = document[(rootStart + 1)...].prefix {
            ![0x20, 0x09, 0x0A, 0x0D, 0x2F, 0x3E].contains($0)
        }
        let endTag = Array("</".utf8) + rootName + Array(">".utf8)
        guard let root = LibXML2Oracle.root(of: prepared(document + (ours.isClosed ? [] : endTag))) else {
            return "the reader accepts a document that is not well-formed"
        }
        // Compared as bytes, since canonically equivalent strings are equal in Swift.
        let theirs = root.children.map(text)
        guard theirs.map({ Array($0.utf8) }) == ours.children.map({ Array($0.utf8) }) else {
            return "the trees differ: \(theirs) against \(ours.children)"
        }
        if root["to"] != header.to || root["from"] != header.from || root["version"] != header.version {
            return "the headers differ"
        }
        guard ours.failure == .invalidXML, !hasNameBeyondASCII(stream) else { return nil }
        var whole = stream
        _ = open(&whole, headerEnd: ours.headerEnd)
        guard LibXML2Oracle.root(of: prepared(whole)) == nil,
            LibXML2Oracle.root(of: prepared(whole + endTag)) == nil
        else { return "the reader refuses a well-formed stanza" }
        return nil
    }

    /// Reads a stream without restart.
    static func read(_ stream: [UInt8], cuts: [Int] = []) -> Outcome {
        var outcome = Outcome()
        var reader = StanzaReader()
        reader.restart()
        var start = 0
        do throws(XMLFailure) {
            for cut in cuts + [stream.count] {
                let piece = Array(stream[start..<cut])
                var offset = 0
                reading: while true {
                    switch try reader.next(piece.raw, from: &offset) {
                    case .incomplete: break reading
                    case .opened(let header):
                        outcome.opened = header
                        outcome.headerEnd = start + offset
                    case .message(let message): outcome.children.append(text(of: message, in: piece.raw))
                    case .element(let element): outcome.children.append("\(element)")
                    case .closed: outcome.isClosed = true
                    }
                    outcome.end = start + offset
                }
                start = cut
            }
        } catch {
            outcome.failure = error
        }
        return outcome
    }

    /// Changes a self-closed header to a start tag. Returns the offset of its `<`.
    private static func open(_ document: inout [UInt8], headerEnd: Int) -> Int {
        let start = document[..<headerEnd].lastIndex(of: 0x3C) ?? 0
        if document[headerEnd - 2] == 0x2F { document[headerEnd - 2] = 0x20 }
        return start
    }

    /// Removes what is allowed before the first `<`.
    private static func prepared(_ document: [UInt8]) -> [UInt8] {
        Array(document[(document.firstIndex(of: 0x3C) ?? 0)...])
    }

    /// Whether U+FFFE or U+FFFF may be in a stream, raw or as a reference.
    private static func hasNonCharacter(_ stream: [UInt8]) -> Bool {
        let text = String(decoding: stream, as: UTF8.self).lowercased()
        return text.unicodeScalars.contains { (0xFFFE...0xFFFF).contains($0.value) }
            || ["fffe;", "ffff;", "65534;", "65535;"].contains { text.contains($0) }
    }

    private static func hasNameBeyondASCII(_ stream: [UInt8]) -> Bool { stream.contains { $0 >= 0x80 } }

    private static func hasOddVersion(_ stream: [UInt8]) -> Bool {
        let text = String(decoding: stream, as: UTF8.self)
        return text.contains("<?xml") && !text.contains("version='1.0'") && !text.contains("version=\"1.0\"")
    }

    private static func text(of message: borrowing MessageStanza, in chunk: RawSpan) -> String {
        let payload = String(decoding: [UInt8](copying: message.payload(in: chunk)), as: UTF8.self)
        let attributes = [
            message.id(in: chunk), message.to(in: chunk), message.from(in: chunk), message.type(in: chunk),
        ]
        return "\(message.form) \(attributes) \(payload)"
    }

    /// Returns the expected reading of a message in the tree, independently of the reader.
    private static func text(_ element: Element) -> String {
        guard element.name == "message", element.namespace == "jabber:client" else { return "\(element)" }
        var payloads: [Element] = []
        for child in element.children where child.name == "gcm" && child.namespace == "google:mobile:data" {
            payloads.append(child)
        }
        let form: MessageStanza.Form =
            switch payloads.count {
            case 0: .withoutPayload
            case 1: payloads[0].children.isEmpty ? .usable : .elementsInPayload
            default: .severalPayloads
            }
        let attributes = ["id", "to", "from", "type"].map { element[$0] }
        return "\(form) \(attributes) \(payloads.first?.text ?? "")"
    }
}
