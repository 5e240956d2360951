import Basics
import Delivery
import Testing

@Suite struct IdentifierTableTests {
    private final class Box {
        let number: UInt64
        init(_ number: UInt64) { self.number = number }
    }

    @Test(
        "An identifier table matches a dictionary through any sequence of changes",
        arguments: 0..<20 as Range<UInt64>)
    func agrees(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = IdentifierTable<Box>(hash: SipHash(key: (seed, 1)))
        var model: [UInt64: Box] = [:]
        for _ in 0..<4_000 {
            let number = UInt64.random(in: 0..<300, using: &random)
            if let known = model[number] {
                #expect(table[number] === known)
                guard Int.random(in: 0..<100, using: &random) < 45 else { continue }
                table.remove(number)
                model[number] = nil
            } else {
                #expect(table[number] == nil)
                let box = Box(number)
                table.insert(box, for: number)
                model[number] = box
            }
        }
        #expect(table.count == model.count)
        #expect(table.all.map(\.number).sorted() == model.keys.sorted())
    }

    @Test("An identifier table has the same order when key and history are the same")
    func order() {
        func run(_ key: UInt64) -> [UInt64] {
            var table = IdentifierTable<Box>(hash: SipHash(key: (key, 2)))
            for number in 0..<100 as Range<UInt64> { table.insert(Box(number), for: number) }
            for number in stride(from: 0, to: 100, by: 3) { table.remove(UInt64(number)) }
            return table.all.map(\.number)
        }
        #expect(run(1) == run(1))
        #expect(run(1) != run(2), "canary: another key gives another order")
    }
}
