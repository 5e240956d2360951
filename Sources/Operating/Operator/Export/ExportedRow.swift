public import Basics
public import Wire

/// The lines of an export: each is one JSON object with its `kind`. The server has the types of those that hold its records.
public enum ExportedRow {
    /// The kind of a line.
    public enum Kind: String, Sendable, CaseIterable {
        case header, secret, sender, device, registration, subscription, installation, group, end
    }

    /// The member of each line that names its kind.
    public static let kindKey = "kind"

    /// Returns the kind of a line.
    public static func kind(of json: JSONValue) throws(FieldProblem) -> Kind {
        guard let text = json[kindKey]?.text else {
            throw FieldProblem(.missing, at: kindKey, expected: expectedKind)
        }
        guard let kind = Kind(rawValue: text) else {
            throw FieldProblem(
                .invalid(value: Printable.text(text, limit: Limits.Config.shownCharacters)), at: kindKey,
                expected: expectedKind)
        }
        return kind
    }

    private static var expectedKind: String {
        "one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))"
    }

    /// Decodes a record whose members are all known.
    public static func strict<Row: Record>(_ json: JSONValue) throws(FieldProblem) -> Row {
        let names = Row.fields.descriptions.map(\.name)
        for member in json.members ?? [] where member.key != kindKey && !names.contains(member.key) {
            throw FieldProblem(
                .unknown, at: member.key, expected: "one of \(names.joined(separator: ", "))",
                hint: "leave it out, or correct its name")
        }
        return try Row(json: json)
    }

    /// Encodes a record with its kind.
    public static func json(_ kind: Kind, _ row: some Record) -> JSONValue {
        .object([.init(kindKey, .string(kind.rawValue))] + (row.json.members ?? []))
    }
}

/// A secret of the server that what it has handed out depends on.
public struct ExportedSecret: Record, Equatable {
    /// What the secret is for.
    public enum Name: String, Sendable, CaseIterable {
        /// Authenticates registration tokens, notification keys and access tokens.
        case token = "token_secret"
    }

    public var name: Name
    public var value: Redacted<[UInt8]>

    /// Creates a row.
    public init(name: Name, value: Redacted<[UInt8]>) {
        self.name = name
        self.value = value
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.name == b.name && ConstantTime.equal(a.value.revealed, b.value.revealed)
    }

    public func check() throws(FieldProblem) {
        guard value.revealed.count == 32 else {
            throw .conflict("invalid value: expected Base64 of 32 bytes", hint: "export again")
        }
    }

    public static let fields = Fields(
        ExportedSecret.init(name:value:),
        .required("name", .word, \.name, "What it is for."),
        .required("value", .secretFile(upTo: 32), \.value, "The secret."))
}

/// The first line of an export.
public struct ExportHeader: Record, Equatable {
    /// The format that this version writes and reads.
    public static let formatNow = 1

    /// The format of the export.
    public var format: Int
    public var version: String
    public var createdAt: UnixMilliseconds

    /// Creates a header.
    public init(format: Int = Self.formatNow, version: String, createdAt: UnixMilliseconds) {
        self.format = format
        self.version = version
        self.createdAt = createdAt
    }

    public static let fields = Fields(
        ExportHeader.init(format:version:createdAt:),
        .required("format", .integer(1...Int.max), \.format, "The format of the export."),
        .required("ccsd", .text, \.version, "The version of ccsctl that made it."),
        .required("created_at", .time, \.createdAt, "When it was made."))
}

/// The last line of an export: without it the export is truncated.
public struct ExportEnd: Record, Equatable {
    /// The number of lines between the header and the end.
    public var rows: Int

    /// Creates an end.
    public init(rows: Int) { self.rows = rows }

    public static let fields = Fields(
        ExportEnd.init(rows:), .required("rows", .count, \.rows, "The number of rows before it."))
}

extension FieldKind where Value == [UInt8] {
    /// Bytes that a client sent: a string if they are UTF-8, else `{"base64":"…"}`.
    public static func content(_ bytes: ClosedRange<Int>) -> FieldKind {
        let key = "base64"
        return .scalar(
            .named("a string of \(bytes.lowerBound) to \(bytes.upperBound) bytes, or {\"base64\":\"…\"}"),
            "TEXT",
            parse: { value in
                let found =
                    value.text.map { Array($0.utf8) }
                    ?? value[key]?.text.flatMap { Base64.bytes(Array($0.utf8).raw) }
                return found.flatMap { bytes.contains($0.count) ? $0 : nil }
            },
            encode: { content in
                let text = String(decoding: content, as: UTF8.self)
                return Array(text.utf8) == content
                    ? .string(text) : .object([.init(key, .string(Base64.text(content)))])
            })
    }

    /// A SHA-256 in Base64.
    public static var digest: FieldKind {
        .scalar(
            .named("Base64 of 32 bytes"), "BASE64",
            parse: { value in
                value.text.flatMap { Base64.bytes(Array($0.utf8).raw) }.flatMap { $0.count == 32 ? $0 : nil }
            }, encode: { .string(Base64.text($0)) })
    }
}
