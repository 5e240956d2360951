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
            case .write(let number, let batch): writer.append(batch, number: number, now: now)
            case .written(let number, let position):
                writer.append(written: number, at: position, now: now)
            case .returned(let number): writer.append(returned: number, now: now)
            case .asked(let number, let question): writer.append(question, number: number, now: now)
            case .answered(let number, let reply): writer.append(answered: number, reply, now: now)
            }
        try #require(fits)
    }
    return [UInt8](copying: writer.bytes)
}

/// The items of a parcel.
func items(in parcel: [UInt8], now: Instant = noon) throws(NodeProtocolFault) -> [ParcelItem] {
    try NodeProtocol.items(parcel.raw, now: now)
}

/// Batches of the control plane in parcels.
@Suite struct ControlWriteTests {
    @Test("a batch of the control plane and its outcome are read as they were written")
    func writes() throws {
        let batch = WriteBatch(
            batchNumber: 0, mutations: [.removeSender(SenderID(5)), .removeSender(SenderID(6))],
            isDurable: true)
        let bytes = try parcel([
            .write(7, batch), .written(.max, at: nil), .written(0, at: .max), .returned(.max),
        ])
        let read = try items(in: bytes)
        guard case .write(7, let found) = read[0], case .written(.max, at: nil) = read[1],
            case .written(0, at: .max) = read[2], case .returned(.max) = read[3]
        else {
            Issue.record("\(read)")
            return
        }
        #expect(found.mutations == batch.mutations && found.isDurable && found.partition == nil)
        for count in 1..<bytes.count {
            #expect(throws: NodeProtocolFault.self) {
                let part = try items(in: Array(bytes.prefix(count)))
                // Whole items before the cut are read.
                if part.count < 4 { throw NodeProtocolFault.truncated }
            }
        }
    }
}

/// Everything in a value, also in the objects that it refers to.
func everything(in value: some Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text
}
