import Basics
import Delivery
import Operator
import Wire

/// A line of an export that holds a record or a secret.
enum RegistryRow {
    case secret(ExportedSecret)
    case sender(SenderRow)
    case device(DeviceRecord)
    case registration(Registration)
    case subscription(Subscription)
    case installation(InstallationRecord)
    case group(GroupRecord)

    /// Decodes a line. A member that is not a field is refused, since it may be a misspelt one.
    init(json: JSONValue) throws(FieldProblem) {
        switch try ExportedRow.kind(of: json) {
        case .secret: self = .secret(try ExportedRow.strict(json))
        case .sender: self = .sender(try ExportedRow.strict(json))
        case .device: self = .device(try ExportedRow.strict(json))
        case .registration: self = .registration(try ExportedRow.strict(json))
        case .subscription: self = .subscription(try ExportedRow.strict(json))
        case .installation: self = .installation(try ExportedRow.strict(json))
        case .group: self = .group(try ExportedRow.strict(json))
        case .header, .end:
            throw FieldProblem(
                .invalid(value: json[ExportedRow.kindKey]?.text), at: ExportedRow.kindKey,
                expected: "a row: the header is the first line, and the end the last one")
        }
    }

    /// The encoded line.
    var json: JSONValue {
        switch self {
        case .secret(let row): ExportedRow.json(.secret, row)
        case .sender(let row): ExportedRow.json(.sender, row)
        case .device(let row): ExportedRow.json(.device, row)
        case .registration(let row): ExportedRow.json(.registration, row)
        case .subscription(let row): ExportedRow.json(.subscription, row)
        case .installation(let row): ExportedRow.json(.installation, row)
        case .group(let row): ExportedRow.json(.group, row)
        }
    }

    /// The device of the row. `nil` for rows of no device.
    var device: DeviceID? {
        switch self {
        case .device(let row): row.device
        case .registration(let row): row.name.device
        case .subscription(let row): row.name.device
        case .secret, .sender, .installation, .group: nil
        }
    }
}
