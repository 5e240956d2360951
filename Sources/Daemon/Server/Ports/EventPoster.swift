import Basics
import Delivery

/// Passes events of other threads to the partitions that own them.
struct EventPoster: Sendable {
    let map: PartitionMap
    let mailboxes: [ReactorMailbox]

    /// Passes events on, in order, with one parcel for each reactor.
    func post(_ events: [Event]) {
        var parcels = mailboxes.map { _ in Parcel() }
        for event in events {
            guard let key = event.key else { continue }
            parcels[map.reactor(of: key.partition(of: map.partitions))].events.append(event)
        }
        for (mailbox, parcel) in zip(mailboxes, parcels) where !parcel.isEmpty { mailbox.post(parcel) }
    }
}
