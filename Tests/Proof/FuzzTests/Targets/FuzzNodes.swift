import Basics
import Delivery
import NodeProtocol
import Store

/// For any bytes of another node: they are refused, or read as batches or items that are written as the same bytes.
///
/// The first byte selects entries of a frame (even) or a parcel (odd).
func fuzzNodes(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    if first & 1 == 0 { try fuzzEntries(bytes) } else { try fuzzParcel(bytes) }
}

private func fuzzEntries(_ bytes: [UInt8]) throws(Violation) {
    let batches: [WriteBatch]
    do throws(NodeProtocolFault) {
        batches = try NodeProtocol.batches(bytes.raw)
    } catch {
        return FuzzReach.record("entries refused \(name(of: error))")
    }
    for mutation in batches.flatMap(\.mutations) { FuzzReach.record("mutation \("\(mutation)".caseName)") }
    // What the store refuses is not written.
    let again = StoreInvariants.$trapsWhenBroken.withValue(false) { try? written(batches) }
    guard let again else { return FuzzReach.record("entries refused by the store") }
    try demand(again == bytes, "batches were written as other bytes: \(Hex.text(bytes)) \(Hex.text(again))")
}

private func written(_ batches: [WriteBatch]) throws(StoreError) -> [UInt8] {
    var writer = BatchWriter(partitions: Limits.Partition.maximumCount)
    for batch in batches { _ = try writer.append(batch) }
    return [UInt8](copying: writer.bytes)
}

private func fuzzParcel(_ bytes: [UInt8]) throws(Violation) {
    let now = Instant(nanoseconds: 43_200_000_000_000)
    let items: [ParcelItem]
    do throws(NodeProtocolFault) {
        items = try NodeProtocol.items(bytes.raw, now: now)
    } catch {
        return FuzzReach.record("parcel refused \(name(of: error))")
    }
    var writer = ParcelWriter()
    var table = ForwardTable(node: 1, partitions: 16)
    for item in items {
        switch item {
        case .event(let event):
            FuzzReach.record("event \(event.label)")
            _ = event.answerWhenUnreached()
            _ = table.open(event, to: 2, now: now)
            _ = writer.append(event, now: now)
        case .command(let connection, let command):
            FuzzReach.record("command \(name(of: command))")
            _ = table.receives(command, for: connection)
            _ = writer.append(command, to: connection, now: now)
        case .write(let number, let batch):
            FuzzReach.record("write")
            _ = writer.append(batch, number: number, now: now)
        case .written(let number, let position):
            FuzzReach.record("written")
            _ = writer.append(written: number, at: position, now: now)
        case .returned(let number):
            FuzzReach.record("returned")
            _ = writer.append(returned: number, now: now)
        case .asked(let number, let question):
            FuzzReach.record("question")
            _ = writer.append(question, number: number, now: now)
        case .answered(let number, let reply):
            FuzzReach.record("answer")
            _ = writer.append(answered: number, reply, now: now)
        }
    }
    let again = [UInt8](copying: writer.bytes)
    try demand(again == bytes, "items were written as other bytes: \(Hex.text(bytes)) \(Hex.text(again))")
    let (open, answers) = (table.count, table.overdue(now: .distantFuture).count)
    try demand(open == answers && table.count == 0, "\(open) requests had \(answers) answers")
}

/// The case of a fault.
func name(of fault: NodeProtocolFault) -> String {
    Mirror(reflecting: fault).children.first?.label ?? "truncated"
}

/// The kind of a command and its case.
private func name(of command: SessionCommand) -> String {
    let inner: String =
        switch command {
        case .appServer(let command): "\(command)"
        case .device(let command): "\(command)"
        case .connection(let command): "\(command)"
        case .submission(_, let reply): "\(reply)"
        case .reply(_, let reply): "\(reply)"
        }
    return "\("\(command)".caseName).\(inner.caseName)"
}
