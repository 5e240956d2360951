/// The description of a field for documentation and front ends.
public struct FieldDescription: Sendable, Equatable {
    /// Whether the field may be left out.
    public enum Presence: Sendable, Equatable {
        case required
        case optional
        /// The field is always encoded, as `null` if there is no value.
        case nullable
        /// The field may be left out and then has this value.
        case preset(String)
    }

    /// The name in JSON: `sender_id`.
    public let name: String
    /// The form of its value.
    public let form: ValueForm
    /// The placeholder for the value in usage lines: `SECONDS`.
    public let placeholder: String
    /// Whether the value must not appear in logs and error texts.
    public let isSecret: Bool
    /// Whether it may be left out.
    public let presence: Presence
    /// The key of its value in the audit line; `nil` if it is not recorded.
    public let audit: AuditKey?
    /// A description in one sentence.
    public let documentation: String

    /// The hint for an invalid value.
    var hint: String {
        switch presence {
        case .preset(let value):
            "\(name): \(documentation) Default: \(value.isEmpty ? "empty" : value)."
        case .required, .optional, .nullable: "\(name): \(documentation)"
        }
    }
}
