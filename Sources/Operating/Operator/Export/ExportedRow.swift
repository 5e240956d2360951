public import Basics
public import Wire

/// A line of an export: one JSON object with its `kind`.
public enum ExportedRow: Sendable {
    case secret(ExportedSecret)
    case sender(ExportedSender)
    case device(ExportedDevice)
    case registration(ExportedRegistration)
    case subscription(ExportedSubscription)
    case installation(ExportedInstallation)
    case group(ExportedGroup)

    /// The kind of a line.
    public enum Kind: String, Sendable, CaseIterable {
        case header, secret, sender, device, registration, subscription, installation, group, end
    }

    /// The member of each line that names its kind.
    public static let kindKey = "kind"

    /// Decodes a line. A member that is not a field is refused, since it may be a misspelt one.
    public init(json: JSONValue) throws(FieldProblem) {
        switch try Self.kind(of: json) {
        case .secret: self = .secret(try Self.strict(json))
        case .sender: self = .sender(try Self.strict(json))
        case .device: self = .device(try Self.strict(json))
        case .registration: self = .registration(try Self.strict(json))
        case .subscription: self = .subscription(try Self.strict(json))
        case .installation: self = .installation(try Self.strict(json))
        case .group: self = .group(try Self.strict(json))
        case .header, .end:
            throw FieldProblem(
                .invalid(value: json[Self.kindKey]?.text), at: Self.kindKey,
                expected: "a row: the header is the first line, and the end the last one")
        }
    }

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

    /// The encoded line.
    public var json: JSONValue {
        switch self {
        case .secret(let row): Self.json(.secret, row)
        case .sender(let row): Self.json(.sender, row)
        case .device(let row): Self.json(.device, row)
        case .registration(let row): Self.json(.registration, row)
        case .subscription(let row): Self.json(.subscription, row)
        case .installation(let row): Self.json(.installation, row)
        case .group(let row): Self.json(.group, row)
        }
    }

    /// Encodes a record with its kind.
    public static func json(_ kind: Kind, _ row: some Record) -> JSONValue {
        .object([.init(kindKey, .string(kind.rawValue))] + (row.json.members ?? []))
    }
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
    static func content(_ bytes: ClosedRange<Int>) -> FieldKind {
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
    static var digest: FieldKind {
        .scalar(
            .named("Base64 of 32 bytes"), "BASE64",
            parse: { value in
                value.text.flatMap { Base64.bytes(Array($0.utf8).raw) }.flatMap { $0.count == 32 ? $0 : nil }
            }, encode: { .string(Base64.text($0)) })
    }
}
