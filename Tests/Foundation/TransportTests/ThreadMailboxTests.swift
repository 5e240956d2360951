import Basics
import Synchronization
import Testing
import Transport

/// The queue through which threads pass work to another one.
@Suite struct ThreadMailboxTests {
    private final class Host {
        var numbers: [Int] = []
    }

    private final class Alarm: Sendable {
        let count = Atomic<Int>(0)
    }

    private static func mailbox(_ alarm: Alarm) -> ThreadMailbox<ThreadJobs<Host>> {
        ThreadMailbox { alarm.count.add(1, ordering: .relaxed) }
    }

    @Test("the thread is woken once for all queued work, and again for work after it was taken")
    func wakes() {
        let alarm = Alarm()
        let mailbox = Self.mailbox(alarm)
        for round in 1...3 {
            for number in 0..<2 { #expect(mailbox.post { $0.numbers.append(number) }) }
            #expect(alarm.count.load(ordering: .relaxed) == round)
            let host = Host()
            for job in mailbox.takeAll().jobs { job(host) }
            #expect(host.numbers == [0, 1], "in order")
        }
        #expect(mailbox.takeAll().jobs.isEmpty, "canary: nothing is taken twice")
    }

    @Test("a closed mailbox returns what is queued, and takes nothing more")
    func closes() {
        let alarm = Alarm()
        let mailbox = Self.mailbox(alarm)
        mailbox.post { $0.numbers.append(1) }
        #expect(mailbox.close().jobs.count == 1)
        #expect(!mailbox.post { $0.numbers.append(2) })
        #expect(mailbox.takeAll().jobs.isEmpty && alarm.count.load(ordering: .relaxed) == 1)
    }

    @Test("a reactor is woken by work of other threads")
    func reactor() throws {
        let reactor = try Reactor(index: 0)
        let mailbox = ThreadMailbox<ThreadJobs<Host>>(waking: reactor.handle)
        final class Owner: ReactorDelegate {
            var woken = 0
            func reactorWoke(_ reactor: Reactor, now: Now) { woken += 1 }
            func reactorTurnEnded(_ reactor: Reactor, now: Now) {}
        }
        let owner = Owner()
        reactor.delegate = owner
        let thread = try Transport.Thread(name: "sender") { mailbox.post { $0.numbers.append(1) } }
        #expect(reactor.turns { owner.woken == 1 })
        thread.join()
        #expect(mailbox.takeAll().jobs.count == 1)
        reactor.end()
    }
}
