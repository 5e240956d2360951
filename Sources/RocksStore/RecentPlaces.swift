import Basics
import Store

/// Where a message is: of a device, or of a sender.
struct Place: Hashable {
    var kind: ExpiryKey.Kind
    var owner: UInt64
    var sequence: UInt64

    /// Sequences hardly ever meet, and no stranger chooses them: they alone tell places apart well enough, at a third of the cost.
    func hash(into hasher: inout Hasher) { hasher.combine(sequence) }

    /// What stands there.
    enum Presence {
        case absent
        case present(MessageRecord.Header)
        case unreadable
    }
}

/// What stands at the places that commits have changed lately.
///
/// Most messages are gone a moment after they were put: what is known of them here needs no look into the engine. Whatever is
/// not known here is looked up there, so that it may forget at any time. Belongs to the commits of one open engine: after one
/// that failed all of it may be wrong.
struct RecentPlaces {
    private var places: [Place: Place.Presence] = [:]

    /// Nothing is known.
    init() {}

    /// What is known of a place; nil: nothing.
    subscript(place: Place) -> Place.Presence? {
        get { places[place] }
        set { places[place] = newValue }
    }

    /// Forgets everything where it is much; between two commits.
    mutating func trim() {
        if places.count > Limits.storeRecentPlaces { places.removeAll(keepingCapacity: true) }
    }
}
