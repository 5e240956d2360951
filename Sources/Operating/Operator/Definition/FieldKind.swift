import Basics
import Wire

/// The kind of a field's values: their form, and how they are decoded from and encoded as JSON.
///
/// Decoding is strict and throws a `FieldProblem` for anything else. Every encoded value can be decoded.
public struct FieldKind<Value: Sendable>: Sendable {
    let form: ValueForm
    /// The placeholder for a value in usage lines.
    let placeholder: String
    /// Whether values must not appear in logs and error texts.
    let isSecret: Bool
    let decode: @Sendable (JSONValue) throws(FieldProblem) -> Value
    let encode: @Sendable (Value) -> JSONValue

    init(
        _ form: ValueForm, _ placeholder: String = "", isSecret: Bool = false,
        decode: @escaping @Sendable (JSONValue) throws(FieldProblem) -> Value,
        encode: @escaping @Sendable (Value) -> JSONValue
    ) {
        self.form = form
        self.placeholder = placeholder
        self.isSecret = isSecret
        self.decode = decode
        self.encode = encode
    }

    /// A kind of single values; `parse` returns `nil` for an invalid one.
    static func scalar(
        _ form: ValueForm, _ placeholder: String = "", isSecret: Bool = false,
        parse: @escaping @Sendable (JSONValue) -> Value?, encode: @escaping @Sendable (Value) -> JSONValue
    ) -> FieldKind {
        FieldKind(
            form, placeholder, isSecret: isSecret,
            decode: { (value) throws(FieldProblem) -> Value in
                guard let parsed = parse(value) else {
                    throw .invalid(value, isSecret: isSecret, expected: form.expected)
                }
                return parsed
            }, encode: encode)
    }
}

extension FieldKind {
    /// Returns the kind of values of another type that are encoded like those of this one.
    public func map<Other>(
        _ decoded: @escaping @Sendable (Value) throws(FieldProblem) -> Other,
        _ encoded: @escaping @Sendable (Other) -> Value
    ) -> FieldKind<Other> {
        FieldKind<Other>(
            form, placeholder, isSecret: isSecret,
            decode: { (value) throws(FieldProblem) -> Other in try decoded(try decode(value)) },
            encode: { encode(encoded($0)) })
    }
}

extension FieldKind where Value == Bool {
    /// `true` or `false`; the word in a string is accepted as well.
    public static var boolean: FieldKind {
        scalar(
            .boolean,
            parse: { value in
                switch value.text {
                case "true": true
                case "false": false
                default: value.boolean
                }
            }, encode: { .boolean($0) })
    }
}

extension FieldKind where Value == Int {
    /// A whole number; digits in a string are accepted as well.
    public static func integer(_ range: ClosedRange<Int>, as placeholder: String = "N") -> FieldKind {
        scalar(
            .integer(range), placeholder,
            parse: { value in
                guard let number = value.integer ?? value.digits.flatMap({ Int($0) }), range.contains(number)
                else { return nil }
                return number
            }, encode: { .integer($0) })
    }

    /// A number of things, from 0.
    static var count: FieldKind { integer(0...(.max)) }

    /// Any whole number.
    static var whole: FieldKind { integer(.min ... .max) }
}

extension JSONValue {
    /// The text of a string of decimal digits. Returns `nil` for anything else, including a sign.
    var digits: String? {
        text.flatMap { text in text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? text : nil }
    }

    /// Returns the text of a string whose length in UTF-8 is within `bytes`. Returns `nil` for anything else.
    func text(of bytes: ClosedRange<Int>) -> String? {
        text.flatMap { bytes.contains($0.utf8.count) ? $0 : nil }
    }
}

extension FieldKind where Value == String {
    /// Text of any length, for answers.
    static var text: FieldKind { text(0...(.max)) }

    /// Text of a length in UTF-8 bytes.
    public static func text(_ bytes: ClosedRange<Int>, as placeholder: String = "TEXT") -> FieldKind {
        scalar(
            .text(bytes), placeholder,
            parse: { $0.text(of: bytes) }, encode: { .string($0) })
    }
}

extension FieldKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enum.
    public static var word: FieldKind {
        let words = Value.allCases.map(\.rawValue)
        return scalar(
            .word(words), words.joined(separator: "|"), parse: { $0.text.flatMap(Value.init(rawValue:)) },
            encode: { .string($0.rawValue) })
    }
}

extension FieldKind where Value == Redacted<String> {
    /// Text that must not appear in logs and error texts.
    static func secret(_ bytes: ClosedRange<Int>, _ phrase: String, as placeholder: String = "TEXT")
        -> FieldKind
    {
        scalar(
            .named(phrase), placeholder, isSecret: true,
            parse: { $0.text(of: bytes).map { Redacted($0) } }, encode: { .string($0.revealed) })
    }
}

extension JSONValue {
    /// Returns the bytes of a string in Base64. Returns `nil` for anything else, and for more than `limit` bytes.
    func base64(upTo limit: Int) -> [UInt8]? {
        guard let text, let decoded = Base64.bytes(Array(text.utf8).raw), decoded.count <= limit else {
            return nil
        }
        return decoded
    }
}

extension FieldKind where Value == [UInt8] {
    /// Bytes as Base64.
    public static func base64(upTo bytes: Int) -> FieldKind {
        scalar(
            .named("Base64 of up to \(bytes) bytes"), "BASE64", parse: { $0.base64(upTo: bytes) },
            encode: { .string(Base64.text($0)) })
    }
}
