import Basics
import Delivery
import Store

extension StoreReport {
    /// The report that a batch was not written.
    static func failed(_ batchNumber: UInt64, of partition: Int) -> StoreReport {
        StoreReport(partition: partition, .committed(.failed(batchNumber)))
    }
}

/// The store has applied the frames of a partition's log up to a position.
public struct AppliedReport: Sendable, Equatable {
    public var partition: Int
    public var position: UInt64
}

/// Posts the store's reports to the reactors: each gets those for its partitions in one parcel.
struct StoreReports: Sendable {
    let map: PartitionMap
    let mailboxes: [ReactorMailbox]

    /// Posts reports, keeping the order per partition.
    func post(_ reports: [StoreReport]) {
        guard mailboxes.count > 1 else {
            mailboxes.first?.post(Parcel(reports: reports))
            return
        }
        var parcels = [Parcel](repeating: Parcel(), count: mailboxes.count)
        for report in reports { parcels[map.reactor(of: report.partition)].reports.append(report) }
        for (mailbox, parcel) in zip(mailboxes, parcels) where !parcel.isEmpty { mailbox.post(parcel) }
    }
}

/// A count of devices and registrations in progress.
struct CensusState {
    /// The device after which the next part begins.
    private(set) var after: DeviceID?
    private var sum = RegistryCensus()

    /// Adds a part. Returns the result after the last part, and starts again.
    mutating func add(_ part: RegistryCensus) -> RegistryCensus? {
        sum.devices += part.devices
        sum.registrations += part.registrations
        after = part.next
        guard part.next == nil else { return nil }
        defer { sum = RegistryCensus() }
        return sum
    }
}

extension StoreQuery {
    /// The position of its kind in `Metric.storeQueries`.
    var metricPosition: Int {
        switch self {
        case .device: 0
        case .messages: 1
        case .gatewayMessage: 2
        case .gatewayDevices: 3
        case .upstream: 4
        case .expired: 5
        case .unseen: 6
        case .group: 7
        case .groupLabelled: 8
        case .installation: 9
        case .unusedInstallations: 10
        case .topicMessages: 11
        case .topicEntries: 12
        case .topicDevices: 13
        case .named: 14
        case .schedule: 15
        }
    }
}
