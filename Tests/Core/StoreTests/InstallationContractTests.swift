import Basics
import Delivery
import Store
import Testing

/// Lists of installations, for every store.
@Suite struct InstallationContractTests {
    private static func id(_ letter: Character) -> [UInt8] {
        Array(String(repeating: letter, count: InstallationToken.idLength).utf8)
    }

    private static func link(_ id: [UInt8], _ device: UInt64, _ number: UInt64) -> Mutation {
        .linkInstallation(
            id, RegistrationName(device: DeviceID(device), number: RegistrationNumber(number)))
    }

    @Test(
        "A list has installations in order of their IDs, with the number of their registrations, page by page",
        arguments: Kind.allCases)
    func pages(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        #expect(try store.installations(after: nil, limit: 9).isEmpty)
        for letter in "zAa-_" { try store.apply(.putInstallation(Samples.installation(Self.id(letter)))) }
        // An installation without a record has rows, and is not listed.
        for (letter, device, number) in [
            ("a", 1, 1), ("a", 1, 2), ("a", .max, .max), ("z", 7, 1), ("b", 7, 2),
        ]
            as [(Character, UInt64, UInt64)]
        {
            try store.apply(Self.link(Self.id(letter), device, number))
        }
        let expected = [("-", 0), ("A", 0), ("_", 0), ("a", 3), ("z", 1)].map { (letter: Character, count) in
            ListedInstallation(record: Samples.installation(Self.id(letter)), registrations: count)
        }
        #expect(try store.installations(after: nil, limit: 9) == expected)
        for limit in 1...6 {
            var found: [ListedInstallation] = []
            var after: [UInt8]?
            var pages = 0
            while pages < 9 {
                let page = try store.installations(after: after, limit: limit)
                #expect(page.count <= limit)
                guard let last = page.last else { break }
                found += page
                after = last.record.id
                pages += 1
            }
            #expect(found == expected, "\(limit)")
            #expect(pages == (5 + limit - 1) / limit)
        }
        #expect(try store.installations(after: nil, limit: 0).isEmpty)
        #expect(try store.installations(after: Self.id("b"), limit: 9) == expected.suffix(1))
        #expect(try store.installations(after: Self.id("z"), limit: 9).isEmpty)
        try store.apply(
            .removeInstallation(Self.id("A")),
            .unlinkInstallation(
                Self.id("a"), RegistrationName(device: DeviceID(1), number: RegistrationNumber(1))))
        let left = try store.installations(after: nil, limit: 9)
        #expect(left.map(\.registrations) == [0, 0, 2, 1])
    }
}
