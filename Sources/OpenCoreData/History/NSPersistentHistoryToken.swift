public import Foundation

/// A place in the histories of one or several stores: everything up to it has been read.
///
/// A token can be archived with `NSKeyedArchiver`, and read back in another process. It expires when transactions are
/// deleted that somebody who has read up to it has not seen, when objects have been saved without a transaction since,
/// or when the store has been put back to an earlier state: fetching after it then fails with
/// ``NSPersistentHistoryTokenExpiredError``.
public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Sendable {
  /// A place in the history of one store.
  package struct Position: Hashable, Sendable {
    /// The number of the transaction; 0 for the beginning.
    package let number: Int64
    /// A random number that tells the transaction from others with the same number.
    package let mark: UInt64

    package init(number: Int64, mark: UInt64) { (self.number, self.mark) = (number, mark) }
  }

  /// The positions, by the identifiers of the stores.
  let positions: [String: Position]

  init(_ positions: [String: Position]) { self.positions = positions }

  /// The position in the history of a store; nil if the token says nothing about it.
  func position(in store: NSPersistentStore) -> Position? { positions[store.identifier ?? ""] }

  // MARK: Equality

  /// Tokens are equal if they name the same places.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPersistentHistoryToken)?.positions == positions
  }

  public override var hash: Int { positions.hashValue }

  /// The stores with the numbers of their transactions.
  public override var description: String {
    "NSPersistentHistoryToken("
      + positions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.number)" }
      .joined(separator: ", ") + ")"
  }

  /// The token itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  // MARK: Archives

  private static let storesKey = "stores"
  private static let numbersKey = "numbers"
  private static let marksKey = "marks"

  /// True.
  public static var supportsSecureCoding: Bool { true }

  /// Reads a token from an archive; nil if it contains anything else.
  public required init?(coder: NSCoder) {
    func array<Element: NSObject & NSCoding>(_ key: String, of type: Element.Type) -> [Element]? {
      coder.decodeObject(of: [NSArray.self, type], forKey: key) as? [Element]
    }
    guard let stores = array(Self.storesKey, of: NSString.self),
      let numbers = array(Self.numbersKey, of: NSNumber.self),
      let marks = array(Self.marksKey, of: NSNumber.self), stores.count == numbers.count, stores.count == marks.count,
      numbers.allSatisfy({ $0.int64Value >= 0 })
    else { return nil }
    var positions: [String: Position] = [:]
    for (store, (number, mark)) in zip(stores, zip(numbers, marks)) {
      positions[store as String] = Position(
        number: number.int64Value, mark: UInt64(bitPattern: mark.int64Value))
    }
    self.positions = positions
  }

  /// Writes the token to an archive.
  public func encode(with coder: NSCoder) {
    let sorted = positions.sorted { $0.key < $1.key }
    coder.encode(sorted.map { $0.key as NSString } as NSArray, forKey: Self.storesKey)
    coder.encode(sorted.map { NSNumber(value: $0.value.number) } as NSArray, forKey: Self.numbersKey)
    coder.encode(sorted.map { NSNumber(value: Int64(bitPattern: $0.value.mark)) } as NSArray, forKey: Self.marksKey)
  }
}
