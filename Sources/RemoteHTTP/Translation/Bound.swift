#if HTTP
  import Foundation
  import RemoteIncrementalStore

  /// The end of a range, as a parameter has it.
  struct Bound {
    enum Side { case lower, upper }

    let text: String
    /// Whether the text is the value itself, and not one that makes the range a little larger.
    let isExact: Bool
  }

  extension ValueWriter {
    /// The text of a value that ends a range; nil for a value that has no order.
    func bound(_ value: RemoteValue, _ side: Bound.Side) -> Bound? {
      switch value {
      case .date(let date): bound(date, side)
      case .double(let number) where !number.isFinite: nil
      case .integer, .double, .decimal, .string: text(value).map { Bound(text: $0, isExact: true) }
      case .null, .bool, .data, .uuid, .url, .object: nil
      }
    }

    /// A text may be less exact than a date. It is not within the range then.
    private func bound(_ date: Date, _ side: Bound.Side) -> Bound? {
      let seconds = date.timeIntervalSince1970
      guard seconds.isFinite else { return nil }
      let nearest = (seconds * 1000).rounded()
      let candidates =
        switch (dates, side) {
        case (.seconds, .lower): [seconds, seconds.nextDown]
        case (.seconds, .upper): [seconds, seconds.nextUp]
        case (.iso8601, .lower): [nearest / 1000, (nearest - 1) / 1000]
        case (.iso8601, .upper): [nearest / 1000, (nearest + 1) / 1000]
        }
      for candidate in candidates.map(Date.init(timeIntervalSince1970:)) {
        guard let text = text(.date(candidate)), let meant = dates == .iso8601 ? DateText.date(text) : candidate else {
          return nil
        }
        if side == .lower ? meant <= date : meant >= date { return Bound(text: text, isExact: meant == date) }
      }
      return nil
    }
  }
#endif
