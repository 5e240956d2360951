import Basics
import Catalogue
import Testing

/// What is printed or declared in one place must be what stands, or is used, in another.
@Suite struct DriftTests {
    @Test("the sample configuration is what ccsctl prints")
    func sample() { #expect(SourceTree.read("systemd/ccsd.yaml") == ConfigPrinter.sample()) }

    @Test("canary: a sample with another default would be seen")
    func canary() { #expect(ConfigPrinter.sample() != ConfigPrinter.sampleWithAllKeys()) }
}
