import Basics
import COpenSSL

/// Limits the work of deriving keys from the password of one file: it is measured in the file before anything is derived.
///
/// A file may contain many encrypted parts, each with iterations of its own, so that they share one budget.
struct DerivationBudget {
    private var left = Limits.APNsCredentials.passwordIterations

    /// 1.3.6.1.4.1.11591.4.11, scrypt (RFC 7914, 7)
    private static let scrypt: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]
    /// The elements that an algorithm may have inside each other: PBES2 has three.
    private static let depth = 8

    /// Takes iterations from the budget. Throws `APNsFileProblem.tooManyIterations` if too few are left.
    mutating func charge(_ iterations: Int) throws(APNsFileProblem) {
        guard iterations <= left else { throw .tooManyIterations }
        left -= max(1, iterations)
    }

    /// Takes the iterations of an encryption algorithm from the budget.
    mutating func charge(_ algorithm: UnsafePointer<X509_ALGOR>) throws(APNsFileProblem) {
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_X509_ALGOR(algorithm, &encoded)
        guard length > 0, let start = unsafe encoded else { throw .tooManyIterations }
        defer { unsafe copenssl_free(start) }
        try charge(Self.cost(of: unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))))
    }

    /// Takes the iterations of all encrypted keys of a PEM text from the budget.
    mutating func charge(pem text: [UInt8]) throws(APNsFileProblem) {
        for (label, content) in PEMText.parts(text) where label.hasSuffix("PRIVATE KEY") {
            var outer = DERReader(content)
            guard let inner = outer.next(DERReader.Tag.sequence) else { continue }
            var reader = DERReader(inner)
            // Of the formats of keys, only the encrypted one (RFC 5958, 3) starts with an algorithm.
            guard let first = reader.next() else { throw .tooManyIterations }
            guard first.tag == DERReader.Tag.sequence else { continue }
            try charge(Self.cost(of: Array(first.content)))
        }
    }

    /// Returns the iterations of an algorithm in DER: the largest number in it, or the product of the three of scrypt, whose unit takes
    /// about as long. What cannot be read counts as too many.
    static func cost(of algorithm: [UInt8]) -> Int {
        var found = Found()
        guard found.read(algorithm[...], depth: depth) else { return .max }
        guard found.isScrypt else { return found.numbers.max() ?? 1 }
        let product = found.numbers.prefix(3).reduce(1) { product, number in
            let (value, isOver) = product.multipliedReportingOverflow(by: max(1, number))
            return isOver ? .max : value
        }
        return max(product, found.numbers.max() ?? 1)
    }

    /// What an algorithm contains.
    private struct Found {
        var numbers: [Int] = []
        var isScrypt = false

        /// Reads elements. Returns false if they are malformed.
        mutating func read(_ bytes: ArraySlice<UInt8>, depth: Int) -> Bool {
            guard depth > 0 else { return false }
            var reader = DERReader(bytes)
            while let (tag, content) = reader.next() {
                switch tag {
                case DERReader.Tag.integer: numbers.append(Self.number(content))
                case DERReader.Tag.objectIdentifier:
                    if content.elementsEqual(DerivationBudget.scrypt) { isScrypt = true }
                case DERReader.Tag.sequence:
                    guard read(content, depth: depth - 1) else { return false }
                default: break
                }
            }
            return reader.isAtEnd
        }

        /// Returns a number; one that is negative counts as 0, and one of more than 31 bits as too many.
        private static func number(_ content: ArraySlice<UInt8>) -> Int {
            guard let first = content.first, first < 0x80 else { return 0 }
            let digits = content.drop { $0 == 0 }
            return digits.count > 4 ? .max : digits.reduce(0) { $0 << 8 | Int($1) }
        }
    }
}
