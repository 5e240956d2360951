import Basics
import Delivery

/// Operators and app servers that cancel messages on disk, whether they wait or not, and app servers that try to cancel those of others.
///
/// Drawn from random numbers of its own, so that worlds without it stay the same.
struct Cancellations {
    /// Who cancels a message.
    private enum Requester: CaseIterable {
        /// By its persistent ID.
        case anOperator
        /// By the ID that it gave the message.
        case owner
        /// By both IDs, in turn.
        case stranger
    }

    private var random: SeededRandom
    private let count: Int

    init(_ seed: Simulation.Seed) {
        random = SeededRandom(seed: seed.number ^ 0xca9c_e1ca_9ce1_ca9c)
        let happens = !seed.isEarly && Int.random(in: 0..<8, using: &random) == 0
        count = happens ? Int.random(in: 1...12, using: &random) : 0
    }

    /// Plans the cancellations during the storm.
    mutating func plan(_ world: World) {
        for _ in 0..<count {
            let draw = UInt64.random(in: 0...(.max), using: &random)
            let requester = Requester.allCases.randomElement(using: &random) ?? .anOperator
            world.at(Int64.random(in: 1...world.settings.stormNanoseconds, using: &random)) {
                if !world.isCalm { Self.cancel(draw, as: requester, world) }
            }
        }
    }

    private static func cancel(_ draw: UInt64, as requester: Requester, _ world: World) {
        let stored = world.checkers.cancellable.sorted {
            ($0.device.number, $0.sequence) < ($1.device.number, $1.sequence)
        }
        guard !stored.isEmpty else { return }
        let message = stored[Int(draw % UInt64(stored.count))]
        switch requester {
        case .anOperator:
            cancel(message, id: Array(message.persistentID.text.utf8), of: [message], sender: nil, world)
        case .owner:
            let named = stored.filter {
                $0.device == message.device && $0.messageID == message.messageID
                    && $0.sender == message.sender
            }
            cancel(message, id: message.messageID, of: named, sender: message.sender, world)
        case .stranger: tryToCancel(message, draw, world)
        }
    }

    /// Cancels messages. If all of them are, none may be sent any more.
    private static func cancel(
        _ message: StoredMessage, id: [UInt8], of named: [StoredMessage], sender: SenderID?, _ world: World
    ) {
        world.checkers.truth.cancelling.insert(message.messageID)
        request(message, id: id, sender: sender, world) { count, late in
            if count > 0 { world.reached(sender == nil ? .cancelled : .cancelledByOwner) }
            if late > 0 { world.reached(.cancelledTooLate) }
            guard count == named.count, late == 0 else { return }
            world.checkers.truth.cancelled.formUnion(named.map(\.persistentID))
        }
    }

    /// Another sender finds nothing to cancel.
    private static func tryToCancel(_ message: StoredMessage, _ draw: UInt64, _ world: World) {
        guard let own = message.sender else { return }
        let isCanary = world.canary == .cancelsForStrangers
        if isCanary { world.checkers.truth.cancelling.insert(message.messageID) }
        let stranger = isCanary ? own : SenderID(own.number + 1)
        let id = draw & 1 == 0 ? message.messageID : Array(message.persistentID.text.utf8)
        request(message, id: id, sender: stranger, world) { count, late in
            world.reached(.cancelledByNobody)
            if count + late > 0 { world.fail("endings", "the message of another sender was found") }
        }
    }

    private static func request(
        _ message: StoredMessage, id: [UInt8], sender: SenderID?, _ world: World,
        _ answered: @escaping (_ count: Int, _ late: Int) -> Void
    ) {
        let registration = sender == nil ? nil : message.registration
        world.request(
            {
                .cancel(
                    Cancellation(
                        requester: $0, device: message.device, registration: registration, sender: sender,
                        messageID: id))
            },
            { answer in
                if case .reply(_, .cancelled(let count, let late)) = answer { answered(count, late) }
            })
    }
}
