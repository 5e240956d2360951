/// The planted fault is four branches deep: random inputs need 2³² attempts, but coverage leads to it in some thousands.
func fuzzCanary(_ input: [UInt8]) throws(Violation) {
    guard input.count >= 4, input[0] == UInt8(ascii: "c") else { return }
    guard input[1] == UInt8(ascii: "c") else { return }
    guard input[2] == UInt8(ascii: "s") else { return }
    try demand(input[3] != UInt8(ascii: "d"), "the planted fault")
}
