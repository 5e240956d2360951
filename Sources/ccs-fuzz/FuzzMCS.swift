import Basics
import Wire

/// Whatever a device sends: cuts change nothing, and what is read is written and read again the same.
func fuzzMCS(_ input: [UInt8]) {
    MCS.exercise(input.raw)
    MCS.exercise(input.raw, pieces: 1)
}
