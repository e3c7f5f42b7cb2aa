@testable import CairnFoundation
import CairnSimulation
import Foundation
import Testing

@Suite struct CompactCodingTests {
  /// Appendix A of RFC 8949.
  @Test(
    arguments: [
      ("00", .unsigned(0)), ("17", .unsigned(23)), ("1818", .unsigned(24)), ("1903e8", .unsigned(1000)),
      ("1a000f4240", .unsigned(1_000_000)), ("1bffffffffffffffff", .unsigned(.max)), ("20", CompactValue(-1)),
      ("3903e7", CompactValue(-1000)), ("3bffffffffffffffff", .negative(.max)), ("fa47c35000", .float(100_000)),
      ("fb3ff199999999999a", .double(1.1)), ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null),
      ("4401020304", .bytes([1, 2, 3, 4])), ("62c3bc", .text("\u{fc}")),
      (
        "8301820203820405",
        .array([.unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)])])
      ),
      ("a201020304", .map([(.unsigned(1), .unsigned(2)), (.unsigned(3), .unsigned(4))])),
    ] as [(String, CompactValue)]) func writesAndReadsWhatTheStandardSays(_ hex: String, _ value: CompactValue) throws
  {
    let bytes = stride(from: 0, to: hex.count, by: 2).map { start in
      UInt8(hex.dropFirst(start).prefix(2), radix: 16) ?? 0
    }
    #expect(value.encoded == bytes)
    #expect(try CompactValue(bytes) == value)
  }

  private struct Everything: Codable, Equatable {
    enum Kind: String, Codable { case big, small }
    struct Part: Codable, Equatable {
      var name: String
      var parts: [Part]
    }

    var bool = true
    var number = -5
    var small: Int8 = .min
    var large = UInt64.max
    var least = Int64.min
    var float: Float = 1.5
    var double = Double.pi
    var text = "é\0"
    var date = Date(timeIntervalSinceReferenceDate: 0.1)
    var data = Data([1, 2, 3])
    var id = UUID()
    var url = URL(string: "https://example.com/a?b=c")
    var kind = Kind.small
    var nothing: Int?
    var something: String? = "here"
    var list = [1, 2, 3]
    var none: [String] = []
    var table = ["a": [1.5], "b": []]
    var optional: [Int?] = [1, nil]
    var part = Part(name: "whole", parts: [Part(name: "part", parts: [])])
    var set: Set<Int> = [7]
    var decimal = Decimal(string: "3.14")
  }

  @Test func everyKindOfValueComesBack() throws {
    let value = Everything()
    let coding = ValueCoding<Everything>.compact
    #expect(try coding.decode(coding.encode(value)) == value)
    #expect(try ValueCoding<[Int]>.compact.decode(ValueCoding<[Int]>.compact.encode([])) == [])
    #expect(try ValueCoding<String>.compact.decode(ValueCoding<String>.compact.encode("x")) == "x")
    #expect(try ValueCoding<Double?>.compact.decode(ValueCoding<Double?>.compact.encode(nil)) == nil)
  }

  private struct Old: Codable {
    enum CodingKeys: Int, CodingKey { case title = 1, gone = 2 }
    var title: String
    var gone: Int
  }

  private struct New: Codable, Equatable {
    enum CodingKeys: Int, CodingKey { case name = 1, more = 3 }
    var name: String
    var more: String?
  }

  @Test func numberedFieldsMayBeRenamedAddedAndRemoved() throws {
    let bytes = try ValueCoding<Old>.compact.encode(Old(title: "a", gone: 3))
    #expect(bytes == [0xA2, 1, 0x61, 0x61, 2, 3])
    #expect(try ValueCoding<New>.compact.decode(bytes) == New(name: "a", more: nil))
    #expect(throws: DecodingError.self) {
      try ValueCoding<Old>.compact.decode(ValueCoding<New>.compact.encode(New(name: "a", more: "b")))
    }
  }

  @Test func whatDoesNotFitIsRefused() throws {
    let big = try ValueCoding<Int>.compact.encode(300)
    #expect(throws: DecodingError.self) { try ValueCoding<Int8>.compact.decode(big) }
    #expect(throws: DecodingError.self) { try ValueCoding<UInt>.compact.decode(ValueCoding<Int>.compact.encode(-1)) }
    #expect(throws: DecodingError.self) { try ValueCoding<String>.compact.decode(big) }
    #expect(throws: DecodingError.self) { try ValueCoding<[String: Int]>.compact.decode(big) }
    #expect(throws: (any Error).self) { try ValueCoding<Int>.compact.decode(big + [0]) }
  }

  @Test func hostileBytesAreRefused() throws {
    let given = ProcessInfo.processInfo.environment["CAIRN_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: 0...UInt64.max)
    print("CAIRN_SEED=\(seed)")
    var random = SplitMix64(seed: seed)
    let sound = try ValueCoding<Everything>.compact.encode(Everything())
    for _ in 0..<3000 {
      var bytes = sound
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) { bytes.removeLast(.random(in: 0..<bytes.count, using: &random)) }
      _ = try? ValueCoding<Everything>.compact.decode(bytes)
    }
    for bytes in [[0x9B] + [UInt8](repeating: 0xFF, count: 8), [UInt8](repeating: 0x81, count: 100_000), [0x5F]] {
      #expect(throws: (any Error).self) { try ValueCoding<[Int]>.compact.decode(bytes) }
    }
  }
}
