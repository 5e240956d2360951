import Basics
import Testing
import Wire

@Suite struct XMLDifferentialTests {
    @Test(arguments: 0..<16 as Range<UInt64>)
    func `libxml2 and the reader agree on a mutated stream`(seed: UInt64) {
        var mutator = XMLMutator(random: SeededRandom(seed: seed))
        for round in 0..<500 {
            let stream = mutator.stream()
            if let difference = XMLDifferential.difference(stream) {
                Issue.record(
                    "seed \(seed), round \(round): \(difference): \(String(decoding: stream, as: UTF8.self).debugDescription)"
                )
            }
        }
    }

    @Test(arguments: 16..<24 as Range<UInt64>)
    func `a mutated stream has the same outcome for any split`(seed: UInt64) {
        var mutator = XMLMutator(random: SeededRandom(seed: seed))
        for _ in 0..<60 {
            let stream = mutator.stream()
            let whole = XMLRecord.reading(stream)
            let cuts = mutator.cuts(of: stream.count)
            let pieces = XMLRecord.reading(stream, cuts: cuts)
            #expect(pieces == whole, "cut at \(cuts): \(String(decoding: stream, as: UTF8.self))")
            let bytewise = XMLRecord.reading(stream, cuts: Array(0..<stream.count))
            #expect(bytewise == whole, "byte by byte: \(String(decoding: stream, as: UTF8.self))")
        }
    }

    @Test(arguments: HostileXML.all)
    func `libxml2 agrees on the hostile files`(file: HostileXML) throws {
        #expect(XMLDifferential.difference(try file.content()) == nil)
    }

    @Test func `the mutated streams reach both sides of every verdict`() {
        var mutator = XMLMutator(random: SeededRandom(seed: 99))
        var failures: Set<XMLFailure> = []
        var accepted = 0
        var messages = 0
        for _ in 0..<2_000 {
            let outcome = XMLDifferential.read(mutator.stream())
            if let failure = outcome.failure { failures.insert(failure) } else { accepted += 1 }
            messages += outcome.children.count
        }
        #expect(accepted > 400 && messages > 1_000)
        #expect(failures.count >= 6)
    }

    @Test func `a planted difference is found`() {
        let stream = Array(
            text: HeaderForm.all[1].opening
                + "<message><gcm xmlns='google:mobile:data'>{}</gcm></message><iq/>")
        #expect(XMLDifferential.difference(stream) == nil)
        #expect(XMLDifferential.difference(stream) { $0.children[0] += " " } != nil)
        #expect(XMLDifferential.difference(stream) { $0.children.removeLast() } != nil)
        #expect(XMLDifferential.difference(stream) { $0.opened?.to = "other" } != nil)
        #expect(XMLDifferential.difference(stream) { $0.failure = .invalidXML } != nil)
        let broken = Array(text: HeaderForm.all[1].opening + "<iq a='1' a='2'/>")
        #expect(XMLDifferential.difference(broken) == nil)
        #expect(
            XMLDifferential.difference(broken) {
                $0.failure = nil
                $0.end = broken.count
            } != nil)
    }
}
