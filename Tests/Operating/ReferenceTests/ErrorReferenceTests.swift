import Basics
import Testing

@testable import Reference

/// The references explain every refusal.
@Suite struct ErrorReferenceTests {
    @Test("there is one example of each refusal, in the order of the words")
    func examples() { #expect(Refusal.examples.map(\.word) == Metric.refusalWords) }

    @Test("both references have a row for each refusal with its meaning")
    func rows() {
        for text in [HTTPReference.text { "<\($0)>" }, XMPPReference.text { "<\($0)>" }] {
            for word in Metric.refusalWords {
                #expect(text.contains("`\(word)`") && text.contains("| <\(word)> |"), "\(word)")
            }
            #expect(!text.contains("<nothing>"), "canary")
        }
    }
}
