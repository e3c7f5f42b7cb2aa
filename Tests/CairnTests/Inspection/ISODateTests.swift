import CairnInspection
import Testing

@Suite("Dates in ISO 8601")
struct ISODateTests {
  @Test(
    "An ISO date is printed as in the Gregorian calendar.",
    arguments: [
      (0.0, "2001-01-01T00:00:00Z"), (-0.0, "2001-01-01T00:00:00Z"), (-1, "2000-12-31T23:59:59Z"),
      (-1e-12, "2000-12-31T23:59:59.999999999999Z"), (86_400.5, "2001-01-02T00:00:00.5Z"),
      (0.000_000_001, "2001-01-01T00:00:00.000000001Z"), (0.999_999_999_9, "2001-01-01T00:00:00.9999999999Z"),
      (-978_307_200, "1970-01-01T00:00:00Z"),
      (721_692_800.125, "2023-11-14T22:13:20.125Z"), (-63_113_904_000, "0001-01-01T00:00:00Z"),
      (252_423_993_599, "9999-12-31T23:59:59Z"),
    ])
  func areOfTheCalendar(seconds: Double, text: String) {
    #expect(ISODate.text(seconds) == text)
    #expect(ISODate.seconds(text).map(ISODate.text) == text)
  }

  @Test(
    "A date whose year does not have four digits is printed as a number of seconds.",
    arguments: [1e300, -1e300, .infinity, -63_113_904_001, 9_223_372_036_854_774_784 * 86_400])
  func areNumbersBeyond(seconds: Double) {
    #expect(ISODate.text(seconds) == "\(seconds)")
    #expect(ISODate.seconds("\(seconds)") == seconds)
  }

  @Test(
    "ISO dates are read as they are printed, and no other texts are read.",
    arguments: [
      "", "Z", "yesterday", "2023-02-29T00:00:00Z", "2023-13-01T00:00:00Z", "2023-1-01T00:00:00Z", "2023-01-01Z",
      "2023-01-01T24:00:00Z", "2023-01-01T00:60:00Z", "2023-01-01T00:00:60Z", "2023-01-01T00:00:00.Z",
      "2023-01-01T00:00:00.1e5Z", "2023-01-01T00:00:00,5Z", "2023-01-01T+1:00:00Z", "2023-01-01T00:00:00+01:00",
      "2023-01-01T99999999999999999:00:00Z", "-023-01-01T00:00:00Z",
      "0", "0.0", "2023", "1700000000", "1700000000.0", "0x10", "0x1p60", "NaN", "infinity", "1e300", "252423993600",
    ])
  func otherTextsAreNone(text: String) {
    #expect(ISODate.seconds(text) == nil)
  }

  private static let oddSeconds: [Double] = [
    721_692_800.123_456_7, 0.1, 86_399.999_999, -0.5, 625_000_000.000_001, 0.300_000_000_000_000_04, 1e-5, -1.5e-5,
    -1e-12, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude,
  ]
  private static let edges: [Double] = [1, -1, 86_400, -86_400, 252_423_993_599, -63_113_903_999]

  @Test(
    "A printed date reads as exactly the same date.",
    arguments: oddSeconds + edges.map(\.nextDown) + edges.map(\.nextUp))
  func comeBack(seconds: Double) {
    #expect(ISODate.seconds(ISODate.text(seconds)) == seconds)
  }

  @Test("A printed date reads as exactly the same date, whatever its size.")
  func comeBackOfEverySize() {
    var seconds = 2.5e11 / 3
    while seconds > 1e-30 {
      for value in [seconds, -seconds] { #expect(ISODate.seconds(ISODate.text(value)) == value) }
      seconds /= 1.37
    }
  }

  @Test("Dates with zeros at the end of their fractions are read.")
  func zerosAtTheEnd() {
    #expect(ISODate.seconds("2000-12-31T23:59:59.000Z") == -1)
    #expect(ISODate.seconds("2000-12-31T23:59:59.50Z") == -0.5)
    #expect(ISODate.seconds("2001-01-01T00:00:00.0Z") == 0)
    #expect(ISODate.seconds("2001-01-01T00:00:01.250Z") == 1.25)
  }
}
