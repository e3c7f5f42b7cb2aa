import Foundation

/// Whether two values are the same to Objective-C: numbers by value whatever their type, collections element by element.
func areEqual(_ left: Any?, _ right: Any?) -> Bool {
  switch (left, right) {
  case (nil, nil): true
  case (let left?, let right?): NSArray(array: [left]) == NSArray(array: [right])
  default: false
  }
}

/// Whether two predicates say the same, which Foundation's own do not know.
func areEqual(_ left: NSPredicate?, _ right: NSPredicate?) -> Bool {
  switch (left, right) {
  case (nil, nil): true
  case (let left?, let right?): left == right
  default: false
  }
}
