import Basics
import Testing
import Wire

@Suite struct XMLHostileTests {
    @Test(arguments: HostileXML.all, [false, true])
    func `a hostile file has the outcome in its name`(file: HostileXML, loggedIn: Bool) throws {
        let bytes = try file.content()
        let record = XMLRecord.reading(bytes, loggedIn: loggedIn)
        #expect(record.failure?.condition.rawValue == file.expected(loggedIn: loggedIn), "\(record)")
        if file.expected(loggedIn: loggedIn) == nil, !file.isStream {
            #expect(record.events.count > 1 || file.name.contains("unfinished"))
        }
    }

    @Test(arguments: HostileXML.all)
    func `a hostile file has the same outcome in pieces`(file: HostileXML) throws {
        let bytes = try file.content()
        let whole = XMLRecord.reading(bytes, loggedIn: true)
        let step = bytes.count < 4_000 ? 1 : 61
        let steps = Array(stride(from: 0, to: bytes.count, by: step))
        #expect(XMLRecord.reading(bytes, cuts: steps, loggedIn: true) == whole)
        var random = SeededRandom(seed: UInt64(bytes.count))
        for _ in 0..<8 {
            let cuts = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                Int.random(in: 0...bytes.count, using: &random)
            }
            #expect(XMLRecord.reading(bytes, cuts: cuts.sorted(), loggedIn: true) == whole)
        }
    }

    @Test func `the corpus has files for every condition`() {
        #expect(HostileXML.all.count >= 200)
        let conditions = Set(HostileXML.all.compactMap { $0.expected(loggedIn: true) })
        #expect(conditions == Set(XMLFailure.allCases.map(\.condition.rawValue)))
    }

    @Test func `a wrong outcome would be detected`() throws {
        let file = try #require(HostileXML.all.first { $0.name.contains("comment_in_stanza") })
        #expect(XMLRecord.reading(try file.content()).failure?.condition.rawValue != "accepted")
        #expect(HostileXML(name: "a~b__x.xml").expected(loggedIn: false) == "a")
        #expect(HostileXML(name: "a~b__x.xml").expected(loggedIn: true) == "b")
        #expect(HostileXML(name: "accepted__x.xml").expected(loggedIn: true) == nil)
    }
}
