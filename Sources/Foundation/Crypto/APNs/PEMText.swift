import Basics
import COpenSSL

/// Texts in PEM (RFC 7468): keys and certificates.
enum PEMText {
    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// Bytes of a line: 64 in the standard, and 76 in the texts of other tools.
    private static let lineBytes = 64
    private static let longestLine = 76

    /// Returns a text whose lines are as OpenSSL reads them: without a byte order mark, with line ends in place of `\n`, and with each
    /// marker on a line of its own. Editors, shells and environment variables change texts so. Anything else is returned unchanged.
    static func mended(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.firstRange(of: begin) != nil, !isProper(bytes) else { return bytes }
        let whole = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
        let text = whole.replacing(Array("\\r".utf8), with: [UInt8]()).replacing(
            Array("\\n".utf8), with: [0x0A])
        var mended: [UInt8] = []
        var rest = text[...]
        while let start = rest.firstRange(of: begin),
            let head = rest[start.upperBound...].firstRange(of: dashes),
            let stop = rest[head.upperBound...].firstRange(of: end),
            let tail = rest[stop.upperBound...].firstRange(of: dashes)
        {
            mended += rest[start.lowerBound..<head.upperBound] + [0x0A]
            mended += lines(rest[head.upperBound..<stop.lowerBound])
            mended += rest[stop.lowerBound..<tail.upperBound] + [0x0A]
            rest = rest[tail.upperBound...]
        }
        return mended + rest
    }

    /// Whether each marker ends its line, and no line end is written as two characters.
    private static func isProper(_ bytes: [UInt8]) -> Bool {
        guard !bytes.starts(with: byteOrderMark), bytes.firstRange(of: Array("\\n".utf8)) == nil else {
            return false
        }
        // OpenSSL reads lines of up to 254 bytes.
        guard
            bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).allSatisfy({ $0.count <= longestLine })
        else { return false }
        return bytes.ranges(of: begin).allSatisfy { start in
            guard let head = bytes[start.upperBound...].firstRange(of: dashes) else { return true }
            return bytes[head.upperBound...].first.map { $0 == 0x0A || $0 == 0x0D } ?? true
        }
    }

    private static func lines(_ body: ArraySlice<UInt8>) -> [UInt8] {
        // Headers, which old encrypted keys have, are lines already.
        guard !body.contains(UInt8(ascii: ":")) else { return Array(body.drop { $0 == 0x0A || $0 == 0x0D }) }
        var lines: [UInt8] = []
        var column = 0
        for byte in body where byte > 0x20 && byte != UInt8(ascii: "\"") {
            lines.append(byte)
            column += 1
            if column == lineBytes {
                lines.append(0x0A)
                column = 0
            }
        }
        return column == 0 ? lines : lines + [0x0A]
    }

    /// Returns the label and the content in DER of each part that OpenSSL can read.
    static func parts(_ text: [UInt8]) -> [(label: String, content: [UInt8])] {
        defer { ERR_clear_error() }
        return unsafe MemoryInput.reading(text) { input in
            var parts: [(label: String, content: [UInt8])] = []
            // A damaged part does not end the search: OpenSSL continues behind it as well.
            while case let left = unsafe BIO_ctrl_pending(input), left > 0 {
                var (label, header): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?) =
                    (nil, nil)
                var content: UnsafeMutablePointer<UInt8>?
                var length = 0
                guard unsafe PEM_read_bio(input, &label, &header, &content, &length) == 1 else {
                    guard unsafe BIO_ctrl_pending(input) < left else { break }
                    continue
                }
                if let label = unsafe label, let content = unsafe content {
                    unsafe parts.append(
                        (
                            String(cString: label),
                            Array(UnsafeBufferPointer(start: content, count: max(0, length)))
                        ))
                }
                unsafe copenssl_free(label)
                unsafe copenssl_free(header)
                unsafe copenssl_free(content)
            }
            return parts
        } ?? []
    }
}
