import CoreData
import Testing

@Suite("Numbers in a store", .anyStore)
struct NumberTests {
  @Test("Integers are stored exactly, at the ends of their ranges and around 0.")
  func integers() throws {
    let small: [Int16] = [.min, -129, -1, 0, 1, 127, 128, .max]
    #expect(try Things(.integer16).afterwards(small) == small)
    let middle: [Int32] = [.min, -1, 0, 1, .max]
    #expect(try Things(.integer32).afterwards(middle) == middle)
    let large: [Int64] = [.min, .min + 1, -1 << 32, -1, 0, 1, 1 << 53 + 1, .max]
    #expect(try Things(.integer64).afterwards(large) == large)
  }

  @Test("Booleans are stored as Booleans.")
  func booleans() throws {
    #expect(try Things(.boolean).afterwards([true, false]) == [true, false])
  }

  @Test("Doubles are stored with all their bits.")
  func doubles() throws {
    let values: [Double] = [
      0, -0.0, 0.1, -1e300, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, .nan,
    ]
    #expect(try Things(.double).afterwards(values).map(\.?.bitPattern) == values.map(\.bitPattern))
  }

  @Test("Floats are stored with all their bits.")
  func floats() throws {
    let values: [Float] = [0, -0.0, 0.1, -1e30, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity]
    #expect(try Things(.float).afterwards(values).map(\.?.bitPattern) == values.map(\.bitPattern))
  }

  @Test("Decimal numbers are stored with all their digits, and may be NaN.")
  func decimals() throws {
    let texts = ["0", "-12.50", "0.1", "12345678901234567890123456789012345678", "1e-100", "-9e120"]
    let values = texts.map { NSDecimalNumber(string: $0) } + [NSDecimalNumber.notANumber]
    #expect(try Things(.decimal).afterwards(values).map(\.?.decimalValue) == values.map(\.decimalValue))
  }
}
