import Foundation

/// Whether two values are equal as Foundation objects: numbers by value whatever their type, collections element by
/// element.
func areEqual(_ left: Any?, _ right: Any?) -> Bool {
  switch (left, right) {
  case (nil, nil): true
  case (let left?, let right?): NSArray(array: [left]) == NSArray(array: [right])
  default: false
  }
}

/// Whether two predicates have the same form and constants. Foundation's `isEqual` is wrong for compound predicates.
func areEqual(_ left: NSPredicate?, _ right: NSPredicate?) -> Bool {
  switch (left, right) {
  case (nil, nil): true
  case (let left?, let right?): left == right
  default: false
  }
}
