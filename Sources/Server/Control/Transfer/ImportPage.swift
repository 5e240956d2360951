import Basics
import Delivery
import Operator
import Wire

/// The rows of an import request, and what has been done with them.
struct ImportPage {
    /// Rows of one device, with their lines in the order of the outcomes.
    struct Device {
        var rows: DeviceImport
        var lines: [Int]
    }

    /// The valid rows with their lines.
    private(set) var rows: [(line: Int, row: ExportedRow)] = []
    private var counts: [ImportOutcome: Int] = [:]
    private var problems: [ImportRecords.Problem] = []

    init(_ command: ImportRecords) {
        for (at, members) in command.rows.enumerated() {
            let line = command.line + at
            do throws(FieldProblem) {
                let row = try ExportedRow(json: .object(members))
                try row.demandConvertible()
                rows.append((line, row))
            } catch {
                problems.append(
                    .init(
                        line: line, field: error.path.isEmpty ? nil : error.path, isConflict: false,
                        text: error.text))
            }
        }
    }

    /// Returns the rows of devices, grouped by device. `requester` makes the address of an answer.
    func devices(_ replaces: Bool, requester: () -> Requester) -> [Device] {
        var found: [Device] = []
        var places: [DeviceID: Int] = [:]
        var later: [DeviceID: (registrations: [Int], subscriptions: [Int])] = [:]
        for (line, row) in rows {
            guard let device = row.device else { continue }
            let at = places[device] ?? found.count
            if at == found.count {
                places[device] = at
                found.append(
                    Device(
                        rows: DeviceImport(requester: requester(), device: device, replaces: replaces),
                        lines: []))
            }
            switch row {
            case .device(let row):
                found[at].rows.record = DeviceRecord(row)
                found[at].lines = [line]
            case .registration(let row):
                found[at].rows.registrations.append(Registration(row))
                later[device, default: ([], [])].registrations.append(line)
            case .subscription(let row):
                if let subscription = Subscription(row) { found[at].rows.subscriptions.append(subscription) }
                later[device, default: ([], [])].subscriptions.append(line)
            case .secret, .sender, .installation, .group: break
            }
        }
        for at in found.indices {
            guard let lines = later[found[at].rows.device] else { continue }
            found[at].lines += lines.registrations + lines.subscriptions
        }
        return found
    }

    /// Counts the outcome of a row.
    mutating func count(_ outcome: ImportOutcome, at line: Int) {
        guard let text = outcome.refusal else {
            counts[outcome, default: 0] += 1
            return
        }
        problems.append(.init(line: line, field: nil, isConflict: true, text: text))
    }

    /// Returns the answer.
    func answer(needsRestart: Bool) -> ImportRecords.Answer {
        ImportRecords.Answer(
            added: counts[.added] ?? 0, unchanged: counts[.unchanged] ?? 0,
            replaced: counts[.replaced] ?? 0, problems: problems.sorted { $0.line < $1.line },
            needsRestart: needsRestart)
    }
}

extension ImportOutcome {
    /// Why a row was not imported. `nil` if it was.
    fileprivate var refusal: String? {
        switch self {
        case .added, .unchanged, .replaced: nil
        case .differs: "it differs from what is here: --replace imports it"
        case .noDevice: "its device is not here"
        case .noRegistration: "its registration is not here"
        case .beyondDevice: "its number is not below next_registration of its device"
        case .full: "its device or registration has the maximum number already"
        }
    }
}

extension ExportedRow {
    /// The device of the row. `nil` for rows of no device.
    fileprivate var device: DeviceID? {
        switch self {
        case .device(let row): row.device
        case .registration(let row): row.device
        case .subscription(let row): row.device
        case .secret, .sender, .installation, .group: nil
        }
    }

    /// Throws for values that only the core can check.
    fileprivate func demandConvertible() throws(FieldProblem) {
        switch self {
        case .subscription(let row):
            guard Subscription(row) == nil else { return }
            throw .invalid(field: "topic", expected: "letters, digits and -_.~%")
        case .registration(let row):
            guard let web = row.web, WebKeys(publicKey: web.publicKey, auth: web.auth.revealed) == nil
            else { return }
            throw .invalid(field: "web", expected: "an uncompressed P-256 point of 65 bytes, and 16 bytes")
        case .secret, .sender, .device, .installation, .group: return
        }
    }
}
