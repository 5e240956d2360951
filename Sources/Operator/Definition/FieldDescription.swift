/// A field of a command or of an answer, as documentation and front ends read it.
public struct FieldDescription: Sendable, Equatable {
    /// Whether the field may be left out.
    public enum Presence: Sendable, Equatable {
        /// It must be there.
        case required
        /// It may be left out.
        case optional
        /// It is always there in what is written, and `null` where there is no value.
        case nullable
        /// It may be left out, and then has this value.
        case preset(String)
    }

    /// The name in JSON: `sender_id`.
    public let name: String
    /// What its value must be.
    public let form: ValueForm
    /// Stands for the value in usage lines: `SECONDS`.
    public let placeholder: String
    /// Whether the value must not stand in logs and error texts.
    public let isSecret: Bool
    /// Whether it may be left out.
    public let presence: Presence
    /// Under which word its value stands in the audit line; `nil` if it does not.
    public let audit: AuditWord?
    /// What it is, in one sentence.
    public let documentation: String

    /// What to do about a value that is refused.
    var hint: String {
        switch presence {
        case .preset(let value): "\(name): \(documentation) Without it: \(value)."
        case .required, .optional, .nullable: "\(name): \(documentation)"
        }
    }
}
