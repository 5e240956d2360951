import Basics

/// Generates almost valid streams from a seed.
struct XMLMutator {
    var random: SeededRandom

    private static let pieces: [String] = [
        "<message id=\"\"><gcm xmlns=\"google:mobile:data\">{\"a\":\"b\"}</gcm></message>",
        "<message id='m-1'><gcm xmlns=\"google:mobile:data\">{\"to\":\"abc:APA91b\",\"message_id\":\"m-1\",\"data\":{\"a\":[[1]]}}</gcm></message>",
        "<message><gcm xmlns='google:mobile:data'>{&quot;a&quot;:&#x41;}</gcm></message>",
        "<message id='1' type='error' to='x' from='y' xml:lang='en'>\n <gcm xmlns=\"google:mobile:data\">ä€😀</gcm>\n</message>",
        "<message><d:gcm xmlns:d='google:mobile:data'><![CDATA[{\"a\":\"<]]&gt;\"}]]></d:gcm></message>",
        "<iq type='set' id='a:b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind></iq>",
        "<presence><show/><status>a &lt; b</status></presence>", "<jc:message xmlns:jc='jabber:client'/>",
        "<a xmlns='u' b='&amp;&#9;\t\n'><b/><c d=\"'\">x</c>y</a>", " ", "\n", ">", "</stream:stream>",
    ]
    private static let tokens: [String] = [
        "<", ">", "/>", "</", "&", "&amp;", "&quot;", "&apos;", "&lt;", "&gt;", "&#65;", "&#xE4;", "&#0;",
        ";", "'", "\"", "=",
        " ", "\n", "\r", "\r\n", "\t", "]]>", "<![CDATA[", "]]", "<!--", "-->", "<?x?>", "<!DOCTYPE a>", ":",
        "xmlns", "xmlns:a='u'",
        "a:", "xml:", "gcm", "message", "</gcm>", "</message>", "\u{FEFF}", "\u{FFFD}", "ä", "\0", "\u{1}",
        "/", "jabber:client",
    ]

    /// Returns a stream of a few stanzas with some bytes changed.
    mutating func stream() -> [UInt8] {
        var text = HeaderForm.all.randomElement(using: &random)?.opening ?? ""
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            text += Self.pieces.randomElement(using: &random) ?? ""
        }
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) { mutate(&bytes) }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        // Mostly within the last part, since a damaged header ends the stream.
        let low = Int.random(in: 0..<4, using: &random) == 0 ? 0 : min(bytes.count, 150)
        var at = Int.random(in: low...bytes.count, using: &random)
        // Half of them within a payload, which is recognised in place.
        if Bool.random(using: &random),
            let brace = bytes.indices.filter({ bytes[$0] == UInt8(ascii: "{") }).randomElement(using: &random)
        {
            at = min(bytes.count, brace + Int.random(in: 0...40, using: &random))
        }
        let end = min(bytes.count, at + Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes.removeSubrange(at..<end)
        case 1: bytes.insert(contentsOf: bytes[at..<end], at: at)
        case 2 where at < bytes.count: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 3 where at < bytes.count: bytes[at] = UInt8.random(in: 0...255, using: &random)
        default:
            bytes.insert(contentsOf: Array((Self.tokens.randomElement(using: &random) ?? "").utf8), at: at)
        }
    }

    /// Returns up to five offsets at which to cut a stream.
    mutating func cuts(of count: Int) -> [Int] {
        (0..<Int.random(in: 0...5, using: &random)).map { _ in Int.random(in: 0...count, using: &random) }
            .sorted()
    }
}
