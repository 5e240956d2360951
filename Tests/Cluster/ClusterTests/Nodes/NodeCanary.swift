import Cluster
import Delivery

/// Faults that are planted to check the checkers.
enum NodeCanary: CaseIterable {
    // Leases.
    case ignoresGate
    case ignoresLateTurns
    case ignoresLateCommands
    case believesReleased
    // Sessions.
    case letsInWhileLeaving
    case keepsSessions
    case keepsRemoteSessions
    case missesCloses
    // Ways of events.
    case ignoresFences
    case leavesGate
    case missesUnsent
    case dropsKept
    case dropsAwaited
    case missesLostLinks
    case missesNewLinks
    case neverTicks
    case missesOwners
    case missesLosses
    case missesLeaving
    case missesResumption
    case losesDelivered
    case deliversTwice
    case answersTwice
    case losesAnswers
    case reordersDelivered
    case sendsTwice
    // Logs.
    case neverPauses
    case neverResumes
    case ignoresStreams
    // Changes of senders.
    case missesSenders
    case neverVouches
    case writesTwice
    case losesChanges
    case losesOutcomes
    case keepsChanges
    case losesReturned
    case answersUnwritten
    case missesApplied
    case answersUnapplied

    /// The first seed of the search for it: that world showed the fault when it was planted.
    var seed: UInt64 {
        switch self {
        case .answersUnwritten, .dropsAwaited, .missesLeaving: 1
        case .ignoresGate, .losesAnswers: 3
        case .letsInWhileLeaving, .missesLosses: 4
        case .keepsChanges, .losesReturned: 9
        case .missesCloses: 10
        case .missesResumption: 13
        case .neverPauses, .neverResumes: 16
        case .dropsKept, .leavesGate: 21
        case .ignoresStreams: 26
        case .ignoresLateCommands: 34
        case .neverVouches: 46
        case .missesLostLinks: 53
        case .neverTicks: 56
        case .missesUnsent: 78
        case .ignoresFences: 118
        case .ignoresLateTurns: 119
        case .believesReleased: 372
        default: 0
        }
    }

    /// Whether the router does not get an event.
    func changes(_ event: NodeRouterEvent) -> Bool {
        switch (self, event) {
        case (.missesNewLinks, .linked), (.missesOwners, .owner), (.missesLosses, .lost),
            (.missesLeaving, .leaves), (.losesChanges, .receivedChange), (.losesOutcomes, .receivedOutcome),
            (.losesReturned, .returnedChange), (.missesApplied, .applied):
            true
        default: false
        }
    }

    /// Changes what the router wants, now and then.
    func change(_ effects: inout [NodeRouterEffect], _ world: NodeWorld) {
        switch self {
        case .keepsRemoteSessions:
            effects.removeAll { if case .sendCommand(.connection(.close), _, _) = $0 { true } else { false } }
        case .missesResumption where effects.contains { if case .resume = $0 { true } else { false } }:
            effects.removeAll { if case .serve = $0 { true } else { false } }
        case .missesCloses:
            effects.removeAll { if case .closeSessions = $0 { true } else { false } }
        case .losesDelivered where world.chance(1):
            effects.removeAll { if case .deliver = $0 { true } else { false } }
        case .deliversTwice where world.chance(1):
            effects += effects.filter { if case .deliver = $0 { true } else { false } }
        case .answersTwice where world.chance(1):
            effects += effects.filter { if case .command = $0 { true } else { false } }
        case .losesAnswers where world.chance(1):
            effects.removeAll { if case .command = $0 { true } else { false } }
        case .reordersDelivered where effects.count > 2: effects.reverse()
        case .sendsTwice where world.chance(1):
            effects += effects.filter { if case .send = $0 { true } else { false } }
        case .keepsChanges:
            effects.removeAll { if case .returnChange = $0 { true } else { false } }
        case .writesTwice: effects += effects.filter { if case .submit = $0 { true } else { false } }
        case .answersUnwritten:
            effects = effects.map {
                if case .changed(let number, false) = $0 { .changed(number, isWritten: true) } else { $0 }
            }
        default: break
        }
    }
}
