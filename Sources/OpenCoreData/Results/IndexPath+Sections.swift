public import Foundation

/// What UIKit and AppKit add on Apple's platforms.
extension IndexPath {
  /// The index path of a row in a section.
  public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

  /// The index path of an item in a section.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The first of two numbers: the section.
  public var section: Int {
    get { self[0] }
    set { self[0] = newValue }
  }

  /// The second of two numbers: the row in the section.
  public var row: Int {
    get { self[1] }
    set { self[1] = newValue }
  }

  /// The second of two numbers: the item in the section.
  public var item: Int {
    get { self[1] }
    set { self[1] = newValue }
  }
}

/// A place among results.
struct ResultPosition: Comparable, Hashable {
  var section: Int
  var row: Int

  static func < (left: ResultPosition, right: ResultPosition) -> Bool {
    left.section == right.section ? left.row < right.row : left.section < right.section
  }

  var indexPath: IndexPath { IndexPath(row: row, section: section) }
}

extension ResultPosition {
  init(_ path: IndexPath) {
    require(path.count == 2, "The index path of a result has a section and a row, unlike \(Array(path)).")
    self.init(section: path.section, row: path.row)
  }
}
