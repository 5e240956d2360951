import Basics
import Delivery
import NodeProtocol
import Testing

/// The clock of the tests.
let noon = Instant(nanoseconds: 43_200_000_000_000)

/// The bytes of a parcel with some items.
func parcel(_ items: [ParcelItem], now: Instant = noon) throws -> [UInt8] {
    var writer = ParcelWriter()
    for item in items {
        let fits =
            switch item {
            case .event(let event): writer.append(event, now: now)
            case .command(let connection, let command): writer.append(command, to: connection, now: now)
            }
        try #require(fits)
    }
    return [UInt8](copying: writer.bytes)
}

/// The items of a parcel.
func items(in parcel: [UInt8], now: Instant = noon) throws(NodeProtocolFault) -> [ParcelItem] {
    try NodeProtocol.items(parcel.raw, now: now)
}

/// Everything in a value, also in the objects that it refers to.
func everything(in value: some Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text
}
