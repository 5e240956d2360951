import Basics
import BasicsSupport
import Testing

@Suite struct TextTests {
    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(
        "Base64 agrees with the vectors of RFC 4648, with and without padding",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64(plain: String, coded: String) {
        #expect(Base64.text(Self.bytes(plain)) == coded)
        let bare = String(coded.prefix { $0 != "=" })
        #expect(Base64.text(Self.bytes(plain), padded: false) == bare)
        #expect(Base64.bytes(Self.bytes(coded).raw) == Self.bytes(plain))
        #expect(Base64.bytes(Self.bytes(bare).raw) == Self.bytes(plain))
    }

    @Test("Base64 decodes both alphabets, and encodes the requested one")
    func alphabets() {
        #expect(Base64.text([0xFB, 0xFF]) == "+/8=")
        #expect(Base64.text([0xFB, 0xFF], urlSafe: true, padded: false) == "-_8")
        #expect(Base64.bytes(Self.bytes("-_8").raw) == [0xFB, 0xFF])
        #expect(Base64.bytes(Self.bytes("+/8=").raw) == [0xFB, 0xFF])
    }

    @Test(
        "Base64 is refused when it is not canonical",
        arguments: [
            "A", "AAAAA", "Zh", "Zm9=", "Zg=", "Zg===", "=", "====", "Z=g=", "Zg==Zg==", "Zm 8", "Zm\n8",
            "Zm8*", "é",
        ])
    func badBase64(text: String) { #expect(Base64.bytes(Self.bytes(text).raw) == nil) }

    @Test("hexadecimal text is decoded in both cases")
    func hex() {
        #expect(Hex.text([0, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hex.bytes("000fA5Ff") == [0, 0x0F, 0xA5, 0xFF])
        #expect(Hex.bytes("") == [])
        for text in ["0", "0g", "0x", " 0", "é"] { #expect(Hex.bytes(text) == nil, "\(text)") }
        var buffer = ByteBuffer()
        Hex.append(UInt16(0xBEE), to: &buffer)
        Hex.appendUpper(UInt32(0xBEEF), to: &buffer)
        let found = buffer.copied()
        #expect(found == Self.bytes("0bee0000BEEF"))
    }

    @Test("a persistent ID keeps its value as text when it is the smallest or largest")
    func persistentIDs() {
        for number in [0, 1, 1_700_000_000_000_000, UInt64.max] {
            for salt in [0, 0xDEAD_BEEF, UInt32.max] {
                let id = PersistentID(sequence: SequenceNumber(number), salt: salt)
                #expect(id.text.utf8.count <= 39)
                #expect(PersistentID(text: Self.bytes(id.text).raw) == id)
            }
        }
        #expect(PersistentID(sequence: SequenceNumber(5), salt: 1).text == "0:5%00000001f9fd7ecd")
    }

    @Test(
        "a persistent ID is refused when another server made it or it is malformed",
        arguments: [
            "", "0:", "0:%00000001f9fd7ecd", "1:5%00000001f9fd7ecd", "0:5%0000001f9fd7ecd",
            "0:5%00000001f9fd7ece",
            "0:5%0000000gf9fd7ecd", "0:x%00000001f9fd7ecd", "0:18446744073709551616%00000001f9fd7ecd",
            "0:5%00000001f9fd7ecd1", "0:5|00000001f9fd7ecd", "0:99999999999999999999%00000001f9fd7ecd",
        ])
    func badPersistentIDs(text: String) { #expect(PersistentID(text: Self.bytes(text).raw) == nil) }

    @Test("a comparison in constant time returns whether the bytes are equal")
    func constantTime() {
        #expect(ConstantTime.equal([], []))
        #expect(ConstantTime.equal([1, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2]))
        for bit in 0..<24 {
            var other: [UInt8] = [1, 2, 3]
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!ConstantTime.equal([1, 2, 3], other))
        }
    }

    @Test("no text of a server controls a terminal: line ends and tabs stay, JSON keeps its value")
    func terminals() {
        let hostile = "a\u{1B}[2Jb\r\u{9B}31mc\u{7F}\u{202E}\td\n"
        #expect(Printable.lines(hostile) == "a?[2Jb??31mc??\td\n")
        #expect(Printable.lines("ordinary\n\ttext ü\n") == "ordinary\n\ttext ü\n")
        #expect(
            Printable.json("{\"a\":\"\u{9B}31m\u{7F}\u{202E}ü\"}") == "{\"a\":\"\\u009b31m\\u007f\\u202eü\"}")
    }

    @Test("canary: a persistent ID differs when its text differs")
    func canary() {
        #expect(
            PersistentID(text: Self.bytes("0:5%00000001f9fd7ecd").raw)
                != PersistentID(sequence: SequenceNumber(6), salt: 1))
    }
}
