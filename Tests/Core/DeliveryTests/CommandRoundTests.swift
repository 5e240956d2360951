import Basics
import Testing

@testable import Delivery

@Suite("Rounds of commands")
struct CommandRoundTests {
    /// A command that can be recognised: the answer to a request, or the release of a sequence.
    private enum Mark: Equatable {
        case answer(UInt32)
        case other(UInt64)
    }

    private static func connection(_ slot: UInt32) -> ConnectionID {
        ConnectionID(reactor: 0, slot: slot, generation: 1)
    }

    private static func command(_ mark: Mark) -> SessionCommand {
        switch mark {
        case .answer(let requestID): .submission(requestID: requestID, .accepted(id: nil, canonical: nil))
        case .other(let number): .appServer(.release(SequenceNumber(number)))
        }
    }

    private static func mark(_ command: SessionCommand) -> Mark? {
        switch command {
        case .submission(let requestID, _): .answer(requestID)
        case .appServer(.release(let sequence)): .other(sequence.number)
        default: nil
        }
    }

    /// Takes all commands as a host does. Returns them with their connections, one array per call of a session.
    private static func calls(_ commands: [(UInt32, Mark)]) -> [[(UInt32, Mark)]] {
        var array = commands.map { (connection($0.0), command($0.1)) }
        var round = CommandRound(&array)
        #expect(array.isEmpty)
        var calls: [[(UInt32, Mark)]] = []
        while let connection = round.next() {
            var call: [(UInt32, Mark)] = []
            while let command = round.take(for: connection) {
                guard let mark = mark(command) else {
                    Issue.record("an unknown command")
                    break
                }
                call.append((connection.slot, mark))
            }
            calls.append(call)
        }
        array = round.storage()
        #expect(array.isEmpty)
        return calls
    }

    @Test("answers and deliveries that alternate become two calls")
    func alternating() {
        let calls = Self.calls([
            (1, .answer(1)), (2, .other(1)), (1, .answer(2)), (2, .other(2)), (1, .answer(3)), (2, .other(3)),
        ])
        #expect(calls.count == 2)
        #expect(calls[0].map(\.1) == [.answer(1), .answer(2), .answer(3)])
        #expect(calls[1].map(\.1) == [.other(1), .other(2), .other(3)])
    }

    @Test("every command is taken once and in order per connection and kind, for any sequence of commands")
    func random() {
        var random = SeededRandom(seed: 11)
        for _ in 0..<300 {
            let commands = (0..<Int(random.next() % 40)).map { number -> (UInt32, Mark) in
                let slot = UInt32(random.next() % 4)
                return (slot, random.next() % 2 == 0 ? .answer(UInt32(number)) : .other(UInt64(number)))
            }
            let taken = Self.calls(commands).flatMap { $0 }
            #expect(taken.count == commands.count)
            for slot in 0..<4 as Range<UInt32> {
                let before = commands.filter { $0.0 == slot }.map(\.1)
                let after = taken.filter { $0.0 == slot }.map(\.1)
                #expect(after == before.filter(Self.isAnswer) + before.filter { !Self.isAnswer($0) })
            }
        }
    }

    @Test("a command that is not taken stays for the next call")
    func notTaken() {
        var array = [
            (Self.connection(1), Self.command(.other(1))), (Self.connection(1), Self.command(.other(2))),
        ]
        var round = CommandRound(&array)
        #expect(round.next() == Self.connection(1))
        #expect(round.take(for: Self.connection(2)).flatMap(Self.mark) == nil)
        #expect(round.take(for: Self.connection(1)).flatMap(Self.mark) == .other(1))
        #expect(round.next() == Self.connection(1))
        #expect(round.take(for: Self.connection(1)).flatMap(Self.mark) == .other(2))
        #expect(round.next() == nil)
    }

    private static func isAnswer(_ mark: Mark) -> Bool { if case .answer = mark { true } else { false } }
}
