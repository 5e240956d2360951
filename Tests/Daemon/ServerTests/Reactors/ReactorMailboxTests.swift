import Basics
import Delivery
import Testing
import Transport

@testable import Server

/// The queue through which other threads pass work to a reactor.
@Suite("Mailbox of a reactor")
struct ReactorMailboxTests {
    private final class Owner: ReactorDelegate {
        var woken = 0
        func reactorWoke(_ reactor: Reactor, now: Now) { woken += 1 }
        func reactorTurnEnded(_ reactor: Reactor, now: Now) {}
    }

    @Test("the reactor is woken once for all queued work, and again for work after it was taken")
    func wakes() throws {
        let reactor = try Reactor(index: 0)
        let owner = Owner()
        reactor.delegate = owner
        let mailbox = ReactorMailbox(handle: reactor.handle)
        for round in 1...3 {
            for _ in 0..<2 { mailbox.post(Parcel(events: [.tick])) }
            reactor.turn(waitMilliseconds: 1_000)
            #expect(owner.woken == round && mailbox.takeAll().events.count == 2)
        }
        reactor.turn(waitMilliseconds: 0)
        #expect(owner.woken == 3, "canary: no further wake-up")
    }

    @Test("merged parcels keep all items in order")
    func pieces() throws {
        let reactor = try Reactor(index: 0)
        let mailbox = ReactorMailbox(handle: reactor.handle)
        let connections = (0..<3).map { ConnectionID(reactor: 0, slot: $0, generation: 1) }
        for connection in connections {
            var parcel = Parcel(events: [.tick])
            parcel.commands = [(connection, .connection(.drain))]
            mailbox.post(parcel)
            mailbox.post { _ in }
        }
        let all = mailbox.takeAll()
        #expect(all.events.count == 3 && all.jobs.count == 3 && all.count == 9)
        #expect(all.commands.map { $0.0 } == connections)
        #expect(mailbox.takeAll().isEmpty)
    }

    @Test("a mailbox signals backpressure while its queue is too long")
    func pressed() throws {
        let reactor = try Reactor(index: 0)
        let mailbox = ReactorMailbox(handle: reactor.handle)
        mailbox.post(Parcel(events: Array(repeating: .tick, count: Limits.Connection.reactorMailbox)))
        #expect(!mailbox.hasBackpressure)
        mailbox.post(Parcel(events: [.tick]))
        #expect(mailbox.hasBackpressure)
        _ = mailbox.takeAll()
        #expect(!mailbox.hasBackpressure)
    }

    @Test("the events of jobs count for backpressure as well, until they are taken")
    func pressedByJobs() throws {
        let reactor = try Reactor(index: 0)
        let mailbox = ReactorMailbox(handle: reactor.handle)
        for count in [1, Limits.Connection.reactorMailbox + 1] {
            var parcel = Parcel()
            parcel.jobs = [{ _ in }]
            parcel.eventsOfJobs = count
            #expect(!mailbox.hasBackpressure)
            mailbox.post(parcel)
        }
        #expect(mailbox.hasBackpressure)
        _ = mailbox.takeAll()
        #expect(!mailbox.hasBackpressure)
    }
}
