import Basics
import Delivery
import Operator
import Webhooks
import Wire

/// The rows of an import request, and what has been done with them.
struct ImportPage {
    /// Rows of one device, with their lines.
    struct Device {
        var rows: DeviceImport
        private var record: [Int] = []
        private var registrations: [Int] = []
        private var subscriptions: [Int] = []

        init(_ rows: DeviceImport) { self.rows = rows }

        /// The lines in the order of the outcomes.
        var lines: [Int] { record + registrations + subscriptions }

        /// Adds a row of the device.
        mutating func add(_ row: RegistryRow, at line: Int) {
            switch row {
            case .device(let device):
                rows.record = device
                record = [line]
            case .registration(let registration):
                rows.registrations.append(registration)
                registrations.append(line)
            case .subscription(let subscription):
                rows.subscriptions.append(subscription)
                subscriptions.append(line)
            case .secret, .sender, .installation, .group: break
            }
        }
    }

    /// The valid rows with their lines.
    private(set) var rows: [(line: Int, row: RegistryRow)] = []
    private var counts: [ImportOutcome: Int] = [:]
    private var problems: [ImportRecords.Problem] = []

    /// Reads the rows. `reach` is that of webhooks.
    init(_ command: ImportRecords, reach: WebhookReach) {
        for (at, members) in command.rows.enumerated() {
            let line = command.line + at
            do throws(FieldProblem) {
                let row = try RegistryRow(json: .object(members))
                if case .sender(let sender) = row { try sender.demandReachable(reach) }
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
    func devices(_ replaces: Bool, _ seal: TokenSeal?, requester: () -> Requester) -> [Device] {
        var found: [Device] = []
        var places: [DeviceID: Int] = [:]
        for (line, row) in rows {
            guard let device = row.device else { continue }
            let isRecord = if case .device = row { true } else { false }
            // A device that is there twice is imported twice, so that each of its lines is counted.
            let known = places[device].flatMap { isRecord && found[$0].rows.record != nil ? nil : $0 }
            let at = known ?? found.count
            if known == nil {
                found.append(
                    Device(
                        DeviceImport(
                            requester: requester(), device: device, replaces: replaces, seal: seal)))
                places[device] = at
            }
            found[at].add(row, at: line)
        }
        return found
    }

    /// Counts the result of a row.
    mutating func count(_ result: ImportRowResult, at line: Int) {
        switch result {
        case .done(let outcome):
            guard let text = outcome.refusal else { return counts[outcome, default: 0] += 1 }
            problems.append(.init(line: line, field: nil, isConflict: true, text: text))
        case .refused(let field, let text):
            problems.append(.init(line: line, field: field, isConflict: false, text: text))
        }
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

extension SenderRow {
    /// Throws if the webhook is one that this server may not reach.
    fileprivate func demandReachable(_ reach: WebhookReach) throws(FieldProblem) {
        guard let webhook, let problem = WebhookURL.problem(webhook.url, reach) else { return }
        let isFormat = problem.hasPrefix("expected ")
        throw .invalid(
            field: "webhook.url",
            expected: isFormat
                ? String(problem.dropFirst("expected ".count))
                : "an endpoint that this server may reach: \(problem)")
    }
}
