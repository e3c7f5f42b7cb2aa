import CairnSimulation
import Foundation
import RowFormat
import Testing

@Suite("Decimal numbers in keys of indexes")
struct OrderedDecimalTests {
  @Test("Keys, compared byte by byte, have the order of the numbers, and equal numbers have equal keys.")
  func order() throws {
    var random = Self.generator()
    for _ in 0..<20_000 {
      let (one, other) = (Self.number(&random), Self.number(&random))
      let (key, otherKey) = (try Self.key(one.description), try Self.key(other.description))
      #expect((one == other) == (key == otherKey), "\(one), \(other)")
      #expect((one < other) == key.lexicographicallyPrecedes(otherKey), "\(one), \(other)")
    }
  }

  @Test("A key gives back its number.")
  func roundTrip() throws {
    var random = Self.generator()
    for _ in 0..<5_000 {
      let number = Self.number(&random)
      guard case .decimal(let read) = try IndexKey.value(in: Self.key(number.description)) else {
        Issue.record("\(number) is read as another value.")
        continue
      }
      #expect(Decimal(string: read.description) == number)
    }
  }

  @Test("One number may be written in several ways.", arguments: ["12.5", "012.50", "1.25e1", "125e-1", "0.00125e4"])
  func forms(_ text: String) throws {
    #expect(try Self.key(text) == [11, 2, 0x80, 2, 13, 51, 0])
    #expect(try Self.key("-" + text) == [11, 0, 0x7F, 0xFD, 0xF2, 0xCC, 0xFF])
  }

  @Test("Zero has one key.", arguments: ["0", "-0", "0.00", "000e7"])
  func zero(_ text: String) throws { #expect(try Self.key(text) == [11, 1]) }

  @Test(
    "A text that is no decimal number is refused.",
    arguments: ["", "-", ".", "e5", "1e", "1e99999", "1,5", "1.2.3", "--1", "NaN", " 1", "1e5e5"])
  func invalid(_ text: String) { #expect(OrderedDecimal(text) == nil) }

  @Test(
    "The bytes of a decimal number that nothing writes are damage.",
    arguments: [
      [11], [11, 3], [11, 2, 0x80, 2], [11, 2, 0x80, 2, 0], [11, 2, 0x80, 2, 1, 2, 0], [11, 2, 0x80, 2, 101, 0],
      [11, 2, 0x80, 2, 13, 1, 0], [11, 2, 0x80, 2, 13], [11, 1, 0],
    ] as [[UInt8]])
  func damage(_ bytes: [UInt8]) { #expect(throws: RowDamage.self) { try IndexKey.value(in: bytes) } }

  /// Prints its seed, with which `ROWFORMAT_SEED` repeats the test.
  private static func generator() -> some RandomNumberGenerator {
    let seed = ProcessInfo.processInfo.environment["ROWFORMAT_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    print("ROWFORMAT_SEED=\(seed)")
    return SplitMix64(seed: seed)
  }

  private static func key(_ text: String) throws -> [UInt8] {
    var output = ByteOutput()
    _ = output.indexed(.decimal(try #require(OrderedDecimal(text))))
    return output.bytes
  }

  /// Numbers of all sizes, some of which are close to each other.
  private static func number(_ random: inout some RandomNumberGenerator) -> Decimal {
    let mantissa = UInt64.random(in: 0..<1 << UInt64.random(in: 0..<63, using: &random), using: &random)
    return Decimal(
      sign: Bool.random(using: &random) ? .plus : .minus, exponent: Int.random(in: -6..<6, using: &random),
      significand: Decimal(mantissa))
  }
}
